"""Experiments of the documents."""
