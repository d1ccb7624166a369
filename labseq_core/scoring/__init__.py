"""From parameters to potentials and back."""
