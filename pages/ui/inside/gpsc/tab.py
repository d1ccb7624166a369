"""Inside, tab GPSC: how few coordinates a Gaussian process needs, and the certificate of the dense one (thesis chapter 5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import pandas as pd
import streamlit as st

from labseq_core.experiments import MethodChoice
from labseq_core.explain import (
    CERTIFICATE_COLUMNS,
    PATH_COLUMNS,
    certificate_rows,
    is_dense_gp,
    is_gp,
    is_sparse_gp,
    nearly_as_good,
    rows_csv,
    same_problem,
    sparse_path,
)
from pages.ui import cached as caching
from pages.ui.choices import links
from pages.ui.choices.registry import Inside
from pages.ui.choices.run import choose_run, shown_choices
from pages.ui.choices.variant_names import short_names
from pages.ui.drawing import charts
from pages.ui.drawing.downloads import csv_button
from pages.ui.inside.gpsc import charts as pictures
from pages.ui.inside.gpsc import gram_view as inside_gram
from pages.ui.inside.gpsc import words
from pages.ui.memory import FinishedRun

DEFAULT = "sparseness"
_PARTS = {"dev": "development part", "train": "training part"}


def tab() -> None:
    """The Gaussian processes of a run: sparse ones against the dense one, how that was fitted, and what they look at."""
    run = choose_run(is_gp, words.OTHERWISE, DEFAULT)
    if run is None:
        return
    st.markdown(words.INTRODUCTION)
    with st.expander("The words used here", icon=":material/menu_book:"):
        st.markdown(words.GLOSSARY)
    sparse = _named(run, is_sparse_gp, "sparse")
    dense = _named(run, is_dense_gp, "dense")
    if not sparse:
        st.info(words.NO_SPARSE, icon=":material/info:")
        links.go("Train a sparse one", "train", "model_training", dataset=run.config.dataset)
    views: dict[str, Callable[[], None]] = {}
    if sparse:
        views["Sparseness"] = partial(_sparseness, run, sparse, dense)
    if dense:
        views["Fit"] = partial(_certificate, run, dense)
    views["Who decides"] = partial(inside_gram.influence, run, {**dense, **sparse})
    views["Gram matrix"] = partial(inside_gram.gram, run, {**dense, **sparse})
    views[Inside.gpsc.buttons("Show", list(views), help=words.VIEWS)]()


def _named(run: FinishedRun, kind, what: str) -> dict[str, str]:
    """Labels of the models of a kind, by a short name for the charts."""
    choices = shown_choices(run, kind)
    short = short_names(choices)
    return {_name(choice, short, what, len(choices)): choice.label for choice in choices}


def _name(choice: MethodChoice, short: Mapping[str, str], what: str, several: int) -> str:
    return f"{what}: {short[choice.label]}" if several > 1 else what


def _sparseness(run: FinishedRun, sparse: Mapping[str, str], dense: Mapping[str, str]) -> None:
    st.header("Accuracy against sparseness")
    paths = {name: sparse_path(caching.trained(run, label)) for name, label in sparse.items()}
    part = "dev" if all(rows[-1]["dev_accuracy"] is not None for rows in paths.values()) else "train"
    score = f"{part}_accuracy"
    lines = {name: caching.accuracy_on(run, label, part) for name, label in dense.items()}
    if part == "train":
        st.info(words.NO_DEVELOPMENT, icon=":material/info:")
    axis = Inside.across.buttons("Across", list(pictures.AXES), help=words.AXIS)
    left, right = st.columns(2, gap="large")
    with left:
        st.caption(words.ACCURACY)
        figure = pictures.against_sparseness(paths, axis, score, f"accuracy, {_PARTS[part]}", lines, "%")
        charts.draw(figure, "sparseness", pictures.sparseness_text("Accuracy", paths, score, lines))
    with right:
        st.caption(words.OBJECTIVE)
        lowest = _comparable_objectives(run, sparse, dense)
        figure = pictures.against_sparseness(paths, axis, "objective", "objective", lowest)
        charts.draw(figure, "objective", pictures.sparseness_text("Objective", paths, "objective", lowest))
    if lines:
        near = [(name, rows, value) for value in list(lines.values())[:1] for name, rows in paths.items()]
        sentences = [
            words.enough(name, nearly_as_good(rows, value, score, words.WITHIN), value, _PARTS[part], words.WITHIN)
            for name, rows, value in near
        ]
        st.markdown("\n".join(sentences))
    else:
        st.caption(words.NO_DENSE)
    st.subheader("At the end of the way")
    ends = _ends(run, {**dense, **sparse}, paths)
    st.table(_written(ends))
    csv_button("This table as CSV", ends, "ends", run)
    st.markdown("\n".join(words.sparse_line(name, caching.trained(run, label)) for name, label in sparse.items()))
    nothing = dict.fromkeys(PATH_COLUMNS)
    across = {name: [{**nothing, score: lines[name], "objective": lowest.get(name)}] for name in lines}
    csv_button(
        "The whole way as CSV", partial(rows_csv, {**paths, **across}, PATH_COLUMNS), "path", run, main=True,
        help_text="Coordinates, % parameters, objective, accuracies, % observations touched, label pairs per observation.",
    )  # fmt: skip


def _comparable_objectives(run: FinishedRun, sparse: Mapping[str, str], dense: Mapping[str, str]) -> dict[str, float]:
    """Objectives of dense models that solve the problem of every sparse one."""
    others = [caching.trained(run, label) for label in sparse.values()]
    models = {name: caching.trained(run, label) for name, label in dense.items()}
    return {
        name: model.objective_ for name, model in models.items() if all(same_problem(model, other) for other in others)
    }


def _ends(run: FinishedRun, labels: Mapping[str, str], paths: Mapping[str, list[dict]]) -> list[dict]:
    """A row per model: accuracy on the test part, and of the sparse ones what they consist of."""
    tested = {row["label"]: row for row in run.summary()}
    rows = []
    for name, label in labels.items():
        last = paths[name][-1] if name in paths else {}
        means = {each: tested[label][f"{each}_mean"] for each in ("accuracy", "n_parameters", "predict_seconds")}
        consists_of = {each: last.get(each) for each in ("fraction", "observations", "pairs_per_observation")}
        rows.append({"name": name, "model": label, **means, **consists_of})
    return rows


def _written(ends: list[dict]) -> pd.DataFrame:
    """The same as it stands on the page."""

    def share(value: float | None) -> str:
        return "all" if value is None else f"{value:.1%}"

    rows = {
        row["name"]: {
            "Test accuracy": f"{row['accuracy']:.4f}",
            "% parameters": share(row["fraction"]),
            "% observations touched": share(row["observations"]),
            "Label pairs per observation": f"{row['pairs_per_observation']:.2f}"
            if row["pairs_per_observation"]
            else "–",
            "Coefficients": f"{row['n_parameters']:,.0f}",
            "Prediction": f"{1000 * row['predict_seconds']:.0f}\u00a0ms",
        }
        for row in ends
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("Model")


def _certificate(run: FinishedRun, dense: Mapping[str, str]) -> None:
    st.header("How the dense model was fitted")
    rows = {name: certificate_rows(caching.trained(run, label)) for name, label in dense.items()}
    for name, label in dense.items():
        line = words.certificate_line(caching.trained(run, label))
        st.markdown(f"**{name}**: {line}" if len(dense) > 1 else line)
    st.caption(words.CERTIFICATE)
    charts.draw(pictures.certificate(rows), "certificate", pictures.certificate_text(rows))
    csv_button("These numbers as CSV", partial(rows_csv, rows, CERTIFICATE_COLUMNS), "certificate", run)
