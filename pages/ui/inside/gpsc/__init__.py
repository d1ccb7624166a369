"""Inside, tab GPSC."""
