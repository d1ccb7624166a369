"""One sequence: a trellis to step through, with the formula of the step and its numbers."""

from __future__ import annotations

import streamlit as st

from labseq_core.explain import trellis
from pages.ui.choices.registry import OneSequence
from pages.ui.drawing import charts
from pages.ui.drawing.plain_text import shortened
from pages.ui.sequence import charts as pictures
from pages.ui.sequence import words
from pages.ui.sequence.scene import Scene, html_table

_COLUMNS, _LABELS = 7, 12  # that can be read on a narrow screen, and on any


def steps(scene: Scene) -> None:
    """The trellis around the position after the step into one of its nodes."""
    st.header("Step by step")
    reading = scene.reading
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    with left:
        names = list(words.RECURSIONS)
        name = OneSequence.recursion.buttons("Recursion", names, names[-1])
        recursion = words.RECURSIONS[name]
    with right:
        label = OneSequence.node.choose(
            f"Node at position {scene.position + 1}", reading.classes, reading.labels[scene.position], shortened
        )
    drawn = trellis(reading, recursion, scene.position, label, _COLUMNS, _LABELS)
    st.caption(words.TRELLIS)
    if reading.by_posterior:
        st.html(words.posterior_node(reading, scene.position, label, scene.word))
    charts.draw(
        pictures.trellis_chart(drawn, scene.tokens),
        "trellis",
        pictures.trellis_text(drawn, recursion),
        clicked=_clicked,
    )
    if drawn.left_out:
        st.caption(f"{drawn.left_out} labels with lower scores are not drawn; the CSV has them all.")
    formula, terms = st.columns(2, gap="large")
    with formula:
        st.subheader("This step")
        st.html(f'<div class="ls-formula">{words.formula(drawn.step, reading.classes, scene.word)}</div>')
    with terms:
        if drawn.step.terms.size:
            st.subheader("What it takes together")
            html_table(*words.term_table(drawn.step, reading.classes), "Terms of the step")
    scene.save("All nodes as CSV", lambda: reading.node_rows(scene.tokens), "trellis")


def _clicked(node: list) -> None:
    position, label = node
    OneSequence.step.change(str(position))
    OneSequence.node.change(label)
