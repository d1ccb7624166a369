"""Cached drawings of the Data page, keyed by names."""

from __future__ import annotations

import streamlit as st

from labseq_core import load_dataset
from pages.ui.cached import SENTENCES_PER_PAGE
from pages.ui.drawing import tokens


@st.cache_data(max_entries=256, show_spinner=False)
def sentences(dataset: str, part: str, page: int) -> str:
    """One page of a part as HTML; the first page is 1. A sequence may have millions of tokens, of which few are shown."""
    corpus = load_dataset(dataset)
    sequences, first = getattr(corpus, part), (page - 1) * SENTENCES_PER_PAGE
    shown = sequences.select(range(first, min(first + SENTENCES_PER_PAGE, len(sequences))))
    return tokens.sentences(shown.tokens, shown.labels, corpus.labels, first + 1)
