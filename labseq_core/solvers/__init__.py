"""Optimisers: they see functions of flat vectors, or compiled scores; never a data set."""
