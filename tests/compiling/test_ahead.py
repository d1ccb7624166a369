"""Whatever is compiled ahead is complete: afterwards nothing that a user can ask for compiles anything."""

from __future__ import annotations

import pytest

from labseq_core import load_dataset
from labseq_core.cli import main
from labseq_core.compiling import ahead, kept
from labseq_core.features import FeatureTemplate
from labseq_core.learners.registry import METHODS, make_learner, method_options
from labseq_core.places import datasets_directory

FEW = {"rounds": 3, "epochs": 2, "max_iter": 3, "coordinates": 3}


@pytest.fixture(autouse=True)
def nothing_is_compiled(monkeypatch) -> None:
    ahead.prepare()
    missing: list[str] = []
    monkeypatch.setattr(kept, "on_miss", missing.append)
    yield
    assert not missing, "compiled, though everything had been compiled ahead"


def few(method: str) -> dict:
    return {name: value for name, value in FEW.items() if name in method_options(method)}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("corpus", "template"), [("pitch-accent", "prosody"), ("toy-pos", "S2")])
def test_methods_on_words_and_on_numbers(method, corpus, template):
    data = load_dataset(corpus)
    train, test = data.train.select(range(12)), data.test.select(range(3))
    features = FeatureTemplate(template)
    learner = make_learner(method, **few(method))
    learner.fit(features.encode(train), train.labels, dev=(test, test.labels))
    learner.predict(features.encode(test))
    learner.score(test, test.labels)
    learner.k_best(test, 3)
    if learner.probabilistic:
        learner.marginals(test)


@pytest.mark.parametrize("method", [method for method in METHODS if "kernel" in method_options(method)])
@pytest.mark.parametrize("kernel", ["2*linear+rbf:0.5", "normalized(poly:3)", "poly:2:0.5", "token"])
def test_kernels(method, kernel):
    train = load_dataset("toy-pos").train.select(range(8))
    make_learner(method, kernel=kernel, **few(method)).fit(train).predict(train)


def test_commands(tmp_path):
    model, corpus = str(tmp_path / "model.npz"), str(datasets_directory() / "toy-pos" / "test.conll")
    assert not main(["train", corpus, "--model", model, "--method", "crf:max_iter=3"])
    assert not main(["evaluate", model, corpus])
    assert not main(["predict", model, corpus, "--output", str(tmp_path / "labelled.conll")])
