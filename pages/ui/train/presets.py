"""Small changes of a comparison that are worth trying."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from labseq_core.experiments import ExperimentConfig, FeatureChoice


@dataclass(frozen=True)
class Preset:
    """One change of a comparison: what a button says, what to look for, and the comparison after it."""

    title: str
    question: str
    change: Callable[[ExperimentConfig], ExperimentConfig]


def _with_option(method: str, **options: object) -> Callable[[ExperimentConfig], ExperimentConfig]:
    """Of all variants of a method."""

    def change(config: ExperimentConfig) -> ExperimentConfig:
        changed = [
            replace(choice, options={**choice.options, **options}) if choice.method == method else choice
            for choice in config.methods
        ]
        return replace(config, methods=tuple(changed))

    return change


_KERNEL = Preset(
    "Take the kernel away",
    "With a **linear kernel** the Gaussian process sees attributes one by one, like the CRF. What did pairs of them, or "
    "distances, buy?",
    _with_option("gps", kernel="linear"),
)
_PENALTY = Preset(
    "Insist on the training data",
    "**C = 100**: the HM-SVM pays dearly for each training sentence that does not win by its margin. Do new sentences gain?",
    _with_option("hmsvm", C=100.0),
)
_NO_CONTEXT = Preset(
    "Take the context away",
    "Only the current word (**S1**), no neighbours: how much of the scores came from the context?",
    lambda config: replace(config, features=FeatureChoice("S1")),
)
_MORE_CONTEXT = Preset(
    "Look around",
    "Each word with its two neighbours (**window 3**): do they help, and whom?",
    lambda config: replace(config, features=replace(config.features, window=3)),
)


def to_try(config: ExperimentConfig) -> list[Preset]:
    """Three things to change: the kernel, the penalty, and how much of the sentence a method sees."""
    context = _MORE_CONTEXT if config.features.window == 1 else _NO_CONTEXT
    return [_KERNEL, _PENALTY, context]
