"""Which results are shown before any click."""

from __future__ import annotations

from labseq_core.data.catalogue import list_datasets
from labseq_core.experiments.plan.config import ExperimentConfig
from labseq_core.experiments.plan.variant import TUNE, FeatureChoice, MethodChoice
from labseq_core.experiments.results.run_results import FIRST

FEATURES = {
    "pitch-accent": FeatureChoice("prosody", window=1),
    "toy-pos": FeatureChoice("POS"),
    "parity": FeatureChoice("prosody", window=1),
}
# Every method is tuned with the same number of trainings on development data; kernels are part of what is compared.
_SMOOTH = {"kernel": "rbf:8"}  # of pitch-accent, whose columns are real-valued
_SPARSE = {"fraction": 0.15, "per_step": 10}
_FAR = {"rescale": "margin"}  # of HM-SVMs: a labelling with more wrong labels shall lose by more


def _tuned(method: str, **options) -> MethodChoice:
    return MethodChoice(method, options, TUNE)


_COMPARED = {
    "spanish-ner": (_tuned("crf"), _tuned("hmsvm", **_FAR), _tuned("gps")),
    "toy-pos": (_tuned("crf"), _tuned("hmsvm", **_FAR), _tuned("gps")),
    "pitch-accent": (_tuned("crf"), _tuned("hmsvm", **_SMOOTH, **_FAR), _tuned("gps", **_SMOOTH)),
    # Attributes say nothing one by one: without conjunctions of two no method can learn it.
    "parity": (_tuned("crf"), _tuned("hmsvm", kernel="poly:2", **_FAR), _tuned("gps")),
}
# Pages that look into one family of methods need a result of it: name -> methods, on the first corpus unless another is
# named below. Long sequences would own nearly all weight in boosting, and short ones teach more: hence the length decay.
FAMILIES = {
    "abstention": (
        _tuned("crf"), _tuned("gps", **_SMOOTH), _tuned("sgps", **_SMOOTH), _tuned("hmsvm", **_SMOOTH, **_FAR),
    ),
    "boosting": tuple(
        MethodChoice("boost", {"bound": bound, "length_decay": 0.5}) for bound in ("loose", "tight", "exact")
    ),
    "margins": (
        MethodChoice("hmsvm", {"kernel": "linear"}),
        MethodChoice("hmsvm", _FAR),
        MethodChoice("hmsvm", {"kernel": "poly:2"}),
    ),
    # All with the same attributes and no kernel, so that both lengths of the weights can be compared.
    "margin-distribution": (
        _tuned("crf"), _tuned("boost", bound="exact", length_decay=0.5), _tuned("hmsvm", kernel="linear"),
    ),
    "l1-path": tuple(MethodChoice("crf", {"l1": l1, "l2": 0.1}) for l1 in (0.0, 0.1, 0.3, 1.0, 3.0, 10.0)),
    "sparseness": (
        _tuned("gps", **_SMOOTH),
        _tuned("sgps", **_SMOOTH, **_SPARSE, select="random", refit="last"),
        _tuned("sgps", **_SMOOTH, **_SPARSE, select="sample", refit="growth"),
        _tuned("sgps", **_SMOOTH, **_SPARSE, select="best", refit="all"),
    ),
}  # fmt: skip
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
