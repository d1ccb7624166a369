"""The list of variants: a card for each, which says what is not usual and opens its options."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from labseq_core.checks import LabSeqError, require
from labseq_core.experiments import MethodChoice
from labseq_core.experiments.plan.config import MAX_METHODS
from labseq_core.experiments.plan.variant import TUNE
from labseq_core.experiments.plan.variant_text import VariantText
from labseq_core.learners.options import TUNING_FITS
from labseq_core.learners.registry import METHODS
from pages.ui.choices.registry import Train
from pages.ui.choices.variant_names import card_name
from pages.ui.drawing.plain_text import in_markdown, shortened
from pages.ui.frame.errors import shown_errors
from pages.ui.train import sweep, variants
from pages.ui.train.variant_options import options_of

_LONGEST_NAME = 200  # letters on a card
_ADD = "variants.add"
_TUNE_HELP = (
    f"Chooses the penalty, the smoothing, the rounds or the epochs of each variant on development data, by {TUNING_FITS} "
    "trainings for each: no method is tuned more than another. Options that a variant sets are not tuned, nor is a variant "
    "with values to try of its own. Development data are the development set or, within folds, a tenth of the training set."
)


def variant_form(columns: list[str]) -> tuple[MethodChoice, ...] | None:
    """The variants; None, with a message, where one is wrong or there are none. columns: of the corpus, beside its tokens."""
    st.markdown("**Variants**", help="A variant is a method with its options. A run compares variants.")
    cards = st.container(key="variants", gap="xsmall")
    tune = _below()
    texts = variants.typed_texts()
    chosen: dict[int, MethodChoice] = {}  # by place
    with cards:
        for place in range(len(texts)):
            with shown_errors():
                choice = _card(variants.Typed(place), len(texts), columns, tune)
                same = [f"variant {other + 1}" for other, known in chosen.items() if known.label == choice.label]
                told = f"Variant {place + 1} is the same as {''.join(same)}. Change an option of one of them, or remove one."
                require(not same, told)
                chosen[place] = choice
        if not texts:
            st.info("No variants yet. Choose a method below to add one.", icon=":material/add:")
    return tuple(chosen.values()) if texts and len(chosen) == len(texts) else None


def _card(variant: variants.Typed, n_variants: int, columns: list[str], tune: bool) -> MethodChoice:
    place, text = variant.place, variant.text
    problem = None
    try:
        choice = MethodChoice.parse(str(text))
        choice = replace(choice, search=TUNE) if tune and not choice.search else choice
        name = card_name(choice)
    except LabSeqError as found:
        problem, name = found, _name_of_wrong(text)
    with st.container(horizontal=True, wrap=False, gap="xxsmall", vertical_alignment="center"):
        st.markdown(f"{place + 1}\u2002{in_markdown(shortened(name, _LONGEST_NAME))}", width="stretch")
        # Its label must stay as it is: to Streamlit a popover with another label is another one, which is closed.
        card = st.popover(
            f"Options of variant {place + 1}", key=_key(place), on_change="rerun", icon=":material/tune:",
            type="tertiary", help="Options",
        )  # fmt: skip
        st.button(
            f"Remove variant {place + 1}", key=f"variant.{place}.remove", icon=":material/close:", type="tertiary",
            help="Remove", on_click=variants.remove, args=(place,),
        )  # fmt: skip
    if card.open:
        with card:
            _actions(place, n_variants)
            options_of(variant, columns)
        if str(variant.text) != str(text):
            st.rerun()  # it had a value that its widget cannot have
    if problem:
        raise LabSeqError(f"Variant {place + 1}: {problem}")
    return choice


def _name_of_wrong(text: VariantText) -> str:
    title = METHODS[text.method].title if text.method in METHODS else text.method
    return " · ".join([title, *(f"{name} {value}" for name, value in text.given.items())])


def _actions(place: int, n_variants: int) -> None:
    """What can be done with a variant as a whole, beside removing it."""
    with st.container(horizontal=True, gap="xsmall"):
        for name, icon, to, is_possible in (
            ("Move up", "arrow_upward", place - 1, place > 0),
            ("Move down", "arrow_downward", place + 1, place < n_variants - 1),
            ("Duplicate", "content_copy", None, n_variants < MAX_METHODS),
        ):
            st.button(
                name, key=f"variant.{place}.{name}", icon=f":material/{icon}:", disabled=not is_possible, on_click=_do,
                args=(place, to),
            )  # fmt: skip


def _do(place: int, to: int | None) -> None:
    """Move it, or copy it to the next place. What was moved or copied is open then: more can be done with it."""
    if to is None:
        variants.duplicate(place)
        to = place + 1
    else:
        variants.move(place, to)
    st.session_state[_key(place)], st.session_state[_key(to)] = False, True


def _key(place: int) -> str:
    return f"variant.{place}"


def _below() -> bool:
    """What adds variants, and the switch that tunes all of them."""
    full = len(variants.typed_texts()) >= MAX_METHODS
    with st.container(horizontal=True, vertical_alignment="bottom", gap="xsmall"):
        st.selectbox(
            "Add a variant", list(METHODS), index=None, key=_ADD, on_change=_add, disabled=full,
            format_func=lambda method: METHODS[method].title, width="stretch",
            placeholder=f"There are {MAX_METHODS}, which is the most" if full else "Choose a method",
        )  # fmt: skip
        sweep.sweep_button()
    return Train.tune.choose("Tune", help=_TUNE_HELP)


def _add() -> None:
    method = st.session_state[_ADD]
    if method:
        variants.add(method)
        st.session_state[_ADD] = None
