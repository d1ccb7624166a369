"""From parameters to potentials and back: the models (`model`), and their twins while they are being fitted (`training`)."""
