"""Compiling ahead: everything, once, before or beside what needs it."""
