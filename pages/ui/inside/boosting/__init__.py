"""Inside, tab Boosting."""
