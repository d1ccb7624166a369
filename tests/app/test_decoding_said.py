"""Beside accuracies stands how labels were decoded, on every page and in every file."""

from __future__ import annotations

import csv
import io

import pytest

from labseq_core.cli import main
from labseq_core.experiments import ExperimentConfig, FeatureChoice, MethodChoice, result
from tests.app.conftest import problems
from tests.experiments.runs import trained_here

MIXED = "Decoded by Viterbi; Marginal CRF: posterior."
USUAL = "Decoded by Viterbi."
PAGES = [
    ("compare", {"view": "Scores"}, MIXED), ("compare", {"view": "Measures"}, MIXED),
    ("compare", {"view": "Significance"}, MIXED), ("compare", {"view": "Sentences"}, MIXED),
    ("abstain", {}, MIXED), ("sequence", {}, MIXED), ("history", {}, MIXED), ("train", {}, MIXED),
    ("start", {}, USUAL), ("learn", {"lesson": "kernel"}, USUAL),
]  # fmt: skip


@pytest.fixture
def run_id(monkeypatch, tmp_path) -> str:
    monkeypatch.setenv("LABSEQ_STORE", str(tmp_path / "runs.sqlite"))
    few = {"max_iter": 5}
    choices = (MethodChoice("crf", few), MethodChoice("crf-marginal", few))
    return trained_here(ExperimentConfig("pitch-accent", choices, FeatureChoice("prosody"), sequences=40))


@pytest.mark.parametrize(("page", "choices", "said"), PAGES)
def test_a_page_says_how_labels_were_decoded(open_page, run_id, page, choices, said):
    name = {"history": "runs", "train": "job"}.get(page, "run")
    own = {} if page in ("start", "learn") else {name: run_id}
    app = open_page(page, **choices, **own)
    assert problems(app) == []
    assert any(said in each.value.replace(" (max_iter=5)", "") for each in app.caption)


def test_files_and_the_command_line_say_it_too(run_id, capsys):
    run = result(run_id)
    labels = [choice.label for choice in run.config.methods]
    decoded = dict(zip(labels, ("viterbi", "posterior"), strict=True))
    assert {row["label"]: row["decode"] for row in csv.DictReader(io.StringIO(run.csv()))} == decoded
    assert {row["label"]: row["decode"] for row in run.summary()} == decoded
    line = f"Decoded by Viterbi; {labels[1]}: posterior."
    assert run.about()["decoding"] == line
    assert main(["runs", "show", run_id]) == 0
    assert line in capsys.readouterr().out.splitlines()
