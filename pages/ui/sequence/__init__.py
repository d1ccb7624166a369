"""The page One sequence: a file per view."""
