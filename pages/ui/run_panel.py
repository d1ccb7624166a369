"""A run while it runs: polled from a fragment, so that only this part of the page is drawn anew."""

from __future__ import annotations

import streamlit as st

from labseq_core.experiments import RunStatus, cancel, status
from pages.ui import charts

FAST, SLOW = 1.0, 2.5  # seconds between two looks
_FAST_LOOKS = 15


def follow(run_id: str) -> RunStatus:
    """Draw the run, again and again while it is active; gives its status at the time of the call."""
    now = status(run_id)
    looks = st.session_state.setdefault(f"looks.{run_id}", 0)
    interval = (FAST if looks < _FAST_LOOKS else SLOW) if now.active else None
    st.fragment(_panel, run_every=interval)(run_id, interval)
    return now


def _panel(run_id: str, interval: float | None) -> None:
    now = status(run_id)
    _draw(now)
    if interval is None:
        return
    st.session_state[f"looks.{run_id}"] += 1
    # The whole page has to run for the polling to stop or to slow down.
    if not now.active or (interval == FAST and st.session_state[f"looks.{run_id}"] >= _FAST_LOOKS):
        st.rerun()


def _draw(now: RunStatus) -> None:
    st.caption(f"Run {now.run_id}")
    if now.active:
        text, button = st.columns([4, 1], vertical_alignment="center")
        share = f" ({now.fraction:.0%})" if now.fraction else ""
        text.progress(now.fraction, text=f"{_sentence(now.message)}{share}")
        button.button("Cancel", icon=":material/stop_circle:", on_click=cancel, args=(now.run_id,), width="stretch")
    elif now.state == "cancelled":
        st.warning("This run was cancelled.", icon=":material/stop_circle:")
    elif now.state != "done":
        st.error(_sentence(now.error or now.message), icon=":material/error:")
    with st.container(horizontal=True):
        for label, fraction, text in _by_method(now):
            st.progress(fraction, text=f"{label}: {text}", width=165)
    figure = charts.objective_curves(now.tasks)
    if figure:
        st.caption("Objective by iteration; lower is better. Scales differ between methods.")
        latest = ", ".join(f"{task.label} {task.objective:.4g}" for task in now.tasks if task.objective is not None)
        charts.draw(figure, "objective", f"Objective by iteration. Latest: {latest}")


def _sentence(message: str) -> str:
    return message[:1].upper() + message[1:]


def _by_method(now: RunStatus) -> list[tuple[str, float, str]]:
    """Per method the share of its work that is done, over all folds."""
    rows = []
    for label in dict.fromkeys(task.label for task in now.tasks):
        own = [task for task in now.tasks if task.label == label]
        parts = [1.0 if task.state == "done" else task.fraction for task in own]
        done = sum(task.state == "done" for task in own)
        rows.append((label, sum(parts) / len(parts), f"{done}/{len(own)}" if len(own) > 1 else own[0].state))
    return rows
