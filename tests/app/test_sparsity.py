"""Compare, tab Sparsity: marks are the variants, lines end at them, and the table says what shares are of."""

from __future__ import annotations

import json

import pytest

from labseq_core.experiments import ExperimentConfig, FeatureChoice, MethodChoice, model, result
from labseq_core.explain import share_path
from pages.ui.choices.variant_names import short_names
from pages.ui.drawing import metrics
from tests.app.conftest import problems, text
from tests.experiments.runs import trained_here


def drawn(app) -> tuple[dict[str, dict], list[dict]]:
    """Marks by name, and lines."""
    (chart,) = app.get("plotly_chart")
    traces = json.loads(chart.proto.spec)["data"]
    marks = {trace["name"].replace("<br>", ""): trace for trace in traces if trace["mode"] == "markers"}
    return marks, [trace for trace in traces if trace["mode"] == "lines"]


@pytest.mark.parametrize(
    ("run_id", "metric", "lines"),
    [
        ("default:boosting", "dev_accuracy", 3), ("default:sparseness", "dev_accuracy", 3),
        ("default:l1-path", "dev_accuracy", 1), ("default:spanish-ner", "accuracy", 0),
    ],
)  # fmt: skip
def test_marks_are_variants_and_lines_end_at_them(open_page, run_id, metric, lines):
    app, run = open_page("compare", run=run_id, view="Sparsity"), result(run_id)
    assert problems(app) == []
    assert app.selectbox(key="quality").value == metric
    marks, paths = drawn(app)
    names, table = short_names(run.config.methods), app.table[0].value
    assert len(paths) == lines
    for row in run.summary():
        mark = marks[names[row["label"]]]
        assert (mark["x"], mark["y"]) == ([row["used_share_mean"]], [row[f"{metric}_mean"]])
        assert table.loc[names[row["label"]], "of"] == row["used_of"]
        assert table.loc[names[row["label"]], "Share used"] == f"{row['used_share_mean']:.2%}"
        for path in paths:
            if path.get("legendgroup") == row["label"]:
                steps = share_path(model(run_id, row["label"]))
                assert path["x"] == [step["share"] for step in steps]
                assert (path["x"][-1], path["y"][-1]) == pytest.approx((mark["x"][0], mark["y"][0]))
    if run_id == "default:l1-path":
        (path,) = paths
        assert path["x"] == [row["used_share_mean"] for row in run.summary()], "from many weights to few"
        assert "differ in `l1` only" in text(app)


def test_another_metric_has_marks_only(open_page):
    app = open_page("compare", run="default:boosting", view="Sparsity", quality="span_f1")
    assert problems(app) == []
    marks, paths = drawn(app)
    assert [mark["y"][0] for mark in marks.values()] == [
        row["span_f1_mean"] for row in result("default:boosting").summary()
    ]
    assert paths == []
    assert "known on the development set: choose that metric" in text(app)


def test_counts_and_empty_models_are_said(open_page, monkeypatch, tmp_path):
    monkeypatch.setenv("LABSEQ_STORE", str(tmp_path / "runs.sqlite"))
    empty, counts = MethodChoice("crf", {"l1": 1e5}), MethodChoice("hmm")
    run_id = trained_here(ExperimentConfig("toy-pos", (empty, counts), FeatureChoice("S1"), sequences=20))
    app = open_page("compare", run=run_id, view="Sparsity")
    assert problems(app) == []
    marks, _ = drawn(app)
    assert list(marks) == ["HMM"], "0 has no place on a logarithmic axis"
    assert "Not drawn, since a logarithmic axis has no 0: CRF, which used nothing." in text(app)
    table = app.table[0].value
    assert table.loc["HMM", ["Share used", "of"]].tolist() == ["100.00%", "parameters"]
    assert table.loc["CRF", ["Share used", "of"]].tolist() == ["0.00%", "features"]


def test_parameters_that_are_not_used_are_told_from_those_that_are():
    found = {row["label"]: row for name in ("boosting", "sparseness") for row in result(f"default:{name}").summary()}
    for label, row in found.items():
        run_id = "default:boosting" if label.startswith("Sequence boosting") else "default:sparseness"
        learner = model(run_id, label)
        expected = f"{learner.n_parameters_:,}"
        if run_id == "default:boosting":
            expected = f"{learner.n_selected_:,} of {expected}"
        assert metrics.summary_table([row]).loc[label, "Parameters"] == expected
