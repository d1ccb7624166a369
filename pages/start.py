"""Start: a finished comparison before any click."""

import streamlit as st

from pages.ui import caching, charts, tokens
from pages.ui.metrics import most_telling, summary_table

FIRST = "spanish-ner"

st.title("LabSeq: label sequence learning, side by side")
st.markdown(
    "Give every word of a sentence a label (a part of speech, a name, an accent) and see how different methods learn to do "
    "it. Choose data, methods and features, train, and compare them here in the browser."
)

found = caching.defaults()
if not found:
    st.info(
        "The default comparisons are missing; `labseq defaults` makes them. Train a comparison of your own meanwhile."
    )
    st.page_link("pages/train.py", label="Train", icon=":material/model_training:")
    st.stop()

names = sorted(found, key=lambda name: name != FIRST)
name = st.segmented_control("Corpus", names, default=names[0], required=True, key="corpus", bind="query-params")
shown = found[name]
info = caching.corpora()[name]
summary = shown.summary()

chart, story = st.columns([3, 2], gap="large")
with chart:
    st.subheader(info.title)
    charts.draw(charts.score_bars(summary, info.bayes_test_accuracy), "start", charts.score_text(summary))
with story:
    st.subheader("What you see")
    st.markdown(f"{info.description}")
    best = max(summary, key=lambda row: row["accuracy_mean"])
    st.markdown(
        f"Features **{shown.config.features.label}**, {shown.config.folds} folds; the thin lines are standard errors. "
        f"**{best['label']}** labels most tokens right. The dashed line is what nobody can beat: the corpus was drawn from a "
        "known distribution, so the best possible labelling is known."
    )
    with st.container(horizontal=True):
        st.page_link("pages/data.py", label="See the data", icon=":material/database:", query_params={"dataset": name})
        st.page_link("pages/train.py", label="Train", icon=":material/model_training:", query_params={"dataset": name})
        st.page_link(
            "pages/compare.py", label="Compare", icon=":material/bar_chart:", query_params={"run": shown.run_id}
        )

st.subheader("One sentence, every method")
example = shown.examples[most_telling(shown.examples)]
st.html(tokens.labellings(example["tokens"], example["truth"], example["predictions"]))
st.caption("The first line is the truth. A framed label with ✗ is wrong.")
with st.expander("The same as a table"):
    st.table(summary_table(summary))

st.subheader("What to try next")
tries = {
    "Take the context away": (
        "Only the current word (S1): what is left of the lead?",
        {"dataset": name, "features": "S1"},
    ),
    "Look further around": ("Seven positions instead of three.", {"dataset": name, "window": "7"}),
    "Hardly any penalty": ("A CRF with l2 = 0.001 overfits; by how much?", {"dataset": name, "crf.l2": "0.001"}),
}
for column, (title, (text, choices)) in zip(st.columns(len(tries)), tries.items()):
    with column, st.container(border=True, height="stretch"):
        st.page_link("pages/train.py", label=f"**{title}**", icon=":material/experiment:", query_params=choices)
        st.caption(text)
