"""File formats: reading, writing, and the choice between them."""
