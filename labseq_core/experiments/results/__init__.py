"""What runs found, as data."""
