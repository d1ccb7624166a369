"""Which finished run: the same choice on every page that shows one."""

from __future__ import annotations

import streamlit as st

from labseq_core.learners.registry import find_method
from pages.ui import cached as caching
from pages.ui.choices import session
from pages.ui.memory import FinishedRun

NAME = "run"
_INSTEAD = "instead"  # of the run in the URL, where that cannot be shown


def choose_run(shown: caching.Shown = caching.any_method, otherwise: str = "", first: str = "") -> FinishedRun | None:
    """The run that the URL names, else the newest with a method that can be shown; an unknown id is told and left.

    shown: whether the learners of a method can be shown here. otherwise: what to say of a run without such a method; it
    stays in the URL for the other tabs of the page, and another run is shown. first: the default result to begin with.
    What is shown without having been asked for stands in the URL too: tomorrow another run is the newest.
    """
    runs = caching.finished_runs(shown, first)
    here = f"{shown.__qualname__} {first}"
    for name in (NAME, _INSTEAD):
        session.leave(name, here)
    wanted, other = session.recall(NAME), False
    if wanted and wanted not in runs:
        with session.shown_errors():
            other = not shown_choices(caching.finished(wanted), shown)
            if not other:
                runs[wanted] = caching.run_line(wanted)
    if other:
        st.info(f"{otherwise} ({caching.run_line(wanted)})", icon=":material/info:")
    if not runs:
        nothing_yet()
        return None
    usual = st.query_params.get(_INSTEAD) if other else None
    usual = usual if usual in runs else next(iter(runs))
    chosen = session.choose("Run", NAME, list(runs), runs.get, usual, keep=other, forgets=[_INSTEAD])
    if caching.are_more(runs):
        st.caption(f"The list has the newest {caching.RUNS_OFFERED} finished runs; History has all of them.")
    if other:
        session.imply(_INSTEAD, chosen, here)
    else:
        session.forget(_INSTEAD)
        if chosen != st.query_params.get(NAME):
            session.imply(NAME, chosen, here)
    return caching.finished(chosen)


def shown_choices(found: FinishedRun, shown: caching.Shown) -> list:
    """The methods of a run, with their options, that can be shown."""
    return [choice for choice in found.config.methods if shown(find_method(choice.method).learner)]


def nothing_yet() -> None:
    """What to do where there is nothing to show."""
    st.info("There is no finished run to show here yet: train one.")
    session.go("Train", "train", "model_training", main=True)
