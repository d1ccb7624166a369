"""Inside, tab Boosting: what was chosen round by round, and the bounds by which it was chosen (thesis chapter 3)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import pandas as pd
import streamlit as st

from labseq_core import LabSeqError
from labseq_core.csv_text import table_csv
from labseq_core.explain import has_rounds, largest_weights, repeated_features, rounds_csv
from pages.ui import cached as caching
from pages.ui.choices.registry import Inside
from pages.ui.choices.run import choose_run, shown_choices
from pages.ui.choices.variant_names import short_names
from pages.ui.drawing import charts
from pages.ui.drawing.downloads import csv_button
from pages.ui.drawing.plain_text import in_markdown
from pages.ui.inside.boosting import charts as pictures
from pages.ui.inside.boosting import replay, words
from pages.ui.memory import FinishedRun, cache_shared

_FIRST_SEEN = 20  # rounds
_DIFFERENT = 0.95
_ROWS_SHOWN = 1000
_COMPARED = 100  # rounds, as in the thesis
_WEIGHTS_SHOWN = 12
_NUMBERS = {
    "step": st.column_config.NumberColumn(format="%+.3f", help=words.STEP),
    "pseudo_accuracy": st.column_config.NumberColumn("pseudo-accuracy", format="%.3f", help=words.PSEUDO_ACCURACY),
    "bound": st.column_config.NumberColumn(format="%.4f", help=words.BOUND),
    "z": st.column_config.NumberColumn("Z", format="%.4f", help=words.Z),
    "loss": st.column_config.NumberColumn(format="%.3e", help=words.LOSS),
    "dev_accuracy": st.column_config.NumberColumn("dev accuracy", format="%.4f", help=words.DEVELOPMENT),
    "dev_f1": st.column_config.NumberColumn("dev F1", format="%.4f", help=words.DEVELOPMENT),
}


def tab() -> None:
    """The boosting models of a run: one of them round by round, or all side by side."""
    run = choose_run(has_rounds, words.OTHERWISE)
    if run is None:
        return
    names = short_names(shown_choices(run, has_rounds))
    st.markdown(words.INTRODUCTION)
    with st.expander("The words used here", icon=":material/menu_book:"):
        st.markdown(words.GLOSSARY)
    of_one = {"Round by round": _replay, "Bounds": _bounds}
    of_all = {"Losses": _curves, "Chosen again": _repeated}
    with st.container(horizontal=True, gap="large"):
        name = Inside.boosted.buttons("Model", list(names.values()), list(names.values())[-1], help=words.MODEL)
        view = Inside.boosting.buttons("Show", [*of_one, *of_all], help=words.VIEWS)
    label = next(label for label, short in names.items() if short == name)
    if not caching.rounds(run, label):
        reason = caching.trained(run, label).stop_reason_
        st.info(f"This model has no rounds to show: {in_markdown(reason)}. Choose another one.")
        return
    if view in of_one:
        of_one[view](run, label)
    else:
        of_all[view](run, {label: short for label, short in names.items() if caching.rounds(run, label)})


def _replay(run: FinishedRun, label: str) -> None:
    """What was chosen until a round."""
    st.header("Round by round")
    learner, rows = caching.trained(run, label), caching.rounds(run, label)
    number = _chosen_round(rows)
    steps, weights = st.columns([3, 2], gap="large")
    with steps:
        st.subheader("Every step")
        charts.draw(pictures.steps_by_round(rows, number), "steps", pictures.steps_text(rows, number))
    with weights:
        st.subheader("The weights so far")
        top = largest_weights(learner, number, _WEIGHTS_SHOWN)
        bars = [{"attribute": row["feature"], "weight": row["weight"]} for row in top]
        charts.draw(charts.weight_bars(bars), "boosted-weights", charts.weight_text("the model", bars))
        st.caption(words.weights_line(number, learner, rows))
        csv_button("These weights as CSV", top, "boosted-weights", run, label, {"after_round": number})
    st.subheader(f"Chosen until round {number}, newest first")
    columns = ["round", "feature", *(key for key in _NUMBERS if rows[0][key] is not None)]
    table = pd.DataFrame(rows[max(0, number - _ROWS_SHOWN) : number][::-1])[columns]
    st.dataframe(table, hide_index=True, height=min(360, 35 * number + 38), column_config=_NUMBERS)
    help_text = "Every round of this model with full precision."
    csv_button("All rounds as CSV", partial(rounds_csv, learner), "rounds", run, label, main=True, help_text=help_text)


def _chosen_round(rows: list[dict]) -> int:
    """The same round in every view, and what it did."""
    slider, play = st.columns([5, 1], vertical_alignment="bottom")
    with slider:
        number = Inside.round.choose("Round", 1, len(rows), _first_seen(rows), st.slider, help=words.SLIDER)
    with play:
        playing = replay.switch(number, len(rows))
    st.markdown(words.round_line(rows[number - 1], len(rows)))
    if playing:
        replay.go_on(number, len(rows))
    return number


def _first_seen(rows: list[dict]) -> int:
    """A round to begin with: an early one, since later only rare words are left, at which bound and loss differ."""
    early = rows[:_FIRST_SEEN]
    return max((row["round"] for row in early if row["z"] < _DIFFERENT * row["bound"]), default=len(early))


def _bounds(run: FinishedRun, label: str) -> None:
    st.header("How far to step: the loss and its bounds")
    rows = caching.rounds(run, label)
    row = rows[_chosen_round(rows) - 1]
    st.markdown(words.BOUND_PICTURE)
    chosen = f"{run.run_id} {label} {row['round']}"
    tokens = caching.training_tokens(run)
    asked = {"button": "Draw it for this round", "icon": ":material/show_chart:", "note": words.large(tokens)}
    if tokens > caching.QUICK_TOKENS and not Inside.drawn.asked(chosen, **asked):
        return
    try:
        curves = caching.bounds_of_round(run, label, row["round"])
    except LabSeqError as reason:
        st.info(f"There is no picture of this round: {reason}.")
        return
    figure = pictures.bound_picture(curves, row["step"])
    charts.draw(figure, "bounds", pictures.bound_text(curves, row["feature"], row["step"]))
    st.caption(words.bounds_line(row, curves["minimisers"]))
    lines = {"step": curves["step"], **{name: curves[bound] for bound, name in pictures.BOUNDS.items()}}
    best = {f"best step by the {name}": curves["minimisers"][bound] for bound, name in pictures.BOUNDS.items()}
    about = {"round": row["round"], "step_taken": row["step"], **best}
    csv_button("These bounds as CSV", pd.DataFrame(lines), "bounds", run, label, about)


def _curves(run: FinishedRun, names: Mapping[str, str]) -> None:
    rounds = {short: caching.rounds(run, label) for label, short in names.items()}
    score, title = words.development_score(rounds)
    losses, development, promised = _curve_figures(run, names, score)
    st.header("How fast the loss falls")
    # Captions differ in length: charts side by side have one bottom line.
    left, right = st.columns(2, gap="large", vertical_alignment="bottom" if development else "top")
    with left:
        st.caption(words.LOSS_CURVES)
        charts.draw(losses, "losses", pictures.curves_text("Training loss", rounds, "loss"))
    with right:
        if development:
            st.caption(f"{title} on the development part, which training never sees; higher is better.")
            alt = pictures.curves_text(f"{title} on the development part", rounds, score)
            charts.draw(development, "development", alt)
        else:
            st.info(words.NO_DEVELOPMENT)
    st.markdown(words.PROMISED)
    charts.draw(
        promised, "promised", "Per model the loss by round, and what the bounds promised of it, which is never less"
    )
    csv_button("These curves as CSV", lambda **about: _curves_csv(run, names, about), "curves", run)


def _curves_csv(run: FinishedRun, names: Mapping[str, str], about: Mapping[str, object]) -> str:
    """Loss, promise and scores on development data after each round, of every model."""
    return table_csv(
        [
            {**about, "model": label, "round": row["round"], "log_loss": row["log_loss"], "log_loss_promised": promise,
             "dev_accuracy": row["dev_accuracy"], "dev_f1": row["dev_f1"]}
            for label in names
            for row, promise in zip(caching.rounds(run, label), caching.promised(run, label))
        ]
    )  # fmt: skip


@cache_shared(max_entries=8, show_spinner=False)
def _curve_figures(run: FinishedRun, names: dict[str, str], score: str | None) -> tuple:
    """Losses, scores on development data (None without a score) and promises by round: what no slider changes."""
    rounds = {short: pictures.thinned(caching.rounds(run, label)) for label, short in names.items()}
    promised = {short: pictures.thinned(caching.promised(run, label)) for label, short in names.items()}
    development = pictures.development_curves(rounds, score) if score else None
    one_method = len({type(caching.trained(run, label)) for label in names}) == 1
    return pictures.loss_curves(rounds), development, pictures.promised_and_kept(rounds, promised, one_method)


def _repeated(run: FinishedRun, names: Mapping[str, str]) -> None:
    st.header("Chosen more than once")
    models = {short: caching.trained(run, label) for label, short in names.items()}
    longest = max(learner.n_rounds_ for learner in models.values())
    first = Inside.first.choose(
        "In the first rounds", 1, longest, min(_COMPARED, longest), width=180,
        help="How many rounds of each model are looked at; the thesis looks at 100.",
    )  # fmt: skip
    st.markdown(words.REPEATED)
    rows = repeated_features(models, first)
    if not rows:
        st.info("No model has chosen a feature twice in so few rounds: look at more.")
        return
    table = pd.DataFrame(rows)
    st.dataframe(table, hide_index=True)
    csv_button("This table as CSV", table, "repeated", run, more={"first_rounds": first})
