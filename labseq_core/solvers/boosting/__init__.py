"""Boosting on label chains, one feature a round."""
