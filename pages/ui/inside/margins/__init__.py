"""Inside, tab Margins."""
