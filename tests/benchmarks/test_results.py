"""The table of results: every search on a small bundled corpus, and how a run goes on after an interruption."""

import csv
import math

import pytest

from benchmarks import results
from benchmarks.quoted import QUOTED
from benchmarks.results import CORPORA, Corpus, append_row, cell, load, read_rows, show, wanted
from benchmarks.searches import SEARCHES, best_of
from labseq_core import HMM

SMALL = Corpus("spanish-ner", "S2", (1.0, 0.1), (0.1,), (0.9,))


@pytest.fixture(scope="module")
def problem():
    return load(SMALL, 30)


@pytest.mark.parametrize("method", SEARCHES)
def test_every_search_gives_a_row(problem, method):
    row = cell(SMALL, method, problem)
    assert row["sentences"] == "30"
    assert row["chosen"] in row["tried"].split(" | ")
    scores = [float(row[key]) for key in ("dev_score", "f1", "error", "accuracy")]
    assert all(0.0 <= score <= 100.0 for score in scores)
    assert math.isclose(float(row["error"]) + float(row["accuracy"]), 100.0, abs_tol=0.011)  # two rounded numbers


def test_the_best_on_dev_is_chosen_and_scored_on_test(problem):
    bad, good = (HMM(smoothing=smoothing).fit(problem.train, problem.labels) for smoothing in (1000.0, 0.01))
    scores = {}
    chosen = best_of(problem, [("bad", bad), ("good", good), ("again", good)], scores.__setitem__)
    assert scores["bad"] < scores["good"] == scores["again"]
    assert (chosen.options, chosen.score, chosen.model) == ("good", scores["good"], good)
    assert chosen.test.accuracy == good.score(problem.test, problem.test_labels)


def test_rows_survive_an_interruption(tmp_path, problem, capsys, monkeypatch):
    monkeypatch.setattr(results, "CORPORA", (SMALL,))
    monkeypatch.setitem(QUOTED, (SMALL.name, SMALL.features), {"hmm-word": "quoted here"})
    path = tmp_path / "rows.csv"
    append_row(path, cell(SMALL, "hmm-word", problem))
    before = path.read_bytes()
    results.main(["--output", str(path), "--only", "hmm-word,naive-bayes", "--sentences", "30"])
    after = path.read_bytes()
    assert after.startswith(before)
    assert [row["method"] for row in read_rows(path)] == ["hmm-word", "naive-bayes"]
    told = capsys.readouterr()
    assert "hmm-word\n" not in told.err  # it was there already
    assert "| hmm-word |" in told.out
    assert "| quoted here |" in told.out


def test_only_names_methods_corpora_and_features():
    every = [(corpus, method) for corpus in CORPORA for method in SEARCHES]
    assert list(wanted(None)) == every
    assert [(corpus.features, method) for corpus, method in wanted("crf, exp,S3")] == [("S3", "crf"), ("S3", "exp")]
    assert {corpus.features for corpus, _ in wanted("conll2002-es")} == {"S1", "S2", "S3"}


def test_every_quoted_result_has_a_cell():
    assert set(QUOTED) == {(corpus.name, corpus.features) for corpus in CORPORA}
    assert {method for quoted in QUOTED.values() for method in quoted} <= set(SEARCHES)


@pytest.mark.corpus
def test_a_real_corpus(tmp_path, capsys):
    from labseq_core.data.catalogue import dataset_info

    if not dataset_info("conll2002-es").available:
        pytest.skip("conll2002-es is neither in the cache nor in LABSEQ_DATA_MIRROR")
    results.main(["--output", str(tmp_path / "o.csv"), "--only", "naive-bayes,S1", "--sentences", "200"])
    with (tmp_path / "o.csv").open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert float(row["f1"]) > 0.0
    show([row])
    assert "train -> test, settings chosen on dev by span F1" in capsys.readouterr().out
