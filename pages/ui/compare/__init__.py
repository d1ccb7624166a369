"""The page Compare: a file per tab."""
