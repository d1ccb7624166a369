"""Widgets made from specifications: the options of methods, feature templates and file readers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from labseq_core.data.formats.registry import ReaderOption
from labseq_core.experiments import MethodChoice
from labseq_core.features import TEMPLATES
from labseq_core.kernels import KERNELS
from labseq_core.kernels.parameters import Parameter
from labseq_core.learners import METHODS, method_options
from labseq_core.learners.options import SEED, Option, shown_choice
from pages.ui.choices.choice import Number, OneOf, SeveralOf, Switch, Text
from pages.ui.choices.registry import Train, form_choice

_POWERS = range(-4, 5)
_SIDE_BY_SIDE = 2
_USUAL = "usual"
WINDOWS = (1, 3, 5, 7, 9, 11)
TEST_PART = "none: train and test part"
FOLDS = range(2, 11)
BINS = (0, 5, 10, 25, 50, 100)
MOST_SEQUENCES = 10_000_000


Draft = tuple[str, dict[str, Any], dict[str, str]]  # a method, its options and the values to choose from, as typed


def method_form(usual: list[str]) -> list[Draft]:
    """Which methods, and the options of each, not checked yet: a wrong one must not hide the rest of the form."""
    ids = {entry.title: method for method, entry in METHODS.items()}
    titles = [METHODS[method].title for method in usual]
    chosen = Train.methods.choose("Methods", list(ids), titles)
    return [(ids[title], *_method_options(ids[title])) for title in chosen]


def method_choice(method: str, options: dict[str, Any], tried: dict[str, str]) -> MethodChoice:
    """The checked form of a draft."""
    specs = method_options(method)
    parsed = {name: specs[name].parse(value) if isinstance(value, str) else value for name, value in options.items()}
    return MethodChoice(
        method, parsed, {name: list(map(specs[name].parse, text.split())) for name, text in tried.items()}
    )


def _method_options(method: str) -> tuple[dict[str, Any], dict[str, str]]:
    entry = METHODS[method]
    # The seed is chosen once for the whole run.
    specs = [option for option in method_options(method).values() if option.name != SEED.name]
    with _options(entry.title):
        st.caption(f"{entry.summary} ({entry.where})")
        values = _option_widgets(method, [option for option in specs if not option.advanced])
        hidden = [option for option in specs if option.advanced]
        if hidden:
            with st.expander("More options"):
                values |= _option_widgets(method, hidden)
        tried = _search_widgets(method, specs)
    return {name: value for name, value in values.items() if name not in tried}, tried


def _options(of_what: str) -> DeltaGenerator:
    """Where options are. The browser draws what is inside a popover when it is opened; there are dozens of them."""
    return st.popover(f"{of_what}: options", icon=":material/tune:", width="stretch")


def _search_widgets(method: str, options: list[Option]) -> dict[str, str]:
    """Options whose values are chosen on development data, and the values to choose from, as typed."""
    usual = {option.name: _usual_values(option) for option in options if _usual_values(option)}
    if not usual:
        return {}
    names = form_choice(SeveralOf, f"{method}.search").choose(
        "Choose on development data", list(usual), [],
        placeholder="nothing: use the values above",
        help="Every combination of the values to try is trained; the one that scores best on the development part is kept "
        "(within folds: on a tenth of the training set). It takes as many times as long as there are combinations.",
    )  # fmt: skip
    return {
        name: form_choice(Text, f"{method}.search.{name}").choose(
            f"{name}: values to try", usual[name],
            help="Separated by spaces. " + next(f"Each: {option.allowed}." for option in options if option.name == name),
        )
        for name in names
    }  # fmt: skip


def _usual_values(option: Option) -> str:
    """Some values around the default that are worth trying; empty where nobody would search."""
    if option.kind == "kernel":
        return "linear poly:2 poly:3"
    if option.advanced or not option.log_scale or not option.default:
        return ""
    values = [option.default * factor for factor in (0.1, 1.0, 10.0)]
    return " ".join(f"{value:g}" for value in values if option.low <= value <= option.high)


def _option_widgets(method: str, options: list[Option]) -> dict[str, Any]:
    cells = _cells()
    return {option.name: _option_widget(method, option, cells) for option in options}


def _cells() -> Iterator[DeltaGenerator]:
    """Places for widgets, side by side and then in a new row."""
    while True:
        yield from st.columns(_SIDE_BY_SIDE, vertical_alignment="bottom")


def _option_widget(method: str, option: Option, cells: Iterator[DeltaGenerator]) -> Any:
    help_text = f"{option.about} Allowed: {option.allowed}." + (f" See {option.where}." if option.where else "")
    name = f"{method}.{option.name}"
    if option.kind == "kernel":
        return _kernel_widgets(option, name, help_text, cells)
    with next(cells):
        if option.kind == "bool":
            return form_choice(Switch, name).choose(option.name, option.default, help=help_text)
        if option.kind == "choice":
            choices = list(map(shown_choice, option.choices))
            return form_choice(OneOf, name).choose(option.name, choices, shown_choice(option.default), help=help_text)
        if option.kind == "float" and option.log_scale:
            usual = f"{option.default:g}"
            return form_choice(OneOf, name).typed(option.name, _powers_of_ten(option), usual, help=help_text)
        whole = {"step": 1} if option.kind == "int" else {"format": "%g"}
        return form_choice(Number, name).choose(
            option.name, option.low, option.high, option.default, help=help_text, **whole,
            placeholder=shown_choice(None) if option.may_be_none else None,
        )  # fmt: skip


def _kernel_widgets(option: Option, name: str, help_text: str, cells: Iterator[DeltaGenerator]) -> str:
    """The kind of kernel, then its parameters; sums and the like can be typed. Gives the kernel's text."""
    usual = str(option.default).partition(":")[0]
    with next(cells):
        kind = form_choice(OneOf, name).typed(option.name, list(KERNELS), usual, help=help_text)
    parameters = KERNELS[kind].parameters() if kind in KERNELS else ()
    texts = []
    for each in parameters:
        with next(cells):
            texts.append(each.text(_parameter_widget(each, f"{name}.{each.name}")))
    return ":".join([kind, *texts])


def _parameter_widget(parameter: Parameter, name: str) -> Any:
    help_text = f"{parameter.help} Allowed: {parameter.allowed}."
    if parameter.kind is str:
        return form_choice(Text, name).choose(parameter.name, parameter.default, help=help_text)
    low = parameter.low if parameter.above is None else parameter.above
    return form_choice(Number, name).choose(
        parameter.name, low, parameter.high, parameter.default, help=help_text,
        format="%d" if parameter.kind is int else "%g",
    )  # fmt: skip


def _powers_of_ten(option: Option) -> list[str]:
    """Powers of ten times the default (or 1, if that is 0) within the limits; any other number can be typed."""
    values = [(option.default or 1.0) * 10.0**power for power in _POWERS]
    inside = [value for value in values if option.low <= value <= option.high]
    return [f"{value:g}" for value in ([0.0] if option.low == 0 else []) + inside]


def feature_form(columns: list[str]) -> dict[str, Any]:
    """Arguments of a `FeatureChoice`, not checked yet. `columns`: what the corpus has beside its tokens."""
    template = Train.features.choose("Features", list(TEMPLATES), "S3")
    usual = TEMPLATES[template]
    st.caption(usual.said)
    with _options("Features"):
        window = Train.window.choose(
            "window", [_USUAL, *map(str, WINDOWS)],
            help=f"How many positions a method sees around the current one; usual for {template}: {usual.window}.",
        )  # fmt: skip
        chosen = form_choice(SeveralOf, f"{template}.columns").choose(
            "columns", ["token", *columns] if usual.only_columns else columns, ["token"] if usual.only_columns else [],
            help="Columns of the corpus to use as well; with custom features they are the only ones.",
        )  # fmt: skip
        bins = Train.bins.choose(
            "bins", [_USUAL, *map(str, BINS)],
            help="Real values go into this many equally filled bins; 0 keeps them as they are.",
        )  # fmt: skip
        joint = Train.joint.choose("joint", help="Two-property spelling attributes as joint codes.")
    return {
        "template": template, "window": _number(window), "columns": tuple(chosen) or None, "bins": _number(bins),
        "joint": joint,
    }  # fmt: skip


def split_form() -> dict[str, Any]:
    """Which sequences are for training and which for testing, the seed, and what development data are used for."""
    folds = Train.folds.choose(
        "Folds", [TEST_PART, *map(str, FOLDS)],
        help="None: train on the training part, score the test part. Otherwise the training part is cut into so many "
        "pieces, each of which is scored once; that gives standard errors and takes as many times as long.",
    )  # fmt: skip
    left, right = st.columns(_SIDE_BY_SIDE)
    with left:
        seed = Train.seed.choose("Seed", 0, 2**32 - 1, 0, help="Same seed, same numbers.")
    with right:
        sequences = Train.sequences.choose(
            "Training sequences", 0, MOST_SEQUENCES, 0,
            help="Only so many of the training part, the first ones; 0: all of them.",
        )  # fmt: skip
    calibrate = folds == TEST_PART and Train.calibrate.choose(
        "Calibrate on development data",
        help="Scores are divided by the temperature that suits the development part best before they are called "
        "probabilities. Labels stay as they are; methods without probabilities get some. Folds leave no development part.",
    )  # fmt: skip
    return {
        "folds": 0 if folds == TEST_PART else int(folds), "seed": seed, "sequences": sequences, "calibrate": calibrate,
    }  # fmt: skip


def _number(text: str) -> int | None:
    return None if text == _USUAL else int(text)


def reader_widget(format_name: str, option: ReaderOption) -> Any:
    """One option of a file reader; an empty text means the default."""
    label, key = option.name.replace("_", " "), f"read.{format_name}.{option.name}"
    if option.choices:
        choices = [*([None] if option.default is None else []), *option.choices]
        index = choices.index(option.default)
        return st.selectbox(label, choices, index=index, format_func=_shown, key=key, help=option.help)
    if isinstance(option.default, bool):
        return st.toggle(label, value=option.default, key=key, help=option.help)
    if isinstance(option.default, int):
        return st.number_input(label, value=option.default, step=1, key=key, help=option.help)
    if option.name == "columns":
        text = st.text_input(label, key=key, help=f"{option.help}, separated by commas")
        return [name.strip() for name in text.split(",") if name.strip()] or option.default
    return st.text_input(label, value=option.default or "", key=key, help=option.help) or option.default


def _shown(choice: str | None) -> str:
    names = {None: "as usual", " ": "space", "\t": "tab"}
    return names.get(choice, str(choice))
