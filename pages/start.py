"""Start: a finished comparison before any click."""

import streamlit as st

from labseq_core.experiments.plan.decoding_words import decoding_line
from pages.ui import cached as caching
from pages.ui.choices import links
from pages.ui.choices.registry import Start
from pages.ui.choices.variant_names import short_names, short_summary
from pages.ui.drawing import charts
from pages.ui.drawing.downloads import csv_button
from pages.ui.drawing.metrics import bayes_words, score_table, who_leads
from pages.ui.frame.errors import shown_errors
from pages.ui.frame.navigation import begin_page
from pages.ui.memory import FinishedRun
from pages.ui.start.type_sentence import labelled_live
from pages.ui.train.form_link import form_choices
from pages.ui.train.presets import to_try

ABOUT_METHODS = """
- A **CRF** makes the right labelling as probable as it can, given the whole sentence.
- An **HM-SVM** makes it win by a margin over every other labelling; only the hard sentences count.
- A **Gaussian process** (GP sequence classification) learns smooth functions by a kernel, and knows how sure it is.
"""


def comparison(shown: FinishedRun) -> None:
    name, summary = shown.config.dataset, short_summary(shown)
    info = caching.corpora()[name]
    chart, story = st.columns([3, 2], gap="large")
    with chart:
        st.header(info.title)
        bayes = caching.bayes_accuracies(shown.config)
        charts.draw(charts.score_bars(summary, bayes), "start", charts.score_text(summary, bayes))
        st.caption(decoding_line(shown.config.methods, short_names(shown.config.methods)))
        st.markdown(ABOUT_METHODS)
    with story:
        st.header("What you see")
        st.markdown(info.description)
        st.markdown(
            f"Features {shown.config.features.label}, {shown.config.folds} folds; whiskers are standard errors. "
            f"{who_leads(summary)} {bayes_words(bayes)}"
        )
        with st.container(horizontal=True):
            links.go("Train your own", "train", "model_training", main=True, fresh=True, **form_choices(shown.config))
            links.go("Compare", "compare", "bar_chart", run=shown.run_id)
            links.go("Data", "data", "database", dataset=name)


def one_sentence(shown: FinishedRun) -> None:
    st.header("One sentence, every method")
    with shown_errors():
        labelled_live(shown)


def the_numbers(shown: FinishedRun) -> None:
    with st.expander("The scores as a table, with the options of each method"):
        score_table(shown)
        csv_button("These scores as CSV", shown.summary(), "summary", shown)


def what_to_try(shown: FinishedRun) -> None:
    st.header("What to try next")
    presets = to_try(shown.config)
    for column, preset in zip(st.columns(len(presets)), presets):
        with column, st.container(border=True, height="stretch"):
            st.markdown(preset.question)
            links.go(preset.title, "train", "experiment", fresh=True, **form_choices(preset.change(shown.config)))
    st.caption("Each opens the Train page with this comparison and that one change, ready to start.")


begin_page("start")
st.title("LabSeq: label sequence learning, side by side")
st.markdown(
    "Give every word of a sentence a label (a part of speech, a name, an accent) and see how different methods learn to do "
    "it. Choose data, methods and features, train, and compare them here in the browser."
)
defaults = caching.corpus_defaults()
if not defaults:
    st.info("The default comparisons are missing; `labseq defaults` makes them. Train one of your own meanwhile.")
    links.go("Train", "train", "model_training", main=True)
    st.stop()
names = list(defaults)
chosen = Start.corpus.buttons("Corpus", names)
comparison(defaults[chosen])
one_sentence(defaults[chosen])
the_numbers(defaults[chosen])
what_to_try(defaults[chosen])
