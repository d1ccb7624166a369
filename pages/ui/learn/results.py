"""Pictures of those lessons that show results which come with LabSeq, with their sentences and their numbers as CSV."""

from __future__ import annotations

from functools import partial

import streamlit as st

from labseq_core.evaluation import coverage_table, curves_csv
from labseq_core.experiments.plan.decoding_words import decoding_line
from labseq_core.experiments.results.l1_path import l1_paths
from labseq_core.explain import PATH_COLUMNS, is_dense_gp, is_sparse_gp, nearly_as_good, rows_csv, sizes_by_round
from labseq_core.explain import sparse_path as path_of
from pages.ui import cached as caching
from pages.ui.abstain import charts as abstention_charts
from pages.ui.abstain import words as abstention_words
from pages.ui.choices.registry import Learn
from pages.ui.choices.run import shown_choices
from pages.ui.choices.variant_names import short_names
from pages.ui.drawing import charts, metrics
from pages.ui.drawing.downloads import csv_button
from pages.ui.inside.gpsc import charts as gpsc_charts
from pages.ui.inside.gpsc import words as gpsc_words
from pages.ui.inside.gpsc.words import WITHIN
from pages.ui.learn import charts as lesson_charts
from pages.ui.learn import words
from pages.ui.memory import FinishedRun

_EARLY = 50  # rounds of boosting: a round that the question is about


def sizes() -> None:
    boosting, sparse = caching.defaults().get("boosting"), caching.defaults().get("l1-path")
    if boosting is None or sparse is None:
        st.info(words.MISSING, icon=":material/info:")
        return
    label = boosting.config.methods[-1].label  # the exact bound, which is the quickest
    boosted = sizes_by_round(caching.trained(boosting, label))
    path = sorted(next(iter(l1_paths(sparse).values())), key=lambda row: row["nonzero"])
    lines = {
        "Boosting, round by round": [(row["features"], 1.0 - row["dev_accuracy"]) for row in boosted],
        "CRF, with more and more L1": [(row["nonzero"], 1.0 - row["dev_accuracy"]) for row in path],
    }
    charts.draw(lesson_charts.size_picture(lines), "few-weights", lesson_charts.size_text(lines))
    st.markdown(words.sizes(boosted, path, _EARLY))
    _corpus(boosting)
    rows = [{**boosting.about(), "model": label, **row} for row in boosted]
    rows += [
        {**sparse.about(), "model": f"CRF (l1={row['l1']:g})", "features": row["nonzero"],
         "dev_accuracy": row["dev_accuracy"]}
        for row in path
    ]  # fmt: skip
    csv_button("These numbers as CSV", [{**row, "dev_wrong": 1.0 - row["dev_accuracy"]} for row in rows], "few-weights")


def kernels() -> None:
    run = caching.defaults().get("parity")
    if run is None:
        st.info(words.MISSING, icon=":material/info:")
        return
    summary, bayes = run.summary(), caching.bayes_accuracies(run.config)
    charts.draw(charts.score_bars(summary, bayes), "kernels", charts.score_text(summary, bayes))
    names = short_names(run.config.methods)
    linear = next(choice.label for choice in run.config.methods if choice.method == "crf")
    counts = [row["support"] for row in run.per_label[linear]]
    accuracies = {names[row["label"]]: row["accuracy_mean"] for row in summary}
    st.markdown(words.kernels(accuracies, names[linear], max(counts) / sum(counts)))
    st.caption(f"{decoding_line(run.config.methods, names)} {metrics.bayes_words(bayes)}")
    _corpus(run)
    csv_button("These numbers as CSV", summary, "kernels", run)


def sparse_path() -> None:
    run = caching.defaults().get("sparseness")
    if run is None:
        st.info(words.MISSING, icon=":material/info:")
        return
    choices = shown_choices(run, is_sparse_gp)
    names = short_names(choices)
    paths = {names[choice.label]: path_of(caching.trained(run, choice.label)) for choice in choices}
    dense = {"all observations": caching.accuracy_on(run, shown_choices(run, is_dense_gp)[0].label, "dev")}
    figure = gpsc_charts.against_sparseness(
        paths, "parameters", "dev_accuracy", "accuracy, development part", dense, "%"
    )
    charts.draw(figure, "sparseness", gpsc_charts.sparseness_text("Accuracy", paths, "dev_accuracy", dense))
    value = dense["all observations"]
    st.markdown(
        "\n".join(
            gpsc_words.enough(name, nearly_as_good(rows, value, "dev_accuracy", WITHIN), value, "development part", WITHIN)
            for name, rows in paths.items()
        )
    )  # fmt: skip
    _corpus(run)
    csv_button("These numbers as CSV", partial(rows_csv, paths, PATH_COLUMNS), "path", run)


def coverage() -> None:
    run = caching.defaults().get("abstention")
    if run is None:
        st.info(words.MISSING, icon=":material/info:")
        return
    share = Learn.answered.choose("Answered, in %", 50, 100, 85, st.slider, help=words.ANSWERED)
    curves = {}
    for label, name in short_names(run.config.methods).items():
        curve = caching.abstention(run, label)
        curves[name if curve.calibrated else abstention_words.gap_name(name)] = curve
    rows = coverage_table(curves, [share / 100])
    alt = abstention_charts.curve_text("Risk against coverage", rows, "coverage", "risk")
    charts.draw(abstention_charts.risk_coverage(curves, rows), "coverage", alt)
    st.markdown("\n".join(f"- {abstention_words.gain(row)}" for row in rows))
    _corpus(run)
    csv_button("This table as CSV", rows, "at-coverage", run)
    csv_button("These curves as CSV", partial(curves_csv, curves), "abstention", run)


def _corpus(run: FinishedRun) -> None:
    st.caption(caching.default_line(run))
