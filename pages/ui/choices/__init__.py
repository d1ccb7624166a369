"""What a visitor has chosen: in the URL, the same on every page."""
