"""Which results are shown before any click."""

from __future__ import annotations

from labseq_core.data.catalogue import list_datasets
from labseq_core.experiments.plan.config import ExperimentConfig
from labseq_core.experiments.plan.variant import FeatureChoice, MethodChoice
from labseq_core.experiments.results.run_results import FIRST

FEATURES = {
    "pitch-accent": FeatureChoice("prosody", window=1),
    "toy-pos": FeatureChoice("POS"),
    "parity": FeatureChoice("prosody", window=1),
}
# Best on the development part of pitch-accent: labseq compare --dataset pitch-accent --features prosody --window 1 --methods
# 'gps:kernel=rbf:5|rbf:8|rbf:12:l2=0.03|0.1|0.3,hmsvm:kernel=rbf:8:rescale=margin:C=0.3|1|3|10'
_SMOOTH = {"kernel": "rbf:8", "l2": 0.03}
_SPARSE = {**_SMOOTH, "fraction": 0.15, "per_step": 10}
# The same way, with 'gps:kernel=poly:2:l2=0.03|0.1|0.3|1|3': the best l2 of degree 2 (0.03 to 1 tie on spanish-ner). Where
# attributes say nothing one by one, HM-SVMs get degree 2 as well.
_COMPARED = {
    "spanish-ner": (MethodChoice("crf"), MethodChoice("hmsvm", {"rescale": "margin"}), MethodChoice("gps", {"l2": 0.3})),
    "toy-pos": (MethodChoice("crf"), MethodChoice("hmsvm", {"rescale": "margin"}), MethodChoice("gps", {"l2": 0.03})),
    "pitch-accent": (
        MethodChoice("crf"), MethodChoice("hmsvm", {"kernel": _SMOOTH["kernel"], "rescale": "margin", "C": 3.0}),
        MethodChoice("gps", _SMOOTH),
    ),
    "parity": (
        MethodChoice("crf"), MethodChoice("hmsvm", {"kernel": "poly:2", "rescale": "margin"}), MethodChoice("gps", {"l2": 3.0}),
    ),
}  # fmt: skip
# Pages that look into one family of methods need a result of it: name -> methods, on the first corpus unless another is
# named below. Long sequences would own nearly all weight in boosting, and short ones teach more: hence the length decay.
FAMILIES = {
    "abstention": (
        MethodChoice("crf"),
        MethodChoice("gps", _SMOOTH),
        MethodChoice("sgps", _SMOOTH),
        MethodChoice("hmsvm", {"kernel": _SMOOTH["kernel"], "rescale": "margin", "C": 3.0}),
    ),
    "boosting": tuple(
        MethodChoice("boost", {"bound": bound, "length_decay": 0.5}) for bound in ("loose", "tight", "exact")
    ),
    "margins": (
        MethodChoice("hmsvm", {"kernel": "linear"}),
        MethodChoice("hmsvm", {"rescale": "margin"}),
        MethodChoice("hmsvm", {"kernel": "poly:2"}),
    ),
    # All with the same attributes and no kernel, so that both lengths of the weights can be compared.
    "margin-distribution": (
        MethodChoice("crf"),
        MethodChoice("boost", {"bound": "exact", "length_decay": 0.5}),
        MethodChoice("hmsvm", {"kernel": "linear"}),
    ),
    "l1-path": tuple(MethodChoice("crf", {"l1": l1, "l2": 0.1}) for l1 in (0.0, 0.1, 0.3, 1.0, 3.0, 10.0)),
    "sparseness": (
        MethodChoice("gps", _SMOOTH),
        MethodChoice("sgps", {**_SPARSE, "select": "random", "refit": "last"}),
        MethodChoice("sgps", {**_SPARSE, "select": "sample", "refit": "growth"}),
        MethodChoice("sgps", {**_SPARSE, "select": "best", "refit": "all"}),
    ),
}
# Prosody is uncertain by nature, so there is something to withhold; the thesis has its figures 5.2 and 5.3 on it.
_ON = {"abstention": "pitch-accent", "sparseness": "pitch-accent"}


def default_configs() -> dict[str, ExperimentConfig]:
    """By name: a comparison for each bundled corpus, five-fold, so that error bars can be drawn; one for each family."""
    bundled = [info.name for info in list_datasets() if info.bundled]
    corpora = {name: ExperimentConfig(name, _COMPARED[name], _features(name), folds=5) for name in bundled}
    families = {name: (_ON.get(name, FIRST), chosen) for name, chosen in FAMILIES.items()}
    return corpora | {
        name: ExperimentConfig(corpus, chosen, _features(corpus)) for name, (corpus, chosen) in families.items()
    }


def _features(corpus: str) -> FeatureChoice:
    return FEATURES.get(corpus, FeatureChoice())
