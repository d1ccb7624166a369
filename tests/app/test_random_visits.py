"""Whatever a visitor does in whatever order, no page breaks.

A failure names its seed and every step; `pytest "tests/app/test_random_visits.py::test_...[SEED]"` takes the same steps again.
"""

from __future__ import annotations

import shutil

import pytest
import streamlit as st

from labseq_core.data.uploads import store_upload
from labseq_core.experiments import MethodChoice, default_results
from tests.app.conftest import planted
from tests.app.visits import FILES, FramedPages, Visit
from tests.experiments.runs import quick, trained_here

STEPS = 20
SEEDS = [*range(10), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(10, 100))]  # 200 steps, 2 000
# Where walks begin, or are taken half-way: every page and every tab.
PLACES = {
    "start": {}, "data": {}, "data, upload": {"bring": "true"}, "train": {}, "compare": {},
    "compare, measures": {"view": "Measures"}, "compare, significance": {"view": "Significance"},
    "compare, labels": {"view": "Labels"}, "compare, sentences": {"view": "Sentences"},
    "compare, learning": {"view": "Learning curve"}, "abstain": {},
    "abstain, reliability": {"below": "Reliability"}, "inside": {}, "inside, path": {"weights": "L1 path"},
    "inside, bounds": {"tab": "Boosting", "boosting": "Bounds"}, "inside, losses": {"tab": "Boosting", "boosting": "Losses"},
    "inside, who decides": {"tab": "GPSC", "gpsc": "Who decides"}, "inside, gram": {"tab": "GPSC", "gpsc": "Gram matrix"},
    "inside, boosting": {"tab": "Boosting"}, "inside, support": {"tab": "HM-SVM"}, "inside, margins": {"tab": "Margins"},
    "inside, gpsc": {"tab": "GPSC"}, "history": {}, "history, one run": {"runs": "default:spanish-ner"},
    "history, two runs": {"runs": "default:boosting,default:parity"}, "sequence": {},
    "sequence, kernels": {"run": "default:abstention", "show": "Why this label"},
    "sequence, steps": {"show": "Step by step"}, "sequence, force": {"show": "What if"}, "learn": {},
}  # fmt: skip


@pytest.fixture(scope="module")
def furnished(tmp_path_factory) -> tuple:
    """A run store as somebody may have left it: finished, cancelled and failed runs, one on an odd file; and all ids."""
    place = tmp_path_factory.mktemp("furnished")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LABSEQ_STORE", str(place / "runs.sqlite"))
        methods = (MethodChoice("hmm"), MethodChoice("crf", {"max_iter": 5}), MethodChoice("hmsvm", {"max_iter": 2}))
        uploaded = store_upload(FILES[1][1], FILES[1][0])
        runs = [
            trained_here(quick(dataset=uploaded, folds=0, methods=methods)), trained_here(quick()),
            planted("cancelled", quick(seed=1)), planted("failed", quick(seed=2), error="the corpus is gone"),
        ]  # fmt: skip
    return place, [*runs, *(found.run_id for found in default_results().values())]


@pytest.fixture
def visit(furnished, tmp_path, monkeypatch):
    place, runs = furnished
    shutil.copytree(place, tmp_path / "store")
    monkeypatch.setenv("LABSEQ_STORE", str(tmp_path / "store" / "runs.sqlite"))
    monkeypatch.setenv("LABSEQ_DATA_MIRROR", str(tmp_path))  # real corpora would be read for long
    monkeypatch.setenv("LABSEQ_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr("streamlit.testing.v1.app_test.PagesManager", FramedPages)
    st.cache_data.clear()  # what is remembered of the runs of another store
    return lambda seed: Visit(seed, PLACES, runs)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_walk_never_breaks_a_page(visit, seed):
    walk, half = visit(seed), len(PLACES) // 2
    for place in (seed % half, seed % half + half):
        walk.go_to(list(PLACES)[place])
        for _ in range(STEPS // 2 - 1):
            walk.step()
    assert len(walk.steps) == 1 + STEPS
