"""How many examples hypothesis tries where the profile's number does not fit."""

from hypothesis import settings

few = settings(max_examples=settings.default.max_examples // 3)  # each trains a model
many = settings(max_examples=4 * settings.default.max_examples)  # each is done at once, and most are simple
