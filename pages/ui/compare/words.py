"""What the Compare page says: measures and their meaning, and comparisons in plain sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from labseq_core.experiments import ExperimentConfig
from pages.ui.drawing.metrics import METRICS


@dataclass(frozen=True)
class Measure:
    """What is measured, what it means, and how a value is written."""

    title: str
    meaning: str
    better: str  # "higher", "lower", or "" where neither is
    form: str = "{:.4f}"

    def shown(self, value: float | None) -> str:
        return "–" if value is None else self.form.format(value)


def _score(name: str) -> Measure:
    return Measure(METRICS[name].title, METRICS[name].meaning, "higher")


MEASURES = {
    "accuracy": _score("accuracy"),
    "span_f1": _score("span_f1"),
    "sequence_accuracy": _score("sequence_accuracy"),
    "log_loss": Measure("Log loss", "mean of -log p(true label) over tokens; only of methods with probabilities", "lower"),
    "brier": Measure("Brier score", "mean squared distance between the probabilities of a token and the truth", "lower"),
    "ece": Measure("Calibration error (ECE)", "how far promised and kept accuracy are apart, on average over tokens", "lower"),
    "aurc": Measure("AURC", "area under risk against coverage: mean error over all shares that could be answered", "lower"),
    "train_seconds": Measure("Training time", "seconds to train a model", "lower", "{:.3f}\u00a0s"),
    "predict_seconds": Measure("Labelling time", "seconds to label the test part", "lower", "{:.4f}\u00a0s"),
    "peak_megabytes": Measure("Peak memory", "of the process that trained, with LabSeq itself", "lower", "{:.0f}\u00a0MB"),
    "model_bytes": Measure("Model size", "bytes of the model", "lower", "{:,.0f}\u00a0bytes"),
    "n_parameters": Measure("Parameters", "numbers that were learned", "", "{:,.0f}"),
    "used_share": Measure("Share used", "share of weights, or of training observations, that are not zero", "", "{:.2%}"),
}  # fmt: skip
BETTER = {"higher": "Higher is better.", "lower": "Lower is better.", "": ""}
ERRORS = "Large marks: mean over folds, with its standard error; small grey dots: the folds."
SINGLE = "One split into train and test part: no standard error."

FRONT = (
    "A method is **on the front** (line, filled marks) if no other is at least as good and at least as fast. The time "
    "axis is logarithmic."
)
SIGNIFICANCE = (
    "Differences over the same sequences, with 95 % intervals (10,000 paired bootstrap draws of sequences) and two-sided p "
    "values (10,000 random swaps of the two methods' answers, sequence by sequence). **p (Holm)** is corrected for the number "
    "of pairs: up to 0.05 a difference counts as significant. Tests see this corpus and this split only, not other corpora."
)
SENTENCES = "The first line is the truth. A framed label with ✗ is wrong."
CURVE = (
    "The same methods on the first training sequences: each point has twice as many as the one before. All are scored on "
    "the same test part, whose whiskers are standard errors over its sequences."
)


def front_line(names: Sequence[str], on_front: Sequence[bool]) -> str:
    """Which methods are on the front, as a sentence."""
    inside = [f"**{name}**" for name, chosen in zip(names, on_front) if chosen]
    outside = [f"**{name}**" for name, chosen in zip(names, on_front) if not chosen]
    line = f"On the front: {listed(inside)}."
    return line + (
        f" Some other method is at least as good and at least as fast as {listed(outside)}." if outside else ""
    )


def verdict(pairs: Sequence[dict], names: dict[str, str]) -> str:
    """Who is better than whom, as Markdown sentences; winners with most victories first."""
    wins: dict[str, list[tuple[str, float]]] = {}
    for row in pairs:
        if row["significant"]:
            better, worse = ("method_a", "method_b") if row["difference"] > 0 else ("method_b", "method_a")
            wins.setdefault(row[better], []).append((row[worse], row["p_holm"]))
    sentences = [
        f"**{names[winner]}** is better than "
        + listed([f"**{names[loser]}** ({p_text(p)})" for loser, p in beaten])
        + "."
        for winner, beaten in sorted(wins.items(), key=lambda item: -len(item[1]))
    ]
    equal = [row for row in pairs if not row["significant"]]
    sentences += [
        f"**{names[row['method_a']]}** and **{names[row['method_b']]}** cannot be told apart ({p_text(row['p_holm'])})."
        for row in equal
    ]
    return "\n".join(f"- {sentence}" for sentence in sentences)


def p_text(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def place(fold: int, number: int, folds: int) -> str:
    """Which sentence it is."""
    return f"Fold {fold}, sentence {number}" if folds else f"Sentence {number} of the test part"


def to_make(runs: int) -> str:
    """What the learning curve of a run takes."""
    return (
        f"It takes {runs} runs, each on twice the training sequences of the one before; together about twice as long as "
        "training on all of them once. You can leave this page meanwhile."
    )


def example(config: ExperimentConfig) -> str:
    """Of what the curve is that comes with LabSeq."""
    labels = listed([choice.label for choice in config.methods])
    return f"Corpus {config.dataset}, features {config.features.label}: {labels}."
