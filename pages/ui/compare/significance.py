"""Compare, tab Significance: which differences between methods are more than luck."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from labseq_core.evaluation.metric import Metric
from pages.ui.choices.registry import Compare
from pages.ui.choices.variant_names import short_names
from pages.ui.compare import cached as caching_compare
from pages.ui.compare import charts as pictures
from pages.ui.compare import words
from pages.ui.compare.scores import choose_score
from pages.ui.drawing import charts
from pages.ui.drawing.chart_margins import FEW
from pages.ui.drawing.downloads import csv_button
from pages.ui.memory import FinishedRun

_WITH_BEST, _ALL = "With the best", "All pairs"


def tab(run: FinishedRun) -> None:
    st.header("Is the difference more than luck?")
    if len(run.per_label) < 2:
        st.info("This run has one method only; train two or more together to compare them.", icon=":material/info:")
        return
    score = choose_score(run)
    every = caching_compare.pairs(run, score.name)
    names = short_names(run.config.methods)
    pairs = every if len(run.per_label) <= FEW else _chosen_pairs(run, score, every, names)
    chart, verdict = st.columns([3, 2], gap="large")
    with chart:
        picture = pictures.interval_chart(pairs, names)
        charts.draw(picture, "significance", f"{score.title}. {pictures.interval_text(pairs, names)}")
    with verdict:
        st.markdown(words.verdict(pairs, names, score))
        st.caption(words.SIGNIFICANCE)
    st.table(pair_table(pairs, names))
    csv_button("All pairs as CSV", every, "significance", run, more={"metric": score.name})


def _chosen_pairs(run: FinishedRun, score: Metric, pairs: list[dict], names: dict[str, str]) -> list[dict]:
    """Of very many pairs at first those with the best variant, which answer what is mostly asked."""
    best = max(run.summary(), key=lambda row: score.gain(row[f"{score.name}_mean"]))["label"]
    chosen = Compare.pairs.buttons("Pairs", [_WITH_BEST, _ALL])
    st.caption(f"The best is {names[best]}. p values are corrected for all {len(pairs)} pairs, whichever are shown.")
    return pairs if chosen == _ALL else [row for row in pairs if best in (row["method_a"], row["method_b"])]


def pair_table(pairs: list[dict], names: dict[str, str]) -> pd.DataFrame:
    """A row per pair, as it stands on the page."""
    rows = {
        f"{names[row['method_a']]} against {names[row['method_b']]}": {
            "Difference": f"{row['difference']:+.4f}",
            "95 % interval": f"{row['low']:+.4f} to {row['high']:+.4f}",
            "p": f"{row['p']:.4f}",
            "p (Holm)": f"{row['p_holm']:.4f}",
            "Significant": "yes" if row["significant"] else "no",
        }
        for row in pairs
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("Pair")
