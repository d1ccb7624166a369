"""A configuration as choices in the URL of the Train page: the way back from a run to the form."""

from __future__ import annotations

from labseq_core.experiments import ExperimentConfig, FeatureChoice, MethodChoice
from labseq_core.experiments.plan.variant import shown_value
from labseq_core.kernels import BasicKernel, parse_kernel
from labseq_core.learners import METHODS, method_options
from labseq_core.learners.options import SEED
from pages.ui.train.forms import BINS, FOLDS, MOST_SEQUENCES, WINDOWS

Choices = dict[str, str | list[str]]


def form_choices(config: ExperimentConfig) -> tuple[Choices, list[str]]:
    """The choices, and what the form cannot hold: there a method stands once, and lists have an end."""
    choices: Choices = {"dataset": config.dataset, "methods": []}
    left_out = []
    taken: set[str] = set()
    for choice in config.methods:
        if choice.method in taken:
            left_out.append(choice.label)
            continue
        taken.add(choice.method)
        choices["methods"].append(METHODS[choice.method].title)
        choices |= _method_choices(choice)
        left_out += [f"{choice.label}: {SEED.name}"] if SEED.name in {*choice.options, *choice.tried} else []
    more, missing = _other_choices(config)
    return choices | more, left_out + missing


def _method_choices(choice: MethodChoice) -> Choices:
    method, specs = choice.method, method_options(choice.method)
    choices: Choices = {}
    for name, value in choice.options.items():
        if specs[name].kind == "kernel":
            choices |= kernel_choices(f"{method}.{name}", value)
        else:
            choices[f"{method}.{name}"] = shown_value(value)
    if choice.tried:
        choices[f"{method}.search"] = list(choice.tried)
        for name, values in choice.tried.items():
            choices[f"{method}.search.{name}"] = " ".join(map(shown_value, values))
    return choices


def kernel_choices(key: str, text: str) -> Choices:
    """A simple kernel by its kind and parameters; any other as it is typed."""
    kernel = parse_kernel(text)
    if not isinstance(kernel, BasicKernel):
        return {key: text}
    values = {f"{key}.{each.name}": shown_value(getattr(kernel, each.name)) for each in kernel.parameters()}
    return {key: kernel.name, **values}


def _other_choices(config: ExperimentConfig) -> tuple[Choices, list[str]]:
    """Features and split. What has a list in the form must be in it."""
    features, left_out = config.features, []
    usual_features = FeatureChoice(features.template, columns=features.columns)
    choices: Choices = {"features": features.template}
    listed = {
        "window": (features.window, usual_features.window, WINDOWS),
        "bins": (features.bins, usual_features.bins, BINS),
        "folds": (config.folds, 0, FOLDS),
    }
    for name, (value, usual, offered) in listed.items():
        if value == usual:
            continue
        if value in offered:
            choices[name] = str(value)
        else:
            left_out.append(f"{name} {value}")
    if config.sequences > MOST_SEQUENCES:
        left_out.append(f"{config.sequences} training sequences")
    elif config.sequences:
        choices["sequences"] = str(config.sequences)
    numbers = {"seed": config.seed}
    switches = {"joint": features.joint, "calibrate": config.calibrate}
    choices |= {name: str(value) for name, value in numbers.items() if value}
    choices |= {name: "true" for name, value in switches.items() if value}
    if features.columns:
        choices[f"{features.template}.columns"] = list(features.columns)
    return choices, left_out
