"""Corpora that are generated, with their true distributions."""
