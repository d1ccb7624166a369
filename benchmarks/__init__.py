"""Measurements that take minutes and compare; `labseq bench NAME` runs them. No part of the installed package."""
