"""The Abstain page: one threshold for all methods of a run, what it does to each, and which tokens it withholds."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import pandas as pd
import streamlit as st

from labseq_core.evaluation import AbstentionCurve, compare_at, curves_csv, threshold_table
from labseq_core.experiments import MethodChoice
from labseq_core.experiments.plan.decoding_words import decoding_line
from labseq_core.explain import has_probabilities, withheld_csv, withheld_rows
from pages.ui import cached as caching
from pages.ui.abstain import charts as pictures
from pages.ui.abstain import words
from pages.ui.choices.registry import Abstain
from pages.ui.choices.run import choose_run
from pages.ui.choices.variant_names import short_names
from pages.ui.drawing import charts, tokens
from pages.ui.drawing.downloads import csv_button
from pages.ui.memory import FinishedRun

DEFAULT = "abstention"
_THRESHOLD = 0.7
_TABLE = [number / 20 for number in range(20)] + [0.99]
_SENTENCES = 10  # on a page
_WITHHELD, _RELIABILITY = "Withheld tokens", "Reliability"


def page() -> None:
    """Curves, figures at the threshold, withheld tokens, calibration."""
    run = choose_run(has_probabilities, words.OTHERWISE, DEFAULT)
    if run is None:
        return
    st.markdown(words.INTRODUCTION)
    with st.expander("The words used here", icon=":material/menu_book:"):
        st.markdown(words.GLOSSARY)
    labels = _shown_methods(run)
    curves = {name: caching.abstention(run, label) for name, label in labels.items()}
    threshold = Abstain.threshold.choose("Threshold", 0.0, 1.0, _THRESHOLD, st.slider, step=0.01, help=words.THRESHOLD)
    rows = compare_at(curves, threshold)
    part = caching.scored_text(run)
    st.caption(f"{words.setting(part.n_tokens, len(part.tokens), run.config.folds)} {_decoding(run, labels)}")
    _curves(curves, rows)
    _figures(run, curves, rows, threshold)
    if Abstain.below.buttons("Show", [_WITHHELD, _RELIABILITY]) == _WITHHELD:
        _withheld(run, labels, rows)
    else:
        _calibration(run, {name: label for name, label in labels.items() if curves[name].calibrated})


def _shown_methods(run: FinishedRun) -> dict[str, str]:
    """By the name that stands on the page: labels of methods with probabilities and, if wanted, of the others."""
    sure = _sure(run)
    others = [choice for choice in run.config.methods if choice not in sure and choice.label in run.per_label]
    names = short_names(run.config.methods)
    wanted = bool(others) and Abstain.gaps.choose("Add methods without probabilities, by score gap", help=words.GAPS)
    labels = {names[choice.label]: choice.label for choice in sure}
    if wanted:
        labels |= {words.gap_name(names[choice.label]): choice.label for choice in others}
    return labels


def _decoding(run: FinishedRun, labels: Mapping[str, str]) -> str:
    names = {label: name for name, label in labels.items()}
    return decoding_line([choice for choice in run.config.methods if choice.label in names], names)


def _curves(curves: Mapping[str, AbstentionCurve], rows: list[dict]) -> None:
    to_click = threshold_table(curves, _TABLE)
    left, right = st.columns(2, gap="large")
    with left:
        st.header("Precision and recall")
        st.caption(words.PRECISION_RECALL)
        alt = pictures.curve_text("Precision against recall", rows, "recall", "precision")
        charts.draw(pictures.precision_recall(curves, rows, to_click), "abstention", alt, _clicked)
    with right:
        st.header("Risk and coverage")
        st.caption(words.RISK_COVERAGE)
        alt = pictures.curve_text("Risk against coverage", rows, "coverage", "risk")
        charts.draw(pictures.risk_coverage(curves, rows, to_click), "risk-coverage", alt, _clicked)
    st.caption(words.CLICK)


def _clicked(point: float | list) -> None:
    """The threshold goes to a small mark, and what its method withholds is shown; at a large one it is already."""
    if isinstance(point, list):
        method, threshold = point[:2]
        Abstain.model.change(method)
        Abstain.threshold.change(str(threshold))
        Abstain.below.change(_WITHHELD)


def _figures(run: FinishedRun, curves: Mapping[str, AbstentionCurve], rows: list[dict], threshold: float) -> None:
    st.header("At this threshold")
    st.table(_table(rows))
    with st.container(horizontal=True):
        help_text = "Every step of every curve with full precision."
        csv_button("All curves as CSV", partial(curves_csv, curves), "abstention", run, main=True, help_text=help_text)
        csv_button("This table as CSV", rows, "at-threshold", run, more={"at": threshold})
        csv_button("Table of thresholds as CSV", threshold_table(curves, _TABLE), "thresholds", run)


def _table(rows: list[dict]) -> pd.DataFrame:
    """A row per method; with its threshold, if that is another than the slider's for some."""
    own = not all(row["probability"] for row in rows)
    shown = {
        row["method"]: {
            **({"Threshold": _threshold(row)} if own else {}),
            "Answered": f"{row['coverage']:.1%}",
            "Precision": _share(row["precision"]),
            "Recall": _share(row["recall"]),
            "Error falls by": _share(row["error_reduction"]),
            "AURC": f"{row['aurc']:.4f}",
        }
        for row in rows
    }
    return pd.DataFrame.from_dict(shown, orient="index").rename_axis("Method")


def _threshold(row: dict) -> str:
    return f"{row['threshold']:.2f}" if row["probability"] else f"gap {row['threshold']:.3g}"


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.1%}"


def _withheld(run: FinishedRun, labels: Mapping[str, str], figures: list[dict]) -> None:
    st.header("Withheld tokens")
    name = Abstain.model.buttons("Method", list(labels), _first_seen(run, labels))
    row = next(row for row in figures if row["method"] == name)
    st.markdown(words.gain(row))
    part, given = caching.scored_text(run), caching.answers_of(run, labels[name])
    rows = withheld_rows(part.tokens, part.labels, given, row["threshold"])
    if not rows:
        st.info("Nothing is withheld at this threshold: move the slider to the right.", icon=":material/info:")
        return
    st.markdown(words.withheld_line(rows, part.n_tokens))
    csv_button(
        "Withheld tokens as CSV", partial(withheld_csv, rows), "withheld", run, labels[name],
        {"threshold": row["threshold"]},
        help_text="Every withheld token with truth, prediction and confidence; sequences and positions are counted from 1.",
    )  # fmt: skip
    st.caption(words.SENTENCES)
    numbers = sorted({row["sequence"] for row in rows})
    pages = -(-len(numbers) // _SENTENCES)
    place = Abstain.withheld.leaf(pages)
    shown = numbers[(place - 1) * _SENTENCES : place * _SENTENCES]
    all_labels = sorted({label for rows in (part.labels, given.predicted) for row in rows for label in row})
    columns = [[column[number - 1] for number in shown] for column in (part.tokens, part.labels, given.predicted)]
    confidence = [given.confidence[number - 1].tolist() for number in shown]
    st.html(tokens.withheld(shown, *columns, confidence, row["threshold"], given.probability, all_labels))


def _sure(run: FinishedRun) -> list[MethodChoice]:
    """Methods with probabilities: of their own, or by calibration on development data."""
    return [
        choice
        for choice in run.config.methods
        if choice.label in run.per_label and caching.said(run, choice.label).probability
    ]


def _first_seen(run: FinishedRun, labels: Mapping[str, str]) -> str:
    """The method to begin with: the last with probabilities, which has most behind it."""
    sure = [choice.label for choice in _sure(run)]
    return [name for name, label in labels.items() if label in sure][-1]


def _calibration(run: FinishedRun, labels: Mapping[str, str]) -> None:
    st.header("Do the probabilities keep their word?")
    scores = {name: caching.calibration_of(run, label) for name, label in labels.items()}
    chart, figures = st.columns([3, 2], gap="large")
    with chart:
        st.caption(words.CALIBRATION)
        charts.draw(pictures.reliability(scores), "reliability", pictures.reliability_text(scores))
    with figures:
        rows = {
            name: {"Log loss": f"{each.log_loss:.4f}", "Brier score": f"{each.brier:.4f}", "ECE": f"{each.ece:.4f}"}
            for name, each in scores.items()
        }
        st.table(pd.DataFrame.from_dict(rows, orient="index").rename_axis("Method"))
        st.markdown(words.CALIBRATION_GLOSSARY)
        bins = [{"method": name, **vars(row)} for name, each in scores.items() for row in each.reliability]
        csv_button("These points as CSV", bins, "reliability", run)
        means = [
            {"method": name, "log_loss": each.log_loss, "brier": each.brier, "ece": each.ece}
            for name, each in scores.items()
        ]
        csv_button("These scores as CSV", means, "calibration", run)
