"""The metrics that pages show: definitions, and tables of them."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd
import streamlit as st

from labseq_core.evaluation.metric import Metric
from labseq_core.evaluation.registry import METRICS
from labseq_core.experiments import RunResult
from labseq_core.experiments.plan.decoding_words import DECODING_TITLES, decoding_line
from pages.ui.choices.variant_names import short_names, short_summary


def always_shown() -> list[Metric]:
    """The metrics of every table of scores."""
    return [metric for metric in METRICS.values() if metric.shown == "always"]


def shown_metrics(summary: list[dict]) -> list[Metric]:
    """Those of them that exist for every method: spans only where labels are BIO."""
    return [metric for metric in always_shown() if all(row[f"{metric.name}_mean"] is not None for row in summary)]


def definitions(summary: list[dict]) -> str:
    """What the shown numbers mean, as Markdown."""
    lines = [f"- **{metric.title}**: {metric.meaning}." for metric in shown_metrics(summary)]
    if any(row["folds"] > 1 for row in summary):
        lines.append("- **±**: standard error of the mean over the folds of cross-validation.")
    else:
        lines.append(
            "- One split into train and test part: no standard error. Choose folds on the Train page to get one."
        )
    return "\n".join(lines)


def summary_table(summary: list[dict], whole: bool = False) -> pd.DataFrame:
    """Mean ± standard error of each metric, training time and size, one row per method; `whole`: parts of F1 too."""
    wanted = always_shown() + [metric for metric in METRICS.values() if whole and metric.shown == "table"]
    columns = [metric for metric in wanted if any(row[f"{metric.name}_mean"] is not None for row in summary)]
    rows = {
        row["label"]: {
            **{
                metric.title: mean_and_error(metric, row[f"{metric.name}_mean"], row[f"{metric.name}_se"])
                for metric in columns
            },
            "Training": f"{row['train_seconds_mean']:.2f}\u00a0s",
            "Parameters": parameters(row),
        }
        for row in summary
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("Method")


def parameters(row: dict) -> str:
    """How many numbers a model has; where weights of features can be 0, how many are not, of all. row: of a summary."""
    every, used = f"{row['n_parameters_mean']:,.0f}", f"{row['n_used_mean']:,.0f}"
    return every if used == every else f"{used} of {every}"


def score_table(run: RunResult) -> None:
    """The same of a run on the page, with how its labels were decoded."""
    st.table(summary_table(short_summary(run)))
    st.caption(decoding_line(run.config.methods, short_names(run.config.methods)))


def bayes_words(bayes: Mapping[str, float]) -> str:
    """What the dashed lines of `score_bars` are. bayes: by decoding; empty: there are none."""
    if not bayes:
        return ""
    named = " and ".join(f"by {DECODING_TITLES[decoding]} ({value:.1%})" for decoding, value in bayes.items())
    lines = "Dashed: what" if len(bayes) == 1 else "Dashed and dotted: what"
    return f"{lines} the true distribution, from which the corpus was drawn, gets on the test set, decoded {named}."


def mean_and_error(metric: Metric, mean: float | None, error: float | None) -> str:
    return metric.written(mean) + ("" if error is None else f" ±\u00a0{metric.written(error)}")


def fold_table(run: RunResult) -> pd.DataFrame:
    """The rows of the CSV, for a table that rounds on screen only."""
    return pd.DataFrame(run.rows).drop(columns=["run_id", "config_hash", "dataset", "features", "seed", "method"])


def search_table(run: RunResult) -> pd.DataFrame:
    """What searches tried, best first within each method and fold."""
    table = pd.DataFrame(run.searches).sort_values(["label", "fold", "score"], ascending=[True, True, False])
    table["fold"] += 1
    return table


def column_formats() -> dict:
    """Scores rounded on screen, whole underneath."""
    scores = [*(metric.name for metric in METRICS.values() if metric.share), "precision", "recall", "f1", "score"]
    return {name: st.column_config.NumberColumn(format="%.4f") for name in scores}


def who_leads(summary: list[dict]) -> str:
    """Which methods have the best token accuracy; those within two standard errors of the best are not told apart."""
    best = max(summary, key=lambda row: row["accuracy_mean"])

    def close(row: dict) -> bool:
        error = math.hypot(best["accuracy_se"] or 0.0, row["accuracy_se"] or 0.0)
        return best["accuracy_mean"] - row["accuracy_mean"] <= 2 * error

    leaders = [f"**{row['label']}**" for row in summary if close(row)]
    if len(leaders) == len(summary) > 1:
        return "No method is clearly ahead."
    return f"{leaders[0]} is ahead." if len(leaders) == 1 else f"{' and '.join(leaders)} are ahead, about equal."


def all_labels(run: RunResult) -> list[str]:
    """Every label that was true or predicted in a run."""
    return sorted({row["label"] for rows in run.per_label.values() for row in rows})


def most_telling(examples: list[dict]) -> int:
    """The place of the example on which the methods differ most, short ones first among equals."""

    def interest(place: int) -> tuple[int, int]:
        example = examples[place]
        columns = zip(example["truth"], *example["predictions"].values())
        return sum(len(set(labels)) > 1 for labels in columns), -len(example["tokens"])

    short = [place for place, example in enumerate(examples) if len(example["tokens"]) <= 14] or range(len(examples))
    return max(short, key=interest)


def weight_line(summary: dict, log_probabilities: bool) -> str:
    """How large a model is, and how much of it is exactly zero."""
    if log_probabilities:
        return f"**{summary['attributes']:,}** words, **{summary['parameters']:,}** probabilities with those of transitions."
    return (
        f"**{summary['attributes']:,}** attributes, **{summary['parameters']:,}** weights with those of transitions; "
        f"**{summary['zero']:,}** of them ({summary['share_zero']:.1%}) are exactly zero."
    )
