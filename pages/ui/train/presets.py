"""A configuration as choices of the Train page, and small changes of it that are worth trying."""

from __future__ import annotations

from dataclasses import dataclass, field

from labseq_core.experiments import ExperimentConfig, FeatureChoice
from labseq_core.learners.options import shown_choice
from labseq_core.learners.registry import METHODS, method_options
from pages.ui.train.form_link import kernel_choices


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


def form_choices(config: ExperimentConfig) -> dict[str, str | list[str]]:
    """The values of the Train page's form, as they stand in its URL, that make this configuration."""
    chosen: dict[str, str | list[str]] = {
        "dataset": config.dataset,
        "methods": [METHODS[choice.method].title for choice in config.methods],
        "features": config.features.template,
    }
    usual = FeatureChoice(config.features.template)
    if config.features.window != usual.window:
        chosen["window"] = str(config.features.window)
    if config.folds:
        chosen["folds"] = str(config.folds)
    for choice in config.methods:
        for name, value in choice.options.items():
            chosen |= _option_choices(f"{choice.method}.{name}", method_options(choice.method)[name].kind, value)
    return chosen


def _option_choices(key: str, kind: str, value) -> dict[str, str]:
    if kind == "kernel":
        return kernel_choices(key, str(value))
    return {key: f"{value:g}" if isinstance(value, float) else shown_choice(value)}
