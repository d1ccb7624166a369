"""Start: a finished comparison before any click."""

import streamlit as st

from labseq_core.experiments import RunResult
from pages.ui import caching, charts, session, tokens
from pages.ui.metrics import all_labels, most_telling, summary_table, who_leads
from pages.ui.navigation import only_in_app

TO_TRY = {
    "Take the context away": ("Only the current word (S1): what is left of the lead?", {"features": "S1"}),
    "Look further around": ("Seven positions around each word: do they help?", {"window": "7"}),
    "Hardly any penalty": ("A CRF with l2 = 0.001 fits every training sentence. And new ones?", {"crf.l2": "0.001"}),
}


def comparison(shown: RunResult) -> None:
    name, summary = shown.config.dataset, shown.summary()
    info = caching.corpora()[name]
    chart, story = st.columns([3, 2], gap="large")
    with chart:
        st.header(info.title)
        charts.draw(charts.score_bars(summary, info.bayes_test_accuracy), "start", charts.score_text(summary))
    with story:
        st.header("What you see")
        st.markdown(info.description)
        st.markdown(
            f"Features {shown.config.features.label}, {shown.config.folds} folds; whiskers are standard errors. "
            f"{who_leads(summary)} The dashed line cannot be beaten: the corpus was drawn from a known distribution, so "
            "the best possible labelling is known."
        )
        with st.container(horizontal=True):
            session.go("Train your own", "train", "model_training", main=True, dataset=name)
            session.go("Compare", "compare", "bar_chart", run=shown.run_id)
            session.go("Data", "data", "database", dataset=name)


def one_sentence(shown: RunResult) -> None:
    st.header("One sentence, every method")
    example = shown.examples[most_telling(shown.examples)]
    st.html(tokens.labellings(**example, all_labels=all_labels(shown)))
    st.caption("The first line is the truth. A framed label with ✗ is wrong.")
    with st.expander("The scores as a table"):
        st.table(summary_table(shown.summary()))


def what_to_try(shown: RunResult) -> None:
    st.header("What to try next")
    usual = {"dataset": shown.config.dataset, "features": shown.config.features.template}
    for column, (title, (text, choices)) in zip(st.columns(len(TO_TRY)), TO_TRY.items()):
        with column, st.container(border=True, height="stretch"):
            st.markdown(text)
            session.go(title, "train", "experiment", fresh=True, **{**usual, **choices})


only_in_app()
st.title("LabSeq: label sequence learning, side by side")
st.markdown(
    "Give every word of a sentence a label (a part of speech, a name, an accent) and see how different methods learn to do "
    "it. Choose data, methods and features, train, and compare them here in the browser."
)
defaults = caching.corpus_defaults()
if not defaults:
    st.info("The default comparisons are missing; `labseq defaults` makes them. Train one of your own meanwhile.")
    session.go("Train", "train", "model_training", main=True)
    st.stop()
names = list(defaults)
chosen = st.segmented_control("Corpus", names, default=names[0], required=True, key="corpus", bind="query-params")
comparison(defaults[chosen])
one_sentence(defaults[chosen])
what_to_try(defaults[chosen])
