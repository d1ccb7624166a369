"""A run while it runs: polled from a fragment, so that only this part of the page is drawn anew."""

from __future__ import annotations

import time
from dataclasses import replace

import streamlit as st

from labseq_core.checks import LabSeqError
from labseq_core.experiments import (
    RunResult,
    RunStatus,
    TaskStatus,
    cancel,
    configuration,
    is_current,
    resume,
    status,
)
from labseq_core.experiments.run.live_accuracy import MOST_SEQUENCES, MOST_TOKENS
from pages.ui.choices.variant_names import short_names
from pages.ui.drawing import charts
from pages.ui.drawing.plain_text import in_markdown
from pages.ui.frame.errors import shown_errors
from pages.ui.train import live_charts

FAST, SLOW = 1.0, 2.5  # seconds between two looks
_FAST_FOR = 20.0  # seconds
_WAIT_FOR_CANCEL = 2.0  # seconds
_HELP = (
    f"Token accuracy of what a method has learned so far, on at most {MOST_SEQUENCES} sequences or {MOST_TOKENS:,} tokens "
    "that it is not trained on. It is measured about once a second and takes at most a twentieth of the training time; the "
    "last point is the finished model. The scores below are those of all sequences of the test part."
)


def follow(run_id: str) -> RunStatus:
    """Draw the run, again and again while it is active; gives its status at the time of the call."""
    now = status(run_id)
    interval = _interval(now)
    st.fragment(_panel, run_every=interval)(run_id, interval, _short_names(run_id))
    return now


def _short_names(run_id: str) -> dict[str, str]:
    """Of its variants. A run that uses something from outside which is not loaded now can be watched and cancelled too."""
    try:
        return short_names(configuration(run_id).methods)
    except LabSeqError:
        return {}


def _interval(now: RunStatus) -> float | None:
    """Seconds between two looks: at first things happen fast, and after the end nothing does."""
    if not now.active:
        return None
    return FAST if time.time() - now.created < _FAST_FOR else SLOW


def _panel(run_id: str, interval: float | None, names: dict[str, str]) -> None:
    now = status(run_id)
    now = replace(now, tasks=tuple(replace(task, label=names.get(task.label, task.label)) for task in now.tasks))
    _draw(now)
    if interval != _interval(now):
        st.rerun()  # the whole page has to run for the looks to stop or to become fewer


def _draw(now: RunStatus) -> None:
    st.caption(f"Run {now.run_id}")
    if now.active:
        text, button = st.columns([3, 1], vertical_alignment="center")
        share = f" ({now.fraction:.0%})" if now.fraction else ""
        text.progress(now.fraction, text=f"{_sentence(now.message)}{share}")
        button.button("Cancel", icon=":material/stop_circle:", on_click=_cancel, args=(now.run_id,), width="stretch")
    elif now.state != "done":
        what_is_left(now)
    with st.container(horizontal=True):
        for label, fraction, text in by_method(now):
            st.progress(fraction, text=f"{label}: {text}", width=165)
    if live_charts.iterates(now.tasks):
        _curves(now)


def _curves(now: RunStatus) -> None:
    """How objective and accuracy have gone so far; they stay when the run is over."""
    left, right = st.columns(2)
    with left:
        objectives = live_charts.latest_objectives(now.tasks)
        st.markdown("**Objective** (lower is better)")
        charts.draw(
            live_charts.objective_curves(now.tasks), "objective", f"Objective by iteration. Latest: {objectives}"
        )
        st.caption(f"Latest: {objectives}.")
    accuracies = live_charts.latest_accuracies(now.tasks)
    if not (accuracies or now.active):
        return  # made before accuracies were kept
    with right:
        st.markdown("**Accuracy** (higher is better)", help=_HELP)
        charts.draw(
            live_charts.accuracy_curves(now.tasks),
            "accuracy",
            f"Accuracy by iteration. Latest: {accuracies or 'none yet'}",
        )
        st.caption(f"Latest: {accuracies or 'not measured yet'}. {_held_out(now.tasks)}")


def _held_out(tasks: tuple[TaskStatus, ...]) -> str:
    """Where accuracies are measured. Without cross-validation all tasks are of the first fold."""
    return "On a sample of " + ("what each fold leaves out." if any(t.fold for t in tasks) else "the development part.")


def _cancel(run_id: str) -> None:
    """Stop a run, and wait a moment for it to stop: the page then says so at once, not at its next look."""
    cancel(run_id)
    give_up = time.monotonic() + _WAIT_FOR_CANCEL
    while status(run_id).active and time.monotonic() < give_up:
        time.sleep(0.05)


def what_is_left(now: RunStatus) -> None:
    """Of a run that is neither at work nor finished: why, and what was kept of it."""
    done = sum(task.state == "done" for task in now.tasks)
    kept = f"{done} of {len(now.tasks)} trainings are finished and kept." if done else "Nothing was finished yet."
    if now.state == "cancelled":
        st.warning(f"This run was cancelled. {kept}", icon=":material/stop_circle:")
    elif now.state == "dead":
        alone = f" {_sentence(now.left_alone)}." if now.left_alone else ""
        cause = f"This run was interrupted: the process that ran it has ended.{alone}"
        st.warning(f"{cause} {kept}", icon=":material/power_off:")
    elif now.state == "damaged":
        st.error(f"{_sentence(now.message)}.", icon=":material/error:")
    else:
        st.error(f"{_sentence(now.error or now.message).rstrip('.')}. {kept}", icon=":material/error:")


def go_on_button(run_id: str) -> str | None:
    """For a run that was interrupted, cancelled or has failed; gives the id under which it goes on."""
    if is_current(run_id):
        help_text = "It goes on where it was: what is finished is kept."
    else:
        help_text = "LabSeq has changed since it was begun: it is run again from the beginning, under another id."
    if st.button("Go on", type="primary", icon=":material/play_arrow:", help=help_text):
        with shown_errors():
            return resume(run_id)
    return None


def warn_of_failures(run: RunResult) -> None:
    """Methods that could not be trained, which no table or chart shows."""
    if run.failures:
        causes = "\n".join(f"- **{in_markdown(row['label'])}**: {in_markdown(row['error'])}" for row in run.failures)
        st.warning(f"Not in the numbers, because they could not be trained:\n{causes}", icon=":material/warning:")


def _sentence(message: str) -> str:
    return message[:1].upper() + message[1:]


def by_method(now: RunStatus) -> list[tuple[str, float, str]]:
    """Per method the share of its work that is done, over all folds and all values that a search tries."""
    rows = []
    for label in dict.fromkeys(task.label for task in now.tasks):
        own = [task for task in now.tasks if task.label == label]
        parts = [1.0 if task.state == "done" else task.fraction for task in own]
        rows.append((label, sum(parts) / len(parts), _state(own, now.active)))
    return rows


def _state(own: list[TaskStatus], active: bool) -> str:
    """How far one method is, in words."""
    if any(task.state == "failed" for task in own):
        return "failed"
    done = sum(task.state == "done" for task in own)
    if len(own) > 1:
        return f"{done} of {len(own)}"
    state = {"queued": "waiting", "done": "finished"}.get(own[0].state, own[0].state)
    return state if active or done else "stopped"
