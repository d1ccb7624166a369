"""The picture of each lesson, the sentence that says what to see in it, and its numbers as CSV."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from labseq_core.evaluation.span import SPAN_F1
from labseq_core.explain.loss_curves import losses_at
from pages.ui import cached as caching
from pages.ui.choices.registry import Learn
from pages.ui.drawing import charts
from pages.ui.drawing.downloads import csv_button
from pages.ui.learn import charts as lesson_charts
from pages.ui.learn import words


def clues() -> None:
    rows = caching.lesson_table("clues")
    if not rows:
        st.info(words.MISSING, icon=":material/info:")
        return
    pictures = st.columns(2)
    for place, score, title in ((0, "span_f1", SPAN_F1.title), (1, "log_loss", "Log loss, lower is better")):
        with pictures[place]:
            st.subheader(title)
            figure = lesson_charts.clue_picture(rows, words.COUNTED, words.CLUES, score)
            charts.draw(figure, f"clues-{place}", lesson_charts.clue_text(rows, words.COUNTED, score, title))
    st.markdown(words.clues(rows))
    st.caption(words.SCORED_ON.format(rows[0]["dataset"]))
    csv_button("These numbers as CSV", rows, "clues")


def losses() -> None:
    margin = Learn.margin.choose(
        "Margin of the example", -2.0, 3.0, 0.5, st.slider, step=0.1,
        help="Above 0 the true labelling wins; a hard margin asks for 1.",
    )  # fmt: skip
    rows = losses_at(margin)
    charts.draw(lesson_charts.loss_picture(margin), "losses", lesson_charts.loss_text(rows, margin))
    st.markdown(words.losses(rows, margin))
    st.dataframe(
        rows, hide_index=True,
        column_config={name: st.column_config.NumberColumn(format="%.3f") for name in ("value", "pull")},
    )  # fmt: skip
    st.caption(words.LOSSES)
    csv_button("These losses as CSV", rows, "losses", more={"margin": margin})
    csv_button("These curves as CSV", pd.DataFrame(lesson_charts.curves_shown()), "loss-curves")


def mistakes() -> None:
    rows = caching.lesson_table("mistakes")
    if not rows:
        st.info(words.MISSING, icon=":material/info:")
        return
    table = pd.DataFrame(rows)
    charts.draw(lesson_charts.mistake_picture(rows), "mistakes", lesson_charts.mistake_text(rows))
    st.markdown(words.mistakes(rows))
    st.dataframe(
        table, hide_index=True,
        column_config={
            "longest": st.column_config.NumberColumn("R", format="%.2f"),
            "margin": st.column_config.NumberColumn("γ", format="%.3f"),
            "bound": st.column_config.NumberColumn("(R/γ)²", format="%.0f"),
        },
    )  # fmt: skip
    csv_button("These numbers as CSV", rows, "mistakes")
