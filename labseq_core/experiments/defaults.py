"""Which results are shown before any click."""

from __future__ import annotations

from labseq_core.data.catalogue import list_datasets
from labseq_core.experiments.config import ExperimentConfig, FeatureChoice, MethodChoice
from labseq_core.experiments.results import FIRST

METHODS = ("hmm", "perceptron", "crf")
FEATURES = {
    "pitch-accent": FeatureChoice("prosody", window=1),
    "toy-pos": FeatureChoice("POS"),
    "parity": FeatureChoice("prosody", window=1),
}
# Pages that look into one family of methods need a result of it: name -> methods, on the first corpus. Long sequences
# would own nearly all weight in boosting, and short ones teach more: hence the length decay.
FAMILIES = {
    "boosting": tuple(
        MethodChoice("boost", {"bound": bound, "length_decay": 0.5}) for bound in ("loose", "tight", "exact")
    ),
    "margins": (
        MethodChoice("hmsvm", {"kernel": "linear"}),
        MethodChoice("hmsvm", {"rescale": "margin"}),
        MethodChoice("hmsvm", {"kernel": "poly:2"}),
    ),
}


def default_configs() -> dict[str, ExperimentConfig]:
    """By name: a comparison for each bundled corpus, five-fold, so that error bars can be drawn; one for each family."""
    methods = tuple(map(MethodChoice, METHODS))
    bundled = [info.name for info in list_datasets() if info.bundled]
    corpora = {name: ExperimentConfig(name, methods, FEATURES.get(name, FeatureChoice()), folds=5) for name in bundled}
    return corpora | {name: ExperimentConfig(FIRST, chosen) for name, chosen in FAMILIES.items()}
