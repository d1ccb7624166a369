"""The run store, and runs as files."""
