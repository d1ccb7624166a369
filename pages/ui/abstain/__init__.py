"""The page Abstain."""
