"""Small changes of a comparison that are worth trying."""

from __future__ import annotations

from dataclasses import dataclass, field

from labseq_core.experiments import ExperimentConfig


@dataclass(frozen=True)
class Preset:
    """One change of a comparison: what a button says, what to look for, and the choices of the Train page."""

    title: str
    question: str
    choices: dict[str, str] = field(default_factory=dict)


_KERNEL = Preset(
    "Take the kernel away",
    "With a **linear kernel** the Gaussian process sees attributes one by one, like the CRF. What did pairs of them, or "
    "distances, buy?",
    {"gps.kernel": "linear"},
)
_PENALTY = Preset(
    "Insist on the training data",
    "**C = 100**: the HM-SVM pays dearly for each training sentence that does not win by its margin. Do new sentences gain?",
    {"hmsvm.C": "100"},
)
_NO_CONTEXT = Preset(
    "Take the context away",
    "Only the current word (**S1**), no neighbours: how much of the scores came from the context?",
    {"features": "S1", "window": "usual"},
)
_MORE_CONTEXT = Preset(
    "Look around", "Each word with its two neighbours (**window 3**): do they help, and whom?", {"window": "3"}
)


def to_try(config: ExperimentConfig) -> list[Preset]:
    """Three things to change: the kernel, the penalty, and how much of the sentence a method sees."""
    context = _MORE_CONTEXT if config.features.window == 1 else _NO_CONTEXT
    return [_KERNEL, _PENALTY, context]
