"""Gaussian processes: the MAP problem, and sparse bases."""
