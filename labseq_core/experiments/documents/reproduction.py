"""Experiments of the documents as configurations, with the results printed there: quoted, never ours.

T: the thesis. Corpora that may not be passed on are replaced by free ones, and folds are drawn anew; levels then differ, and
what can be compared is how far apart methods are.
"""

from __future__ import annotations

from dataclasses import dataclass

from labseq_core.experiments.plan.config import ExperimentConfig
from labseq_core.experiments.plan.variant import FeatureChoice, MethodChoice
from labseq_core.experiments.results.run_results import RunResult

_L2 = {"l2": [0.03, 0.1, 0.3, 1.0]}
_STEPS = {"length_decay": 0.95, "rounds": 12000, "patience": 600}


@dataclass(frozen=True)
class Experiment:
    """A configuration and, for each of its methods, what the document prints."""

    title: str
    remark: str
    dataset: str
    features: FeatureChoice
    methods: tuple[tuple[MethodChoice, float | None], ...]  # with the quoted result
    metric: str
    unit: str
    folds: int = 0
    sequences: int = 0

    def config(self) -> ExperimentConfig:
        chosen = tuple(choice for choice, _ in self.methods)
        return ExperimentConfig(self.dataset, chosen, self.features, self.folds, sequences=self.sequences)

    def beside(self, run: RunResult) -> list[dict]:
        """Ours, mean and standard error in per cent, and the quoted result of each method."""
        summary = {row["label"]: row for row in run.summary()}
        rows = []
        for choice, quoted in self.methods:
            if choice.label in summary:
                mean, error = (summary[choice.label][f"{self.metric}_{part}"] for part in ("mean", "se"))
                shown = 100.0 * (1.0 - mean) if self.unit.startswith("error") else 100.0 * mean
                spread = None if error is None else 100.0 * error
                rows.append({"method": choice.label, "ours": shown, "error": spread, "quoted": quoted})
        return rows


def _spanish(features: str, log: float, exp: float, boost: float, *more: tuple[MethodChoice, float]) -> Experiment:
    return Experiment(
        f"Spanish names, {features}: T Table 3.1 and 2.2, span F1 on testa", "Options are chosen on testb, as there.",
        "conll2002-es", FeatureChoice(features), (
            (MethodChoice("crf", {}, _L2), log), (MethodChoice("exp", {"length_decay": 0.9}, _L2), exp),
            (MethodChoice("boost", _STEPS), boost), *more,
        ), "span_f1", "F1 %",
    )  # fmt: skip


EXPERIMENTS = {
    "spanish-s1": _spanish("S1", 59.92, 59.68, 48.23),
    "spanish-s2": _spanish("S2", 70.26, 69.11, 69.00),
    "spanish-s3": _spanish(
        "S3", 74.83, 74.22, 73.88, (MethodChoice("crf-marginal", {}, _L2), 74.17), (MethodChoice("perceptron"), 73.41)
    ),
    "spanish-kernels": Experiment(
        "Spanish names, 3 000 sentences in 5 folds: T Table 4.1, span F1", "The first 3 000 sentences; C = 1 as there.",
        "conll2002-es", FeatureChoice("S3"), (
            (MethodChoice("hmm", {"emissions": "attributes"}), 69.11), (MethodChoice("crf", {"l2": 0.1}), 72.62),
            (MethodChoice("dual-perceptron", {"kernel": "poly:2"}), 72.15), (MethodChoice("hmsvm"), None),
            (MethodChoice("hmsvm", {"kernel": "poly:2"}), 72.77),
        ), "span_f1", "F1 %", folds=5, sequences=3000,
    ),
    "spanish-gp": Experiment(
        "Spanish names, 1 000 sentences in 5 folds: T Table 5.1, token error", "The first 1 000 sentences; 21K words there.",
        "conll2002-es", FeatureChoice("S3"), (
            (MethodChoice("gps", {"kernel": "linear", "l2": 0.1}), 4.58), (MethodChoice("gps", {"kernel": "poly:2"}), 4.39),
            (MethodChoice("sgps", {"kernel": "poly:2", "fraction": 0.25}), 4.48),
            (MethodChoice("crf", {"l2": 0.0}), 4.92), (MethodChoice("crf", {"l2": 0.1}), 4.56),
        ), "accuracy", "error %", folds=5, sequences=1000,
    ),
    "pitch-accent": Experiment(
        "Pitch accents in 10 folds: T Table 2.1, accuracy", "Switchboard there; here the free prosody corpus, 1 824 sentences.",
        "prosody", FeatureChoice("prosody", window=5), (
            (MethodChoice("hmm", {"emissions": "attributes"}), 68.62), (MethodChoice("crf", {"l2": 10.0}), 76.62),
            (MethodChoice("crf-marginal", {"l2": 10.0}), 76.40), (MethodChoice("perceptron"), 76.55),
        ), "accuracy", "accuracy %", folds=10, sequences=1824,
    ),
}  # fmt: skip
