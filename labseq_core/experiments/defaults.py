"""Which comparisons are shown before any click."""

from __future__ import annotations

from labseq_core.data.catalogue import list_datasets
from labseq_core.experiments.config import ExperimentConfig, FeatureChoice, MethodChoice

METHODS = ("hmm", "perceptron", "crf")
FEATURES = {
    "pitch-accent": FeatureChoice("prosody", window=1),
    "toy-pos": FeatureChoice("POS"),
    "parity": FeatureChoice("prosody", window=1),
}


def default_configs() -> list[ExperimentConfig]:
    """One comparison for each bundled corpus, five-fold, so that error bars can be drawn."""
    methods = tuple(map(MethodChoice, METHODS))
    bundled = [info.name for info in list_datasets() if info.bundled]
    return [ExperimentConfig(name, methods, FEATURES.get(name, FeatureChoice()), folds=5) for name in bundled]
