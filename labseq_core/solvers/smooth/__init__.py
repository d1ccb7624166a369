"""Minimisers of smooth functions, and when they stop."""
