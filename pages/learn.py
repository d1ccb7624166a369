"""Learn: short lessons, each with a demonstration one click away."""

import pandas as pd
import streamlit as st

from labseq_core.explain.loss_curves import losses_at
from pages.ui import caching, charts, lesson_charts, session
from pages.ui.downloads import csv_button
from pages.ui.lessons import LESSONS, PROPERTIES, Lesson
from pages.ui.navigation import only_in_app

TABLE = "properties"


def lesson(key: str, chosen: Lesson) -> None:
    left, right = st.columns([3, 2], gap="large")
    with left:
        st.header(chosen.title)
        st.markdown(chosen.text)
    with right:
        st.header("See it, try it")
        for link in chosen.links:
            session.go(link.label, link.page, link.icon, main=link.icon == "visibility", fresh=True, **link.choices)
        st.info(chosen.question, icon=":material/help:")
    if key == "losses":
        losses()
    if key == "margin":
        mistakes()


def losses() -> None:
    margin = st.slider(
        "Margin of the example", -2.0, 3.0, 0.5, 0.1, key="margin", bind="query-params",
        help="Above 0 the true labelling wins; a hard margin asks for 1.",
    )  # fmt: skip
    rows = losses_at(margin)
    chart, table = st.columns([3, 2], gap="large")
    with chart:
        charts.draw(lesson_charts.loss_picture(margin), "losses", lesson_charts.loss_text(rows, margin))
        csv_button("These curves as CSV", pd.DataFrame(lesson_charts.curves_shown()), "loss-curves")
    with table:
        st.dataframe(
            rows, hide_index=True,
            column_config={name: st.column_config.NumberColumn(format="%.3f") for name in ("value", "pull")},
        )  # fmt: skip
        csv_button("These losses as CSV", rows, "losses", more={"margin": margin})
        st.caption("Log is measured in bits here, so that it bounds the count of errors too. Pull: minus the slope.")


def mistakes() -> None:
    rows = caching.lesson_table("mistakes")
    if not rows:
        st.info("The numbers of this lesson are missing; `labseq defaults lessons` makes them.", icon=":material/info:")
        return
    table = pd.DataFrame(rows)
    chart, numbers = st.columns(2, gap="large")
    with chart:
        charts.draw(lesson_charts.mistake_picture(rows), "mistakes", lesson_charts.mistake_text(rows))
    with numbers:
        st.dataframe(
            table, hide_index=True,
            column_config={
                "longest": st.column_config.NumberColumn("R", format="%.2f"),
                "margin": st.column_config.NumberColumn("γ", format="%.3f"),
                "bound": st.column_config.NumberColumn("(R/γ)²", format="%.0f"),
            },
        )  # fmt: skip
        csv_button("These numbers as CSV", rows, "mistakes")


def properties() -> None:
    st.header("What each method has")
    st.caption("After thesis, Table 5.2. The buttons lead to the lesson that shows the row.")
    table = pd.DataFrame.from_dict({name: cells for name, (_, cells) in PROPERTIES.items()}, orient="index")
    st.table(table.rename_axis("Property"))
    csv_button("This table as CSV", table.rename_axis("Property").reset_index(), "properties")
    with st.container(horizontal=True):
        for name, (key, _) in PROPERTIES.items():
            session.go(name, "learn", "school", lesson=key)


only_in_app()
st.title("Learn")
titles = {key: chosen.title for key, chosen in LESSONS.items()} | {TABLE: "All methods in one table"}
key = session.choose("Lesson", "lesson", list(titles), titles.__getitem__, next(iter(titles)))
if key == TABLE:
    properties()
else:
    lesson(key, LESSONS[key])
