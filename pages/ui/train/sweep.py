"""A sweep: one option, several values, a variant for each."""

from __future__ import annotations

import math

import streamlit as st

from labseq_core.checks import LabSeqError, require
from labseq_core.experiments import MethodChoice
from labseq_core.experiments.plan.config import MAX_METHODS
from labseq_core.experiments.plan.variant import shown_value
from labseq_core.experiments.plan.variant_text import VariantText
from labseq_core.features import TEMPLATES
from labseq_core.kernels import KERNELS
from labseq_core.learners.options import Option, shown_choice
from labseq_core.learners.registry import DECODINGS, METHODS, method_options
from pages.ui.choices.variant_names import card_name
from pages.ui.frame.errors import shown_errors
from pages.ui.train import variants
from pages.ui.train.variant_options import powers_of_ten

_OPEN = "sweep"
# What every variant chooses beside the options of its method: its name here, and values that are worth trying.
_OF_ALL = {
    "decode": ("decoding", list(DECODINGS)),
    "features": ("features", list(TEMPLATES)),
    "sequences": ("training sequences", ["10", "30", "100", "300", "1000"]),
    "noise": ("label noise", ["0", "0.05", "0.1", "0.2", "0.4"]),
}


def sweep_button() -> None:
    box = st.popover("Sweep", icon=":material/stacks:", key=_OPEN, on_change="rerun", help="One option, several values")
    if box.open:
        with box, shown_errors():
            _form()


def _form() -> None:
    st.caption("Each chosen variant is replaced by one variant per value.")
    known = {place: choice for place, text in enumerate(variants.typed_texts()) if (choice := _checked(text))}
    if not known:
        st.markdown("There is nothing to vary yet: add a variant first.")
        return
    name = st.selectbox("Option", _names(list(known.values())), format_func=_shown_name, key="sweep.option")
    fitting = {place: choice for place, choice in known.items() if _has(choice.method, name)}
    places = st.multiselect(
        "Variants", list(fitting), list(fitting), lambda place: f"{place + 1} {card_name(fitting[place])}",
        key=f"sweep.{name}.variants", help="Those that have this option.",
    )  # fmt: skip
    offered = dict.fromkeys(value for choice in fitting.values() for value in _worth_trying(choice.method, name))
    values = st.multiselect(
        "Values", list(offered), key=f"sweep.{name}.values", accept_new_options=True, help="Others can be typed."
    )
    made = {place: swept(fitting[place], name, values) for place in places if values}
    count = sum(map(len, made.values()))
    texts = [each for place, text in enumerate(variants.typed_texts()) for each in made.get(place, [text])]
    fits = len(texts) <= MAX_METHODS
    st.button(
        f"Make {count} variants" if count else "Make variants", type="primary", disabled=not (count and fits),
        on_click=_use, args=(texts,), width="stretch",
    )  # fmt: skip
    require(
        fits, f"That is {len(texts)} variants, and a run has at most {MAX_METHODS}. Choose fewer values or variants."
    )


def swept(choice: MethodChoice, name: str, values: list[str]) -> list[str]:
    """The texts of variants that differ from this one in the option, one for each value."""
    text = VariantText.read(choice.on_command_line())
    made: dict[str, None] = {}  # in their order, each once
    for value in values:
        changed = text.but(variants.own_features(value) if name == "features" else {name: value})
        made[MethodChoice.parse(str(changed)).on_command_line()] = None
    return list(made)


def _use(texts: list[str]) -> None:
    variants.put(texts)
    st.session_state[_OPEN] = False


def _checked(text: str) -> MethodChoice | None:
    try:
        return MethodChoice.parse(text)
    except LabSeqError:
        return None


def _names(choices: list[MethodChoice]) -> list[str]:
    """What can be varied: options that a form shows at first, then what all variants have, then the rest."""
    options = [option for choice in choices for option in METHODS[choice.method].options]
    first, last = ([option.name for option in options if option.advanced == hidden] for hidden in (False, True))
    return list(dict.fromkeys([*first, *_OF_ALL, *last]))


def _shown_name(name: str) -> str:
    return _OF_ALL[name][0] if name in _OF_ALL else name


def _has(method: str, name: str) -> bool:
    if name == "decode":
        return METHODS[method].probabilistic
    return name in _OF_ALL or name in method_options(method)


def _worth_trying(method: str, name: str) -> list[str]:
    if name in _OF_ALL:
        return _OF_ALL[name][1]
    option = method_options(method)[name]
    if option.kind == "kernel":
        return ["linear", "poly:2", "poly:3", *(str(kernel()) for kernel in KERNELS.values())]
    if option.kind == "bool":
        return ["true", "false"]
    if option.kind == "choice":
        return list(map(shown_choice, option.choices))
    return powers_of_ten(option) if option.log_scale else _around_default(option)


def _around_default(option: Option) -> list[str]:
    """Half of it, and twice as much; of nothing, the first numbers."""
    if option.default is None:
        return []
    number = int if option.kind == "int" else float
    values = [number(option.default * factor) if option.default else number(2 * factor) for factor in (0.5, 1, 2)]
    low, high = (-math.inf if option.low is None else option.low), (math.inf if option.high is None else option.high)
    return [shown_value(value) for value in dict.fromkeys([option.default, *values]) if low <= value <= high]
