"""Inside, tab Margins: how far the true labelling of each training sentence is ahead (thesis Theorems 3 and 4, 4.2)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from labseq_core.experiments.service import methods_without_model
from labseq_core.explain import Margins, margin_row, margins_csv
from pages.ui import cached as caching
from pages.ui.choices.registry import Inside
from pages.ui.choices.run import choose_run
from pages.ui.choices.variant_names import short_names
from pages.ui.drawing import charts
from pages.ui.drawing.downloads import csv_button
from pages.ui.inside import cached as caching_inside
from pages.ui.inside.margins import charts as pictures
from pages.ui.inside.margins import words
from pages.ui.memory import FinishedRun

DEFAULT = "margin-distribution"
_SENTENCES = 100  # in the list of narrow ones
_WORDS = 14  # of a sentence in it
_FARTHEST = 1000.0


def tab() -> None:
    """The margins of all methods of a run on one chart, in a table, and the sentences with the narrowest."""
    run = choose_run(first=DEFAULT)
    if run is None:
        return
    st.markdown(words.INTRODUCTION)
    with st.expander("The words used here", icon=":material/menu_book:"):
        st.markdown(words.GLOSSARY)
    names = _names(run)
    margins = _margins(run, names)
    if margins is None:
        return
    scales = [scale for scale in words.SCALES if any(own.norm(scale) is not None for own in margins.values())]
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    titles = [words.SCALES[scale] for scale in scales]
    with left:
        chosen = Inside.scale.buttons("Scale", titles, help=words.SCALE)
    scale = scales[titles.index(chosen)]
    with right:
        step = 0.1 if scale == "scores" else 0.01
        theta = Inside.theta.choose("θ", -_FARTHEST, _FARTHEST, 0.0, step=step, format="%.3f", help=words.THETA)
    shown = {name: own.on(scale) for name, own in margins.items() if own.norm(scale) is not None}
    _chart(shown, scale, theta, list(margins))
    _table(run, margins, scale, theta)
    st.markdown(words.TRY)
    _narrowest(run, shown, scale)


def _names(run: FinishedRun) -> dict[str, str]:
    """Labels by the name that the charts have: a short one, unless two methods would share it."""
    own = [choice for choice in run.config.methods if choice.label not in methods_without_model(run)]
    short = short_names(own)
    if len(set(short.values())) < len(short):
        return {label: label for label in short}
    return {name: label for label, name in short.items()}


def _margins(run: FinishedRun, names: Mapping[str, str]) -> dict[str, Margins] | None:
    """By name; None if they have to be asked for first, since it may take long."""
    known = caching_inside.known_margins(run)
    tokens = caching.training_tokens(run)
    quick = tokens <= caching.QUICK_TOKENS or all(label in known for label in names.values())
    button = {"icon": ":material/straighten:", "type": "primary"}
    if not quick and not Inside.margins.asked(run.run_id, "Find the margins", words.large(tokens), **button):
        return None
    return {
        name: known[label] if label in known else caching_inside.made_margins(run, label)
        for name, label in names.items()
    }


def _chart(shown: Mapping[str, np.ndarray], scale: str, theta: float, every: list[str]) -> None:
    st.header("How wide the margins are")
    st.caption(words.CHART)
    lines = {0.0: "← wrong"}
    if scale == "scores":
        lines[1.0] = "1"
    if theta:
        lines[theta] = f"θ = {theta:g}"
    figure = pictures.distribution(shown, words.AXES[scale], lines, [every.index(name) for name in shown])
    charts.draw(figure, "margins", pictures.distribution_text(shown, words.AXES[scale]))
    left_out = [name for name in every if name not in shown]
    if left_out:
        st.caption(words.without(scale, left_out))


def _table(run: FinishedRun, margins: Mapping[str, Margins], scale: str, theta: float) -> None:
    rows, full = {}, []
    for name, own in margins.items():
        row, values = margin_row(own), own.on(scale)
        below = None if values is None else float(np.mean(values <= theta))
        full.append({"model": name, **row, "scale": scale, "theta": theta, "at_most_theta": below})
        rows[name] = {
            "Margin > 0": f"{row['right']:.1%}",
            "Margin > 1": f"{row['above_one']:.1%}",
            f"≤ θ = {theta:g}": "–" if below is None else f"{below:.1%}",
            "Median on this scale": "–" if values is None else f"{row[f'median_by_{scale}']:.4g}",
            "‖F‖": "–" if row["length"] is None else f"{row['length']:.4g}",
            "Σ|λ|": "–" if row["total"] is None else f"{row['total']:.4g}",
        }
    st.table(pd.DataFrame.from_dict(rows, orient="index").rename_axis("Method"))
    st.caption(words.TABLE)
    first, second, _ = st.columns([1, 1, 2])
    with first:
        csv_button("This table as CSV", full, "margins", run)
    with second:
        help_text = "The margin of every training sentence under every method, on all three scales."
        csv_button(
            "All margins as CSV", partial(margins_csv, margins), "margins-all", run, main=True, help_text=help_text
        )


def _narrowest(run: FinishedRun, shown: Mapping[str, np.ndarray], scale: str) -> None:
    st.header("The narrowest")
    st.caption(words.NARROW)
    fewest = min(run.config.methods, key=lambda choice: choice.sequences or np.inf)
    sentences = caching.training_sentences(run, fewest.label)  # which all variants were trained on
    least = np.min([values[: len(sentences)] for values in shown.values()], axis=0)
    order = np.argsort(least, kind="stable")[:_SENTENCES].tolist()
    table = pd.DataFrame(
        [
            {"sentence": place + 1, "words": _beginning(sentences[place])}
            | {name: float(values[place]) for name, values in shown.items()}
            for place in order
        ]
    )
    numbers = {name: st.column_config.NumberColumn(format="%.4f", help=words.AXES[scale]) for name in shown}
    st.dataframe(table, hide_index=True, height=320, column_config=numbers)
    csv_button("These sentences as CSV", table, "narrowest", run, more={"scale": scale})


def _beginning(sentence: list[str]) -> str:
    return " ".join(sentence[:_WORDS]) + (" …" if len(sentence) > _WORDS else "")
