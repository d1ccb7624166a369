"""Corpora: the one ragged container, readers and writers, the catalogue, synthetic corpora with known truth."""
