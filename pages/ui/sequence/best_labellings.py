"""One sequence: the best labellings by one model, and in what they differ."""

from __future__ import annotations

import streamlit as st

from pages.ui.drawing import tokens
from pages.ui.sequence import words
from pages.ui.sequence.scene import Scene

_SHOWN = 5


def best_labellings(scene: Scene) -> None:
    rows = scene.reading.k_best(_SHOWN)
    st.subheader(f"The {len(rows)} best labellings" if len(rows) > 1 else "The only labelling")
    best, given = rows[0]["labels"], scene.reading.labels
    st.caption(words.K_BEST + (words.GIVEN if scene.reading.by_posterior else ""))
    names = [
        f"{row['rank']}: p {row['probability']:.3f}, score {words.number(row['score'])}"
        if scene.reading.probabilistic else f"{row['rank']}: score {words.number(row['score'])}"
        for row in rows
    ]  # fmt: skip
    others = [row["labels"] for row in rows[1:]]
    if scene.reading.by_posterior:
        names, others = [*names, "given"], [*others, given]
    differing = [[None if label == own else label for label, own in zip(labels, best)] for labels in others]
    st.html(tokens.differing(scene.tokens, names, [best, *differing], scene.all_labels, "The best labellings"))
    saved = [{**row, "labels": " ".join(row["labels"])} for row in rows]
    scene.save("These labellings as CSV", lambda: saved, "k-best")
