"""Widgets made from specifications: feature templates, the split into sets, file readers."""

from __future__ import annotations

from typing import Any

import streamlit as st

from labseq_core.data.catalogue import DatasetInfo
from labseq_core.data.formats.registry import ReaderOption
from labseq_core.evaluation.registry import METRICS
from labseq_core.experiments.plan.config import MAX_FOLDS
from labseq_core.features import TEMPLATES
from pages.ui.choices.choice import Number
from pages.ui.choices.registry import Train
from pages.ui.train import other_corpus

_USUAL = "usual"
WINDOWS = ("1", "3", "5", "7", "9", "11")
TEST_PART = "none: training and test set"
FOLDS = range(2, MAX_FOLDS + 1)
BINS = ("0", "5", "10", "25", "50", "100")
MOST_SEQUENCES = 2**53 - 1  # a browser's whole numbers


def feature_form(columns: list[str]) -> dict[str, Any]:
    """Arguments of a `FeatureChoice`, not checked yet. `columns`: what the corpus has beside its tokens."""
    template = Train.features.choose(
        "Features", list(TEMPLATES), "S3", help="Of all variants without features of their own."
    )
    st.caption(TEMPLATES[template].said)
    with st.popover("Features: options", icon=":material/tune:", width="stretch"):
        return {"template": template, **template_options(Train, template, columns)}


def template_options(of: Any, template: str, columns: list[str]) -> dict[str, Any]:
    """of: has the choices window, columns, bins and joint."""
    usual = TEMPLATES[template]
    window = of.window.typed(
        "window", [_USUAL, *WINDOWS], _USUAL,
        help=f"How many positions a method sees around the current one; usual for {template}: {usual.window}.",
    )  # fmt: skip
    chosen = of.columns.choose(
        "columns", ["token", *columns] if usual.only_columns else columns, ["token"] if usual.only_columns else [],
        help="Columns of the corpus to use as well; with custom features they are the only ones.",
    )  # fmt: skip
    bins = of.bins.typed(
        "bins", [_USUAL, *BINS], _USUAL,
        help="Real values go into this many equally filled bins; 0 keeps them as they are.",
    )  # fmt: skip
    joint = of.joint.choose("joint", help="Two-property spelling attributes as joint codes.")
    return {"window": _number(window), "columns": tuple(chosen) or None, "bins": _number(bins), "joint": joint}


def sequences_widget(choice: Number, label: str) -> int:
    return choice.choose(
        label, 0, MOST_SEQUENCES, 0, help="Only so many of the training set, the first ones; 0: all of them."
    )


def split_form(info: DatasetInfo) -> dict[str, Any]:
    """Which sequences are for training and which for testing, the seed, and what development data are used for."""
    folds = Train.folds.choose(
        "Folds", [TEST_PART, *map(str, FOLDS)],
        help="None: train on the training set, score the test set. Otherwise the training set is cut into so many "
        "pieces, each of which is scored once; that gives standard errors and takes as many times as long.",
    )  # fmt: skip
    left, right = st.columns(2)
    with left:
        seed = Train.seed.choose("Seed", 0, 2**32 - 1, 0, help="Same seed, same numbers.")
    with right:
        sequences = sequences_widget(Train.sequences, "Training sequences")
    chosen: dict[str, Any] = {"folds": 0 if folds == TEST_PART else int(folds), "seed": seed, "sequences": sequences}
    if folds == TEST_PART:
        chosen["calibrate"] = Train.calibrate.choose(
            "Calibrate on the development set",
            help="Scores are divided by the temperature that fits the development set best before they are called "
            "probabilities. Labels stay as they are; methods without probabilities get some. Folds leave no development set.",
        )  # fmt: skip
    chosen_before = Train.metrics.texts or Train.test_dataset.texts
    with st.expander("More about testing", expanded=bool(chosen_before)):
        chosen["metrics"] = tuple(Train.metrics.choose(
            "Metrics in the printed table", list(METRICS), [], placeholder="the usual ones",
            help="The columns of the table that the command line prints; pages offer all of them.",
        ))  # fmt: skip
        if folds == TEST_PART:
            chosen["test_dataset"] = other_corpus.choose(info)
        else:
            st.caption("Folds test on the training corpus. Without them another corpus can be chosen for testing.")
    return chosen


def _number(text: str) -> int | str | None:
    """What is no number is told when it is checked."""
    if text == _USUAL:
        return None
    try:
        return int(text)
    except ValueError:
        return text


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
