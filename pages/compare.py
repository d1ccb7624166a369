"""Compare: the numbers of a finished run. Only the open tab is drawn."""

import streamlit as st

from labseq_core.experiments.plan.decoding_words import decoding_line
from pages.ui import cached as caching
from pages.ui.choices import links
from pages.ui.choices.registry import Compare
from pages.ui.choices.run import choose_run
from pages.ui.compare import cached as caching_compare
from pages.ui.compare.tabs import COMPARE_TABS
from pages.ui.drawing.downloads import file_name
from pages.ui.frame.errors import shown_errors
from pages.ui.frame.navigation import begin_page
from pages.ui.memory import FinishedRun
from pages.ui.train import run_panel
from pages.ui.train.recipe import recipe


def save_everything(run: FinishedRun) -> None:
    st.download_button(
        "Everything as zip", lambda: caching_compare.everything(run), file_name("run", run.run_id, ending="zip"),
        "application/zip", on_click="ignore", icon=":material/folder_zip:", width="stretch",
        help="Configuration, versions and all tables as CSV, with every prediction; of runs of your own the models too.",
    )  # fmt: skip


begin_page("compare")
st.title("Compare")
chosen, saving = st.columns([4, 1], vertical_alignment="bottom")
with chosen:
    run = choose_run()
if run is None:
    st.stop()
with saving:
    save_everything(run)
run_panel.warn_of_failures(run)
st.caption(decoding_line(run.config.methods))
for title, container in Compare.view.tabs(list(COMPARE_TABS)):
    with container, shown_errors():
        COMPARE_TABS[title].draw(run)
st.header("Repeat this run")
st.caption(caching.provenance(run))
recipe(run.config, links.permalink(run=run.run_id))
