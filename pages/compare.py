"""Compare: the numbers of a finished run."""

import streamlit as st

from labseq_core.experiments import RunResult
from pages.ui import caching, charts, downloads, metrics, run_panel, session, tokens
from pages.ui.navigation import only_in_app
from pages.ui.recipe import recipe
from pages.ui.run_choice import choose_run


def scores(found: RunResult) -> None:
    summary = found.summary()
    chart, meaning = st.columns([3, 2], gap="large")
    with chart:
        best = caching.best_accuracy(found.config.dataset)
        charts.draw(charts.score_bars(summary, best), "scores", charts.score_text(summary))
    with meaning:
        st.header("What the numbers mean")
        st.markdown(metrics.definitions(summary))
        st.download_button(
            "All numbers as CSV", found.csv(), f"labseq-{found.run_id.replace(':', '-')}.csv", "text/csv",
            on_click="ignore", icon=":material/download:", type="primary",
            help="One row per method and fold, full precision, with run id, seed and configuration hash.",
        )  # fmt: skip
    st.table(metrics.summary_table(summary, whole=True))
    with st.expander("Every fold"):
        st.dataframe(metrics.fold_table(found), hide_index=True, column_config=metrics.column_formats())
    if found.searches:
        with st.expander("What was tried on development data", expanded=True):
            tried = metrics.search_table(found)
            st.dataframe(tried, hide_index=True, column_config=metrics.column_formats())
            st.caption(
                "The values with the best score were used. Score: span F1 where labels are BIO, else token accuracy."
            )
            downloads.csv_button("Tried values as CSV", tried, downloads.file_name("searches", found.run_id))


def one_method(found: RunResult) -> None:
    labels = list(found.per_label)
    label = st.segmented_control("Method", labels, default=labels[-1], required=True, key="method", bind="query-params")
    table, matrix = st.columns([2, 3], gap="large")
    with table:
        st.header("Label by label")
        st.dataframe(found.per_label[label], hide_index=True, column_config=metrics.column_formats())
        st.caption("Each token counts by itself. Support: how many tokens truly have the label.")
    with matrix:
        st.header("What is taken for what")
        counts = found.confusion[label]
        figure = charts.confusion_heat_map(counts["labels"], counts["counts"], metrics.row_shares(counts["counts"]))
        st.caption("Rows are true labels, columns predicted ones; numbers are tokens, colour is the share of the row.")
        charts.draw(figure, "confusion", f"Confusion of {label}: rows are true labels, columns predicted labels")


def examples(found: RunResult) -> None:
    st.header("Sentence by sentence")
    usual = metrics.most_telling(found.examples) + 1
    number = st.number_input(
        f"Sentence (of {len(found.examples)})",
        1,
        len(found.examples),
        usual,
        key="sentence",
        bind="query-params",
        width=180,
    )
    example = found.examples[number - 1]
    st.html(tokens.labellings(**example, all_labels=metrics.all_labels(found)))


only_in_app()
st.title("Compare")
found = choose_run()
if found is None:
    st.stop()
run_panel.warn_of_failures(found)
scores(found)
one_method(found)
examples(found)
with st.expander("Repeat this run"):
    st.caption(caching.provenance(found))
    recipe(found.config, session.permalink(run=found.run_id))
