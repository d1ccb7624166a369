"""The options of one variant: widgets made from what methods, kernels and templates declare."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from labseq_core.experiments.plan.variant import MOST_NOISE
from labseq_core.experiments.plan.variant_text import VariantText
from labseq_core.features import TEMPLATES
from labseq_core.kernels import KERNELS
from labseq_core.kernels.parameters import Parameter
from labseq_core.learners.options import Option, shown_choice
from labseq_core.learners.registry import DECODINGS, METHODS, Method
from pages.ui.choices.choice import Number, OneOf, SeveralOf, Switch, Text
from pages.ui.choices.registry import Train
from pages.ui.train import forms
from pages.ui.train.variants import Typed

_POWERS = range(-4, 5)
_SIDE_BY_SIDE = 2
_COMMON = "as for all variants"
LONGEST_TEXT = 1000


def options_of(variant: Typed, columns: list[str]) -> None:
    """All widgets of one variant. columns: what the corpus has beside its tokens."""
    known = variant.text.method in METHODS
    variant.choice(OneOf, "method", variant.method(), stays=True).choose(
        "Method", [*([] if known else [""]), *METHODS], describe=lambda method: METHODS[method].title if method else ""
    )
    if known:
        _method_options(variant, METHODS[variant.text.method])
    with st.expander("Features and training data"):
        _data_options(variant, columns)
    variant.choice(Text, "text", variant.whole()).choose(
        "As text", longest=LONGEST_TEXT, help="The same as the command line writes it; it can be changed here too."
    )


def _method_options(variant: Typed, method: Method) -> None:
    st.caption(f"{method.summary} ({method.where})")
    shown = [option for option in method.options if option.name not in variant.text.tried]
    _option_widgets(variant, [option for option in shown if not option.advanced])
    if method.probabilistic or "decode" in variant.text.given:
        variant.choice(OneOf, "decode").choose(
            "decoding", list(DECODINGS) if method.probabilistic else [method.decoding], method.decoding,
            help="viterbi: the most probable labelling. posterior: at each token the most probable label.",
        )  # fmt: skip
    _search_widgets(variant, method)
    hidden = [option for option in shown if option.advanced]
    if hidden:
        with st.expander("More options"):
            _option_widgets(variant, hidden)


def _search_widgets(variant: Typed, method: Method) -> None:
    """Options whose values are chosen on development data, and the values to choose from."""
    tuned = [name for name in method.tuning if name not in variant.text.given]
    if Train.tune.text == "true" and not variant.text.tried:
        st.caption(f"Tune is on: {', '.join(tuned) or 'nothing'} is chosen on development data.")
    elif variant.choice(Switch, "tune", variant.tuning()).choose(
        "Tune this variant", help=f"Chooses {', '.join(method.tuning) or 'nothing'} on development data."
    ):
        return
    usual = {option.name: usual_values(option) for option in method.options if usual_values(option)}
    names = variant.choice(SeveralOf, "search", variant.searched(usual)).choose(
        "Choose on development data", list(dict.fromkeys([*usual, *variant.text.tried])), [],
        placeholder="nothing: use the values above",
        help="Every combination of the values to try is trained; the one that scores best on the development set is kept "
        "(within folds: on a tenth of the training set). It takes as many times as long as there are combinations.",
    )  # fmt: skip
    for option in method.options:
        if option.name in names:
            first = usual.get(option.name, " ".join(variant.text.tried[option.name]))
            variant.choice(Text, f"{option.name}.values", variant.values_tried(option.name, first), stays=True).choose(
                f"{option.name}: values to try", first, help=f"Separated by spaces. Each: {option.allowed}."
            )


def usual_values(option: Option) -> str:
    """Some values around the default that are worth trying; empty where nobody would search."""
    if option.kind == "kernel":
        return "linear poly:2 poly:3"
    if option.advanced or not option.log_scale or not option.default:
        return ""
    values = [option.default * factor for factor in (0.1, 1.0, 10.0)]
    return " ".join(f"{value:g}" for value in values if option.low <= value <= option.high)


def _option_widgets(variant: Typed, options: list[Option]) -> None:
    cells = _cells()
    for option in options:
        _option_widget(variant, option, cells)


def _cells() -> Iterator[DeltaGenerator]:
    """Places for widgets, side by side and then in a new row."""
    while True:
        yield from st.columns(_SIDE_BY_SIDE, vertical_alignment="bottom")


def _option_widget(variant: Typed, option: Option, cells: Iterator[DeltaGenerator]) -> Any:
    help_text = f"{option.about} Allowed: {option.allowed}." + (f" See {option.where}." if option.where else "")
    name = option.name
    if option.kind == "kernel":
        return _kernel_widgets(variant, option, help_text, cells)
    with next(cells):
        if option.kind == "bool":
            return variant.choice(Switch, name).choose(name, option.default, help=help_text)
        if option.kind == "choice":
            choices = list(map(shown_choice, option.choices))
            return variant.choice(OneOf, name).choose(name, choices, shown_choice(option.default), help=help_text)
        if option.kind == "float" and option.log_scale:
            usual = f"{option.default:g}"
            return variant.choice(OneOf, name).typed(name, powers_of_ten(option), usual, help=help_text)
        whole = {"step": 1} if option.kind == "int" else {"format": "%g"}
        return variant.choice(Number, name).choose(
            name, option.low, option.high, option.default, help=help_text, **whole,
            placeholder=shown_choice(None) if option.may_be_none else None,
        )  # fmt: skip


def _kernel_widgets(variant: Typed, option: Option, help_text: str, cells: Iterator[DeltaGenerator]) -> None:
    """The kind of kernel, then its parameters; sums and the like can be typed."""
    name = option.name
    usual = _kernel_parts(str(option.default))[0]
    kind_part = variant.part(
        lambda text: _kernel_parts(_kernel_text(text, option))[0], lambda kind: {name: "" if kind == usual else kind}
    )
    with next(cells):
        kind = variant.choice(OneOf, name, kind_part, stays=True).typed(name, list(KERNELS), usual, help=help_text)
    for place, parameter in enumerate(KERNELS[kind].parameters() if kind in KERNELS else ()):
        with next(cells):
            _parameter_widget(variant, option, place, parameter)


def _kernel_text(text: VariantText, option: Option) -> str:
    return text.given.get(option.name, str(option.default))


def _kernel_parts(text: str) -> tuple[str, list[str]]:
    """The kind of a simple kernel and its parameters; of any other, the text as it is and none."""
    kind, *given = text.split(":")
    parameters = KERNELS[kind].parameters() if kind in KERNELS else ()
    if kind not in KERNELS or len(given) > len(parameters) or any(sign in text for sign in "+*()"):
        return text, []
    return kind, [*given, *(each.text(each.default) for each in parameters[len(given) :])]


def _parameter_widget(variant: Typed, option: Option, place: int, parameter: Parameter) -> None:
    def read(text: VariantText) -> str:
        _, given = _kernel_parts(_kernel_text(text, option))
        return "" if place >= len(given) else parameter.read(given[place]) if parameter.kind is str else given[place]

    def put(value: str) -> dict[str, str]:
        kind, given = _kernel_parts(_kernel_text(variant.text, option))
        given[place : place + 1] = [parameter.text(parameter.kind(value) if value else parameter.default)]
        return {option.name: ":".join([kind, *given])}

    name, help_text = f"{option.name}.{parameter.name}", f"{parameter.help} Allowed: {parameter.allowed}."
    part = variant.part(read, put)
    if parameter.kind is str:
        variant.choice(Text, name, part).choose(parameter.name, parameter.default, help=help_text)
        return
    low = parameter.low if parameter.above is None else parameter.above
    variant.choice(Number, name, part).choose(
        parameter.name, low, parameter.high, parameter.default, help=help_text,
        format="%d" if parameter.kind is int else "%g",
    )  # fmt: skip


def powers_of_ten(option: Option) -> list[str]:
    """Powers of ten times the default (or 1, if that is 0) within the limits; any other number can be typed."""
    values = [(option.default or 1.0) * 10.0**power for power in _POWERS]
    inside = [value for value in values if option.low <= value <= option.high]
    return [f"{value:g}" for value in ([0.0] if option.low == 0 else []) + inside]


def _data_options(variant: Typed, columns: list[str]) -> None:
    """Features of its own, and on which and how good data it is trained."""
    template = variant.choice(OneOf, "features", variant.features()).choose("features", [_COMMON, *TEMPLATES])
    if template != _COMMON:
        parts = SimpleNamespace(
            window=variant.choice(OneOf, "window"), bins=variant.choice(OneOf, "bins"),
            columns=variant.choice(SeveralOf, "columns", variant.columns(), stays=TEMPLATES[template].only_columns),
            joint=variant.choice(Switch, "joint"),
        )  # fmt: skip
        forms.template_options(parts, template, columns)
    left, right = st.columns(_SIDE_BY_SIDE, vertical_alignment="bottom")
    with left:
        forms.sequences_widget(variant.choice(Number, "sequences"), "training sequences")
    with right:
        variant.choice(Number, "noise").choose(
            "label noise", 0.0, MOST_NOISE, 0.0, step=0.05, format="%g",
            help="Share of the training labels that are replaced by wrong ones. Test labels stay as they are.",
        )  # fmt: skip
