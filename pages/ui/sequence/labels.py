"""One sequence: labels side by side; of one model how sure it is everywhere, and its next best labellings."""

from __future__ import annotations

import streamlit as st

from pages.ui.drawing import charts, tokens
from pages.ui.sequence import charts as pictures
from pages.ui.sequence import words
from pages.ui.sequence.scene import Scene

_LABELLINGS = 5


def side_by_side(scene: Scene) -> None:
    """The labels of all methods under one another, with how sure they are."""
    st.header("Labels side by side")
    predictions = {name: reading.labels for name, reading in scene.readings.items()}
    notes = {name: words.confidences(reading) for name, reading in scene.readings.items()}
    st.html(tokens.labellings(scene.tokens, scene.truth, predictions, scene.all_labels, notes, scene.position))
    st.caption(words.SIDE_BY_SIDE)
    scene.save("These labels as CSV", lambda: _rows(scene), "labels", of_model=False)


def _rows(scene: Scene) -> list[dict]:
    return [
        {
            "position": t + 1, "token": token, "truth": scene.truth[t] if scene.truth else None, "method": scene.methods[name],
            "label": reading.labels[t], "confidence": reading.confidence[t], "is_probability": reading.probabilistic,
        }
        for name, reading in scene.readings.items() for t, token in enumerate(scene.tokens)
    ]  # fmt: skip


def one_model(scene: Scene) -> None:
    """Marginals, or distances of scores, and the best labellings."""
    _everywhere(scene)
    _k_best(scene)


def _everywhere(scene: Scene) -> None:
    reading = scene.reading
    st.subheader("How sure, label by label")
    st.caption(words.MARGINALS if reading.probabilistic else words.BEHIND)
    figure = pictures.label_map(reading, scene.tokens, scene.position)
    charts.draw(figure, "labels", pictures.label_map_text(reading, scene.tokens, scene.position))


def _k_best(scene: Scene) -> None:
    rows = scene.reading.k_best(_LABELLINGS)
    st.subheader(f"The {len(rows)} best labellings" if len(rows) > 1 else "The only labelling")
    st.caption(words.K_BEST)
    best = rows[0]["labels"]
    names = [
        f"{row['rank']}: p {row['probability']:.3f}, score {words.number(row['score'])}"
        if scene.reading.probabilistic else f"{row['rank']}: score {words.number(row['score'])}"
        for row in rows
    ]  # fmt: skip
    differing = [[None if label == own else label for label, own in zip(row["labels"], best)] for row in rows[1:]]
    st.html(tokens.differing(scene.tokens, names, [best, *differing], scene.all_labels, "The best labellings"))
    saved = [{**row, "labels": " ".join(row["labels"])} for row in rows]
    scene.save("These labellings as CSV", lambda: saved, "k-best")
