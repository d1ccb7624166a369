"""Compare, tab Sentences: every method on every sentence, first those on which they disagree."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import streamlit as st

from pages.ui.choices.choice import Number
from pages.ui.choices.registry import Compare
from pages.ui.choices.variant_names import short_names
from pages.ui.compare import cached as caching_compare
from pages.ui.compare import words
from pages.ui.drawing import metrics, tokens
from pages.ui.memory import FinishedRun

_SENTENCES = 5  # on a page


def tab(run: FinishedRun) -> None:
    st.header("Sentence by sentence")
    everything = range(caching_compare.n_sentences(run))
    if len(run.per_label) < 2:
        leaf_through(run, everything, Compare.page)
        return
    only = Compare.differ.choose("Only where methods disagree", True)
    places = caching_compare.disagreements(run)
    st.markdown(
        f"The methods disagree in **{len(places):,}** of {len(everything):,} sentences"
        + ("; those with most differences come first." if only else ".")
    )
    if only and not places:
        st.info("All methods label every sentence alike.", icon=":material/info:")
        return
    leaf_through(run, places if only else everything, Compare.page)


def leaf_through(run: FinishedRun, places: Sequence[int], choice: Number) -> None:
    """Some sentences with the labels of all methods, a page of them at a time. choice: of the page."""
    pages = -(-len(places) // _SENTENCES)
    page = choice.leaf(pages)
    shown = caching_compare.sentences(run, places[(page - 1) * _SENTENCES : page * _SENTENCES])
    names, all_labels = short_names(run.config.methods), metrics.all_labels(run)
    st.caption(words.SENTENCES)
    st.html(
        "".join(
            f'<p class="ls-place">'
            f"{escape(words.place(each.fold, each.number, run.config.folds))}</p>"
            + tokens.labellings(
                each.tokens, each.truth, {names[label]: said for label, said in each.predictions.items()}, all_labels
            )
            for each in shown
        )
    )
