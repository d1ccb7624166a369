"""Compare: the numbers of a finished run. Each tab is a file of `pages/ui`, and only the open one runs."""

import streamlit as st

from labseq_core.experiments import RunResult
from pages.ui import (
    caching,
    caching_compare,
    compare_labels,
    compare_learning,
    compare_measures,
    compare_scores,
    compare_sentences,
    compare_significance,
    run_panel,
    session,
)
from pages.ui.downloads import file_name
from pages.ui.navigation import only_in_app
from pages.ui.recipe import recipe
from pages.ui.run_choice import choose_run

TABS = {
    "Scores": compare_scores.tab,
    "Measures": compare_measures.tab,
    "Significance": compare_significance.tab,
    "Labels": compare_labels.tab,
    "Sentences": compare_sentences.tab,
    "Learning curve": compare_learning.tab,
}


def save_everything(found: RunResult) -> None:
    st.download_button(
        "Everything as zip", lambda: caching_compare.everything(found.run_id), file_name("run", found.run_id, ending="zip"),
        "application/zip", on_click="ignore", icon=":material/folder_zip:", width="stretch",
        help="Configuration, versions and all tables as CSV, with every prediction; of runs of your own the models too.",
    )  # fmt: skip


only_in_app()
st.title("Compare")
chosen, saving = st.columns([4, 1], vertical_alignment="bottom")
with chosen:
    found = choose_run()
if found is None:
    st.stop()
with saving:
    save_everything(found)
run_panel.warn_of_failures(found)
for container, draw in zip(st.tabs(list(TABS), key="view", bind="query-params"), TABS.values()):
    if container.open:
        with container, session.shown_errors():
            draw(found)
st.header("Repeat this run")
st.caption(caching.provenance(found))
recipe(found.config, session.permalink(run=found.run_id))
