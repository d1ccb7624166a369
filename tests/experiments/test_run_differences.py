"""Two runs side by side."""

from __future__ import annotations

from labseq_core.experiments import ExperimentConfig, FeatureChoice, MethodChoice, default_results
from labseq_core.experiments.results.run_differences import config_entries, score_contrast, side_by_side
from labseq_core.learners.registry import METHODS, method_options


def differences(first: ExperimentConfig, second: ExperimentConfig) -> dict[str, tuple[str, str]]:
    rows = side_by_side(config_entries(first), config_entries(second))
    return {row["entry"]: (row["first"], row["second"]) for row in rows if row["differs"]}


def test_every_choice_is_an_entry():
    entries = config_entries(ExperimentConfig("toy-pos", tuple(MethodChoice(method) for method in METHODS)))
    for method, entry in METHODS.items():
        assert entries[entry.title] == "as usual"
        assert {f"{entry.title}: {name}" for name in method_options(method)} <= set(entries)


def test_the_same_configuration_does_not_differ_from_itself():
    for found in default_results().values():
        assert differences(found.config, found.config) == {}


def test_what_differs_is_told_once():
    first = ExperimentConfig("toy-pos", (MethodChoice("crf"), MethodChoice("hmm")), FeatureChoice("S3", window=3))
    second = ExperimentConfig(
        "parity", (MethodChoice("crf", {"l2": 0.1}), MethodChoice("crf", {}, {"l2": [0.1, 1.0]})),
        FeatureChoice("prosody", window=3, bins=5), folds=3, sequences=50, seed=2,
    )  # fmt: skip
    assert differences(first, second) == {
        "corpus": ("toy-pos", "parity"),
        "training sequences": ("all", "50"),
        "split": ("training and test set", "3 folds"),
        "tested on": ("toy-pos", "parity"),
        "seed": ("0", "2"),
        "features": ("S3", "prosody"),
        "features: bins": ("0", "5"),
        "CRF": ("as usual", "l2=0.1"),
        "CRF: l2": ("1", "0.1"),
        "CRF (2)": ("–", "l2 of 0.1, 1"),
        "HMM": ("as usual", "–"),
    }  # fmt: skip


def test_scores_stand_side_by_side():
    first, second = default_results()["toy-pos"], default_results()["parity"]
    rows = score_contrast(first, second, ("accuracy", "span_f1"))
    means = [{row["label"]: row["accuracy_mean"] for row in found.summary()} for found in (first, second)]
    for row in rows:
        assert row["score"] == "accuracy", "neither has spans"
        assert row["first"] == means[0].get(row["method"])
        assert row["second"] == means[1].get(row["method"])
        both = row["first"] is not None and row["second"] is not None
        assert row["change"] == (row["second"] - row["first"] if both else None)


def test_a_kernel_in_parentheses_keeps_them():
    config = ExperimentConfig("toy-pos", (MethodChoice("gps", {"kernel": "normalized(poly:2)"}),))
    assert config_entries(config)["GP sequence classification"] == "kernel=normalized(poly:2)"
