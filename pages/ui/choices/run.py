"""Which finished run: the same choice on every page that shows one."""

from __future__ import annotations

import streamlit as st

from labseq_core.learners.registry import find_method
from pages.ui import cached as caching
from pages.ui.choices import links
from pages.ui.choices.registry import INSTEAD, RUN
from pages.ui.choices.url import visit
from pages.ui.drawing.imported import imported_mark
from pages.ui.drawing.plain_text import in_markdown
from pages.ui.frame.errors import shown_errors
from pages.ui.memory import FinishedRun


def choose_run(shown: caching.Shown = caching.any_method, otherwise: str = "", first: str = "") -> FinishedRun | None:
    """The run that the URL names, else the newest with a method that can be shown; an unknown id is told and left.

    shown: whether the learners of a method can be shown here. otherwise: what to say of a run without such a method; it
    stays in the URL for the other tabs of the page, and another run is shown. first: the default result to begin with.
    What is shown without having been asked for stands in the URL too: tomorrow another run is the newest.
    """
    runs = caching.finished_runs(shown, first)
    here = f"{shown.__qualname__} {first}"
    for choice in (RUN, INSTEAD):
        visit().leave(choice.place, here)
    wanted, other = RUN.text, False
    if wanted and wanted not in runs:
        with shown_errors():
            other = not shown_choices(caching.finished(wanted), shown)
            if not other:
                runs[wanted] = caching.run_line(wanted)
    if other:
        st.info(f"{otherwise} ({in_markdown(caching.run_line(wanted))})", icon=":material/info:")
    if not runs:
        nothing_yet()
        return None
    chosen = RUN.choose("Run", list(runs), INSTEAD.text if other else None, runs.__getitem__, keep=other)
    if caching.are_more(runs):
        st.caption(f"The list has the newest {caching.RUNS_OFFERED} finished runs; History has all of them.")
    if other:
        visit().imply(INSTEAD.place, chosen, here)
    else:
        INSTEAD.forget()
        if chosen != st.query_params.get(RUN.name):
            visit().imply(RUN.place, chosen, here)
    run = caching.finished(chosen)
    imported_mark(run)
    return run


def shown_choices(run: FinishedRun, shown: caching.Shown) -> list:
    """The methods of a run, with their options, that can be shown."""
    return [choice for choice in run.config.methods if shown(find_method(choice.method).learner)]


def nothing_yet() -> None:
    """What to do where there is nothing to show."""
    st.info("There is no finished run to show here yet: train one.")
    links.go("Train", "train", "model_training", main=True)
