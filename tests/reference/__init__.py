"""Slow, plain versions of what the core computes: the oracles."""
