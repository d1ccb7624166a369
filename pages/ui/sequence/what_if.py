"""One sequence: what would be if the label at a position were another one."""

from __future__ import annotations

from html import escape

import streamlit as st

from labseq_core import LabSeqError
from labseq_core.explain import Reading
from pages.ui.choices.registry import OneSequence
from pages.ui.drawing import tokens
from pages.ui.drawing.plain_text import in_html, shortened
from pages.ui.sequence import cached as data
from pages.ui.sequence import words
from pages.ui.sequence.scene import Scene, html_table


def what_if(scene: Scene) -> None:
    """Every method with one label forced: the rest follows, or it does not."""
    st.header("What if?")
    st.caption(words.FORCE)
    reading, position = scene.reading, scene.position
    usual = reading.rival_at(position) or reading.labels[position]
    label = OneSequence.force.choose(
        f"Position {position + 1} shall have the label", reading.classes, usual, shortened, width=300,
        help="For all methods above, whatever they think of it.",
    )  # fmt: skip
    after, refused = _forced(scene, position, label)
    if after:
        _labels(scene, after)
        _costs(scene, after, label)
    for name in refused:
        st.html(
            f"<p><b>{escape(name)}</b> does not know {in_html(label)}, or its constraints forbid it here: no "
            "labelling has it.</p>"
        )


def _forced(scene: Scene, position: int, label: str) -> tuple[dict[str, Reading], list[str]]:
    """Readings with the label by method, and the methods for which it cannot be."""
    after, refused = {}, []
    for name, own in scene.methods.items():
        try:
            after[name] = data.reading(scene.asked, own, (position, label))
        except LabSeqError:
            refused.append(name)
    return after, refused


def _labels(scene: Scene, after: dict[str, Reading]) -> None:
    before = {name: scene.readings[name].labels for name in after}
    notes = {
        name: [
            "forced" if t == scene.position else words.confidence(value, reading.probabilistic)
            for t, value in enumerate(reading.confidence)
        ]
        for name, reading in after.items()
    }
    labels = {name: reading.labels for name, reading in after.items()}
    st.html(tokens.changes(scene.tokens, before, labels, scene.all_labels, notes, scene.position))


def _costs(scene: Scene, after: dict[str, Reading], label: str) -> None:
    """How much worse the best labelling with the label is, and what else changed."""
    rows = []
    for name, reading in after.items():
        free = scene.readings[name]
        cost = free.cost_of(scene.position, label)
        others = [t + 1 for t, (a, b) in enumerate(zip(free.labels, reading.labels)) if a != b and t != scene.position]
        probability = "–" if cost["probability"] is None else f"{cost['probability']:.3f}"
        rows.append([escape(name), words.number(cost["behind"], 3), probability, ", ".join(map(str, others)) or "none"])
    html_table(["method", "score falls by", "p before", "further positions that change"], rows, "What it costs")
    scene.save("The changed labels as CSV", lambda: _rows(scene, after, label), "forced", of_model=False)


def _rows(scene: Scene, after: dict[str, Reading], label: str) -> list[dict]:
    return [
        {
            "method": scene.methods[name], "forced_position": scene.position + 1, "forced_label": label,
            **scene.readings[name].cost_of(scene.position, label), "position": t + 1, "token": token,
            "label_before": scene.readings[name].labels[t], "label": reading.labels[t],
            "confidence": reading.confidence[t], "is_probability": reading.probabilistic,
        }
        for name, reading in after.items() for t, token in enumerate(scene.tokens)
    ]  # fmt: skip
