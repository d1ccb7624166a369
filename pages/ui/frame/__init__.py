"""What surrounds every page: navigation, style, loading."""
