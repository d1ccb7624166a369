"""History: all runs. Find, look, compare two, repeat, keep, take elsewhere, delete."""

import streamlit as st

from labseq_core.experiments.service import is_default
from pages.ui.frame.errors import shown_errors
from pages.ui.frame.navigation import begin_page
from pages.ui.history import import_form, one_run, two_runs
from pages.ui.history import list as history_list


def chosen_runs(ids: list[str]) -> None:
    """What the chosen rows are about."""
    if len(ids) == 1:
        one_run.one_run(*ids)
    elif len(ids) == 2:
        two_runs.two_runs(*ids)
    elif ids:
        st.info(f"{len(ids)} runs are chosen. Choose one to see it, two to compare them.", icon=":material/info:")
    own = [run_id for run_id in ids if not is_default(run_id)]
    if len(ids) > 1 and own:
        one_run.delete_button(own)


begin_page("history")
st.title("History")
with shown_errors():
    ids = history_list.choose_rows(history_list.filters())
    with shown_errors():
        chosen_runs(ids)
    import_form.import_form()
