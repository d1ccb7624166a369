"""What the Compare page says: comparisons in plain sentences."""

from __future__ import annotations

from collections.abc import Sequence

from labseq_core.evaluation.metric import Metric
from labseq_core.experiments import ExperimentConfig
from labseq_core.experiments.plan.decoding_words import decoding_line

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
SPARSITY = (
    "How much of what it could use does a model use, and how good is it with that? To the left: **sparser** models. What the "
    "share is of differs: weights of **features** that are not 0 (linear models, boosting, L1), **training observations** with "
    "a coefficient (kernel methods), **parameters** (counts, which leave nothing out). The table says it of each variant."
)
NO_SHARE = "No variant of this run says how much of its model it uses and has this metric too; choose another metric."
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


def verdict(pairs: Sequence[dict], names: dict[str, str], metric: Metric) -> str:
    """Who is better than whom by a metric, as Markdown sentences; winners with most victories first."""
    wins: dict[str, list[tuple[str, float]]] = {}
    for row in pairs:
        if row["significant"]:
            better, worse = ("method_a", "method_b") if metric.gain(row["difference"]) > 0 else ("method_b", "method_a")
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


def sparsity_paths(ways: bool, joined: bool, on_development: bool, folds: bool) -> str:
    """Which lines there are beside the marks, and why there are no others."""
    lines = ["The axis of shares is logarithmic. A click on a name hides its mark and its line."]
    if ways:
        lines.append(
            "Lines: how boosting got there round by round, and a sparse Gaussian process observation by observation, decoded "
            "by Viterbi."
        )
    elif not on_development and not folds:
        lines.append(
            "Ways of boosting and of sparse Gaussian processes are known on the development set: choose that metric."
        )
    if joined:
        lines.append("Broken grey lines join variants that differ in `l1` only.")
    return " ".join(lines)


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
    return f"Corpus {config.dataset}, features {config.features.label}: {labels}. {decoding_line(config.methods)}"
