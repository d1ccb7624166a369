"""One sequence: the labels of all methods, side by side."""

from __future__ import annotations

import streamlit as st

from labseq_core.experiments.plan.decoding_words import decoding_line
from pages.ui.drawing import tokens
from pages.ui.sequence import words
from pages.ui.sequence.scene import Scene


def side_by_side(scene: Scene) -> None:
    """The labels of all methods under one another, with how sure they are."""
    st.header("Labels side by side")
    predictions = {name: reading.labels for name, reading in scene.readings.items()}
    notes = {name: words.confidences(reading) for name, reading in scene.readings.items()}
    st.html(tokens.labellings(scene.tokens, scene.truth, predictions, scene.all_labels, notes, scene.position))
    names = {label: name for name, label in scene.methods.items()}
    shown = [choice for choice in scene.run.config.methods if choice.label in names]
    st.caption(f"{decoding_line(shown, names)} {words.SIDE_BY_SIDE}")
    scene.save("These labels as CSV", lambda: _rows(scene), "labels", of_model=False)


def _rows(scene: Scene) -> list[dict]:
    return [
        {
            "position": t + 1, "token": token, "truth": scene.truth[t] if scene.truth else None, "method": scene.methods[name],
            "decode": reading.decoding, "label": reading.labels[t],
            "confidence": reading.confidence[t], "is_probability": reading.probabilistic,
        }
        for name, reading in scene.readings.items() for t, token in enumerate(scene.tokens)
    ]  # fmt: skip
