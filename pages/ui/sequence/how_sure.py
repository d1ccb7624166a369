"""One sequence: of one model how sure it is at every position."""

from __future__ import annotations

import streamlit as st

from pages.ui.drawing import charts
from pages.ui.sequence import charts as pictures
from pages.ui.sequence import words
from pages.ui.sequence.best_labellings import best_labellings
from pages.ui.sequence.scene import Scene


def how_sure(scene: Scene) -> None:
    """Marginals, or distances of scores, and the best labellings."""
    _everywhere(scene)
    best_labellings(scene)


def _everywhere(scene: Scene) -> None:
    reading = scene.reading
    st.subheader("How sure, label by label")
    st.caption(words.MARGINALS if reading.probabilistic else words.BEHIND)
    figure = pictures.label_map(reading, scene.tokens, scene.position)
    charts.draw(figure, "labels", pictures.label_map_text(reading, scene.tokens, scene.position))
