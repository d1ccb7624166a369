"""Compare: the numbers of a finished run. Each tab is a file of `pages/ui`, and only the open one runs."""

import streamlit as st

from pages.ui import cached as caching
from pages.ui.choices import session
from pages.ui.choices.run import choose_run
from pages.ui.compare import (
    cached as caching_compare,
)
from pages.ui.compare import (
    labels as compare_labels,
)
from pages.ui.compare import (
    learning_curve as compare_learning,
)
from pages.ui.compare import (
    measures as compare_measures,
)
from pages.ui.compare import (
    scores as compare_scores,
)
from pages.ui.compare import (
    sentences as compare_sentences,
)
from pages.ui.compare import (
    significance as compare_significance,
)
from pages.ui.drawing.downloads import file_name
from pages.ui.frame.navigation import only_in_app
from pages.ui.memory import FinishedRun
from pages.ui.train import run_panel
from pages.ui.train.recipe import recipe

TABS = {
    "Scores": compare_scores.tab,
    "Measures": compare_measures.tab,
    "Significance": compare_significance.tab,
    "Labels": compare_labels.tab,
    "Sentences": compare_sentences.tab,
    "Learning curve": compare_learning.tab,
}


def save_everything(found: FinishedRun) -> None:
    st.download_button(
        "Everything as zip", lambda: caching_compare.everything(found), file_name("run", found.run_id, ending="zip"),
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
