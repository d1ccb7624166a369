"""Seeded corpora with a known truth: emissions, right-branching rules, hidden chains, and one file per corpus."""
