"""A configuration as choices in the URL of the Train page: the way back from a run to the form."""

from __future__ import annotations

from dataclasses import replace

from labseq_core.experiments import ExperimentConfig, FeatureChoice
from labseq_core.experiments.plan.variant import TUNE
from pages.ui.choices.choice import Choice
from pages.ui.choices.links import Choices
from pages.ui.choices.registry import Train


def form_choices(config: ExperimentConfig) -> Choices:
    """Variants are written as they are; where all of them are searched for, what is tuned is so by the switch of the form."""
    features = config.features
    usual = FeatureChoice(features.template, columns=features.columns)
    tune = all(choice.search for choice in config.methods) and any(choice.search == TUNE for choice in config.methods)
    variants = [replace(each, search={}) if tune and each.search == TUNE else each for each in config.methods]
    chosen: dict[Choice, str | list[str]] = {
        Train.tune: "true" * tune,
        Train.features: features.template,
        Train.window: str(features.window) if features.window != usual.window else "",
        Train.columns: list(features.columns or ()),
        Train.bins: str(features.bins) if features.bins != usual.bins else "",
        Train.joint: "true" * features.joint,
        Train.folds: str(config.folds or ""),
        Train.seed: str(config.seed or ""),
        Train.sequences: str(config.sequences or ""),
        Train.calibrate: "true" * config.calibrate,
        Train.test_dataset: config.test_dataset,
        Train.metrics: list(config.metrics),
    }
    said = {choice.name: texts for choice, texts in chosen.items() if texts}
    return {"dataset": config.dataset, Train.variants.name: [each.on_command_line() for each in variants], **said}
