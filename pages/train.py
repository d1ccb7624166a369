"""Train: choose, start, watch."""

import streamlit as st

from labseq_core.experiments import ExperimentConfig, FeatureChoice, submit
from labseq_core.experiments.plan.cost import expected_cost
from pages.ui import cached as caching
from pages.ui.choices import corpus as corpus_choice
from pages.ui.choices import links
from pages.ui.choices.registry import Train
from pages.ui.choices.variant_names import short_summary
from pages.ui.drawing import charts
from pages.ui.drawing.downloads import csv_button
from pages.ui.drawing.imported import imported_mark
from pages.ui.drawing.metrics import bayes_words, score_table
from pages.ui.drawing.plain_text import in_markdown
from pages.ui.frame import preparing
from pages.ui.frame.errors import shown_errors
from pages.ui.frame.navigation import begin_page
from pages.ui.memory import FinishedRun
from pages.ui.train import cost_words, forms, live_charts, old_links, run_panel, variant_list
from pages.ui.train.recipe import recipe


def choose() -> ExperimentConfig | None:
    """What the form says; None, with a message, where that cannot be run."""
    info = corpus_choice.choose_corpus()
    columns = caching.usable_columns(info)
    variants = variant_list.variant_form(columns)
    features = forms.feature_form(columns)
    split = forms.split_form(info)
    if not info.available:
        st.info("This corpus is not on this machine yet: download it on the Data page.", icon=":material/download:")
        st.page_link("pages/data.py", label="Download it", icon=":material/database:")
        return None
    with shown_errors():
        checked = FeatureChoice(**features)
        return ExperimentConfig(info.name, variants, checked, **split) if variants else None
    return None


def cost(config: ExperimentConfig) -> None:
    """What the click would cost."""
    if caching.is_answered(config):
        st.caption("Expected: at once. This run is in the store already.")
        return
    with shown_errors(), preparing.part_of_page("the estimated time"):
        st.caption(cost_words.expected(expected_cost(config)), help=cost_words.HELP)


def start(config: ExperimentConfig) -> None:
    with shown_errors():
        Train.job.change(submit(config))


def watch(run_id: str) -> None:
    st.header("This run")
    now = run_panel.follow(run_id)
    if now.resumable:
        goes_on_as = run_panel.go_on_button(run_id)
        if goes_on_as:
            Train.job.change(goes_on_as)
            st.rerun()
    if now.state != "done":
        return
    st.caption(in_markdown(caching.run_line(run_id)))
    run = caching.finished(run_id)
    imported_mark(run)
    run_panel.warn_of_failures(run)
    st.success("Finished.", icon=":material/check_circle:")
    links.go("Compare in detail", "compare", "bar_chart", main=True, run=run_id)
    scores(run)
    curves = live_charts.curve_rows(now.tasks)
    if curves:
        csv_button("Objectives and accuracies as CSV", curves, "iterations", run)


def scores(run: FinishedRun) -> None:
    summary, bayes = short_summary(run), caching.bayes_accuracies(run.config)
    charts.draw(charts.score_bars(summary, bayes), "scores", charts.score_text(summary, bayes))
    score_table(run)
    if bayes:
        st.caption(bayes_words(bayes))
    csv_button("These scores as CSV", run.summary(), "summary", run)


def expect(dataset: str) -> None:
    """Something to look at before the first run: what came out for this corpus elsewhere."""
    known = caching.corpus_defaults().get(dataset)
    if known:
        st.header("What to expect")
        st.caption(caching.default_line(known))
        scores(known)


def recent() -> None:
    st.header("Recent runs")
    runs = caching.recent_runs()
    if runs:
        st.dataframe(
            runs, hide_index=True, column_config={"progress": st.column_config.ProgressColumn(format="percent")}
        )
        links.go("All runs", "history", "history")
    else:
        st.markdown("None yet. The choices as they are take a few seconds: press **Start training** or **Ctrl+Enter**.")


begin_page("train")
old_links.translate()
st.title("Train")
left, right = st.columns([2, 3], gap="large")
with left:
    config = choose()
    if config:
        cost(config)
    if st.button("Start training", type="primary", shortcut="Ctrl+Enter", disabled=config is None, width="stretch"):
        start(config)
with right:
    run_id = Train.job.text
    if run_id:
        with shown_errors():
            watch(run_id)
    else:
        recent()
        if config:
            expect(config.dataset)
    if config:
        st.header("The same elsewhere")
        recipe(config, links.permalink(Train.job.name))
