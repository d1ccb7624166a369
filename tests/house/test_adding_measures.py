"""A metric, corpus, file format and feature template from outside the tree are like any other: the README's example in
commands, in runs and on pages; and the README lists all that there are.
"""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from labseq_core.checks import LabSeqError
from labseq_core.data.catalogue import CORPORA
from labseq_core.data.formats.registry import FORMATS
from labseq_core.evaluation import evaluate
from labseq_core.evaluation import registry as tested
from labseq_core.evaluation.label_pairs import pair_up
from labseq_core.evaluation.metric import ROW, Metric
from labseq_core.evaluation.registry import METRICS
from labseq_core.experiments import MethodChoice
from labseq_core.experiments.results.collecting import collect
from labseq_core.experiments.results.run_results import RunResult
from labseq_core.features import TEMPLATES
from tests.conftest import REPOSITORY
from tests.experiments.runs import outcomes_here, quick
from tests.outside import added

SECONDS = 180  # a loaded machine
SLASHES = "the/DET dog/NOUN barks/VERB\na/DET cat/NOUN\n"
ONE = quick(folds=0, methods=(MethodChoice("hmm"),))
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def own(tmp_path_factory) -> Path:
    """The example, as the README prints it."""
    section = README.partition("## A metric, corpus, file format or feature template of your own")[2]
    file = tmp_path_factory.mktemp("outside") / "own.py"
    file.write_text(re.search(r"```python\n(.*?)```", section, re.DOTALL)[1], encoding="utf-8")
    return file


def python(*words: str, place: Path, **more: str) -> subprocess.CompletedProcess:
    environment = {**os.environ, "LABSEQ_STORE": str(place / "runs.sqlite"), "PYTHONPATH": str(REPOSITORY), **more}
    return subprocess.run(
        [sys.executable, "-W", "ignore", *words], cwd=REPOSITORY, env=environment, capture_output=True, text=True,
        timeout=SECONDS,
    )  # fmt: skip


def test_they_are_compared_and_written(own, tmp_path):
    words = ["--with", str(own), "compare", "--dataset", "dice", "--features", "shape", "--methods", "hmm,naive-bayes"]
    words += ["--metrics", "accuracy,balanced_accuracy", "--csv", str(tmp_path / "out.csv")]
    done = python("-m", "labseq_core.cli", *words, place=tmp_path)
    assert done.returncode == 0, done.stderr
    heading, first = done.stdout.splitlines()[:2]
    assert heading.split() == ["accuracy", "%", "balanced_accuracy", "%"]
    assert len(heading) == len(first), "columns are as wide as their headings"
    with open(tmp_path / "out.csv", encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table))
    assert [(row["dataset"], row["features"], row["label"]) for row in rows] == [
        ("dice", "shape", "HMM"),
        ("dice", "shape", "Naive Bayes"),
    ]
    for row in rows:
        assert f"{100 * float(row['balanced_accuracy']):.2f}" in done.stdout
        assert 0.4 < float(row["balanced_accuracy"]) <= float(row["accuracy"]), "fair dice are more frequent"


SEEN = """
import contextlib, io, sys
from pathlib import Path
from streamlit.testing.v1 import AppTest
from labseq_core.cli import main
from labseq_core.experiments import ExperimentConfig, FeatureChoice, MethodChoice
from labseq_core.experiments.plan.cost import expected_cost
from tests.experiments.runs import trained_here

def said(*words):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        try:
            assert main(words) == 0, words
        except SystemExit as leaving:
            assert leaving.code == 0, words
    return out.getvalue()

place = Path(sys.argv[1])
assert "dice" in said("datasets", "list") and "Which of two dice" in said("datasets", "info", "dice")
assert "balanced_accuracy" in said("compare", "--help") and "shape" in said("compare", "--help")
train = "train", str(place / "my.slashes"), "--model", str(place / "m.npz"), "--method", "hmm"
assert "3 labels, 2 sequences" in said(*train)  # by the ending

config = ExperimentConfig("dice", (MethodChoice("hmm"), MethodChoice("naive-bayes")), FeatureChoice("shape"), folds=2)
assert expected_cost(config).by_label["HMM"] > 0
run_id = trained_here(config)

def opened(page, **choices):
    app = AppTest.from_file("app.py", default_timeout=120)
    app.session_state["in app"] = True
    for name, value in choices.items():
        app.query_params[name] = value
    app.switch_page(f"pages/{page}.py").run()
    assert not app.error and not app.exception, (page, choices, app.error, app.exception)
    return app

scores = opened("compare", run=run_id)
assert "Balanced accuracy" in scores.table[0].value.columns
assert any("**Balanced accuracy**: mean over labels" in each.value for each in scores.markdown)
assert "Balanced accuracy" in scores.get("plotly_chart")[0].proto.spec
measures = opened("compare", run=run_id, view="Measures", metric="balanced_accuracy")
assert measures.table[0].value.index.name == "Balanced accuracy" and len(measures.table[0].value) == 4
opened("compare", run="default:spanish-ner")  # made before there was such a metric
opened("history", runs=run_id)
data = opened("data", dataset="dice", bring="true")
assert any(each.value == "Which of two dice was rolled?" for each in data.markdown)
assert any("slashes" in option for option in data.selectbox(key="read.format").options)
train = opened("train", dataset="dice", features="shape")
assert any(each.value == "the word and the kinds of its letters" for each in train.caption)
print("seen")
"""


def test_choices_of_the_command_line_have_them(own, tmp_path):
    (tmp_path / "plain").write_text(SLASHES, encoding="utf-8")
    words = [
        "train",
        str(tmp_path / "plain"),
        "--format",
        "slashes",
        "--model",
        str(tmp_path / "m.npz"),
        "--method",
        "hmm",
    ]
    done = python("-m", "labseq_core.cli", "--with", str(own), *words, place=tmp_path)
    assert "3 labels, 2 sequences" in done.stdout, done.stderr


def test_commands_and_pages_show_them(own, tmp_path):
    (tmp_path / "my.slashes").write_text(SLASHES, encoding="utf-8")
    done = python("-c", SEEN, str(tmp_path), place=tmp_path, LABSEQ_WITH=str(own))
    assert done.stdout.endswith("seen\n"), done.stderr[-3000:]


@pytest.mark.parametrize(
    ("heading", "registry"),
    [("metric", METRICS), ("corpus", CORPORA), ("format", FORMATS), ("features", TEMPLATES)],
)
def test_the_readme_lists_all_that_there_are(heading, registry):
    table = README.partition(f"\n| {heading} |")[2].partition("\n\n")[0]
    assert re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE) == list(registry)


def test_a_metric_that_says_nonsense_of_itself_is_refused():
    with pytest.raises(LabSeqError, match="metric mine: needs is 'gold'; choose from 'labels', 'spans'"):
        Metric("mine", "Mine", "what I need", needs="gold")
    with pytest.raises(LabSeqError, match="metric label: every row has a column of this name; choose another"):
        Metric("label", "Label", "a label")
    with pytest.raises(LabSeqError, match="metric mine: methods are compared by its ratio; say whether 'higher'"):
        Metric("mine", "Mine", "what I compare", better="", ratio=lambda counts: None)


def test_every_column_that_is_no_metric_is_kept_from_metrics():
    (found,) = outcomes_here(ONE).values()
    assert set(found.row) - set(METRICS) <= set(ROW)
    run = RunResult.of("x", ONE, {}, 0.0, collect(ONE, {0: found}, {}), imported=True)
    assert set(run.scores()[0]) - set(METRICS) == set(ROW)


@pytest.mark.parametrize(
    ("of", "said"),
    [
        (
            lambda pairs: 1 / 0,
            "metric mine cannot be computed: ZeroDivisionError: division by zero; correct its function",
        ),
        (lambda pairs: np.ones(2), "metric mine gives a ndarray; let its function return a number or None"),
    ],
)
def test_a_metric_that_fails_costs_no_training(of, said):
    with added(METRICS, Metric("mine", "Mine", "what I count", of=of)):
        with pytest.raises(LabSeqError, match=said):
            METRICS["mine"].value(tested.Tested(pair_up([["a"]], [["a"]])))
        with pytest.warns(UserWarning, match=said):
            found = evaluate([["a"]], [["a"]])
        with pytest.warns(UserWarning, match=said):
            (trained,) = outcomes_here(ONE).values()
    assert (found.accuracy, found.mine) == (1.0, None)
    assert trained.row["mine"] is None
    assert trained.row["accuracy"] > 0.5


@pytest.mark.parametrize("metric", METRICS.values(), ids=lambda metric: metric.name)
def test_a_metric_says_all_that_pages_need(metric):
    assert metric.title
    assert metric.meaning[-1] not in ".;"
    assert metric.written(0.25)
