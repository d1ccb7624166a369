"""How many examples hypothesis tries where the profile's number would take long: each trains a model."""

from hypothesis import settings

few = settings(max_examples=settings.default.max_examples // 3)
