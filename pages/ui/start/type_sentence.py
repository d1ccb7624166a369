"""A box for a sentence of one's own, and the part of a page that labels it live by a few models of a result."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.ui.choices import links
from pages.ui.choices.choice import Text
from pages.ui.choices.registry import Start
from pages.ui.choices.variant_names import short_names
from pages.ui.drawing import metrics, tokens
from pages.ui.memory import FinishedRun
from pages.ui.sequence import cached as data
from pages.ui.sequence import words

LONGEST = 2000  # characters
_MODELS = 3


def word_box(label: str, choice: Text, own: Sequence[str], **more) -> tuple[str, ...] | None:
    """Words that the visitor typed in place of a sentence's own; None: its own. more: as a text input takes it."""
    sentence = " ".join(own)
    if len(choice.text) > LONGEST:
        st.info(words.TOO_LONG.format(LONGEST), icon=":material/info:")
    typed = choice.choose(
        label, sentence if len(sentence) <= LONGEST else "", LONGEST,
        placeholder="This sentence is too long to be changed here; type another one", **more,
    ).strip()  # fmt: skip
    return tuple(typed.split()) if typed and typed != sentence else None


def labelled_live(run: FinishedRun, labels: Sequence[str] = ()) -> None:
    """Type a sentence and see it labelled by a few models of a finished run, at first the one on which they differ most.

    labels: of the methods; none: the first three of the run.
    """
    names = short_names(run.config.methods)
    chosen = list(labels or run.per_label)[:_MODELS]
    number = metrics.most_telling(run.examples)
    own = data.part(run).tokens[number]
    typed = word_box("Type a sentence, and press Enter", Start.typed, own, help=words.WORDS)
    asked = data.Asked(run, number, typed)
    readings = {names[label]: data.reading(asked, label) for label in chosen}
    one = data.given(asked)
    known = {label for each in readings.values() for label in each.classes}
    st.html(
        tokens.labellings(
            one.flat_tokens, one.flat_labels, {name: each.labels for name, each in readings.items()},
            sorted({*metrics.all_labels(run), *known, *(one.flat_labels or ())}),
            {name: words.confidences(each) for name, each in readings.items()},
        )
    )  # fmt: skip
    st.caption(words.LIVE)
    if typed is not None:
        own_columns = data.columns_seen(run, chosen)
        st.caption(words.changed(len(typed), len(own), own_columns))
    more = {"words": " ".join(typed)} if typed else {}
    links.go("Look into this sentence", "sequence", "account_tree", run=run.run_id, n=str(number + 1), **more)
