"""Inside, tab Weights."""
