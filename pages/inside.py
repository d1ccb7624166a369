"""Inside: what a trained model has learned."""

from math import isfinite

import streamlit as st

from labseq_core import LabSeqError
from labseq_core.experiments import RunResult
from labseq_core.explain import has_weights, label_weights, shows_log_probabilities, transition_table, weight_summary
from labseq_core.learners.base import SequenceLearner
from labseq_core.learners.registry import find_method
from pages.ui import caching, charts, metrics, session
from pages.ui.navigation import only_in_app
from pages.ui.run_choice import choose_run


def choose_method(found: RunResult) -> str | None:
    """The label of a method of the run that can be looked into; the last is the one with most behind it."""
    labels = [choice.label for choice in found.config.methods if has_weights(find_method(choice.method).learner)]
    if not labels:
        return None
    return st.segmented_control("Method", labels, default=labels[-1], required=True, key="method", bind="query-params")


def weights_tab(found: RunResult, method: str, learner: SequenceLearner) -> None:
    attributes, transitions = st.columns(2, gap="large")
    with attributes:
        try:
            attribute_weights(found, method, learner)
        except LabSeqError as reason:
            st.info(str(reason))
    with transitions:
        transition_weights(method, learner)


def attribute_weights(found: RunResult, method: str, learner: SequenceLearner) -> None:
    line = metrics.weight_line(weight_summary(learner), shows_log_probabilities(learner))
    st.header("What speaks for a label")
    st.markdown(line)
    choice, search = st.columns(2)
    label = choice.selectbox("Label", learner.classes_, key="label", bind="query-params")
    wanted = search.text_input(
        "Attributes with", key="attribute", bind="query-params", placeholder="a part of the name",
        help="Shows only attributes that have this in their name, such as word= or a word.",
    )  # fmt: skip
    rows = label_weights(learner, label, contains=wanted)
    if not rows:
        st.info(f"No nonzero weight of {label} belongs to such an attribute.")
    elif shows_log_probabilities(learner):
        st.dataframe(
            rows,
            hide_index=True,
            column_config={"weight": st.column_config.NumberColumn("log p(word | label)", format="%.4f")},
        )
    else:
        charts.draw(charts.weight_bars(rows), "weights", charts.weight_text(label, rows))
        st.caption(
            "The highest and the lowest weights; a positive one speaks for the label, a negative one against it."
        )
    st.download_button(
        "All weights as CSV", lambda: caching.weights_file(found.run_id, method),
        f"labseq-weights-{found.run_id.replace(':', '-')}-{method.replace(' ', '-')}.csv", "text/csv",
        on_click="ignore", icon=":material/download:", type="primary",
        help="Every weight that is not zero, transitions included, with full precision.",
    )  # fmt: skip


def transition_weights(method: str, learner: SequenceLearner) -> None:
    st.header("Which label follows which")
    labels, weights = transition_table(learner)
    unit = "logarithms of probabilities" if shows_log_probabilities(learner) else "weights"
    if weights.any():
        crosses = "" if isfinite(weights.min()) else " ✕: forbidden by the constraints."
        st.caption(f"Rows are labels, columns the labels after them; numbers are {unit}.{crosses}")
    else:
        st.caption(f"{method} sees every token by itself: it has no weights for pairs of labels, all are zero.")
    alt = f"Transition {unit} of {method}: rows are labels, columns the labels that follow"
    charts.draw(charts.transition_heat_map(labels, weights.tolist()), "transitions", alt)


only_in_app()
st.title("Inside")
found = choose_run()
if found is None:
    st.info("There is no finished run yet: train one.")
    session.go("Train", "train", "model_training", main=True)
    st.stop()
method = choose_method(found)
if method is None:
    st.info("No method of this run has weights to show. Choose another run, or train a CRF.")
    session.go("Train", "train", "model_training", main=True)
    st.stop()
(weights,) = st.tabs(["Weights"])
with weights, session.shown_errors():
    weights_tab(found, method, caching.trained(found.run_id, method))
