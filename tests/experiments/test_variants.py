"""Variants of one run: each has its own decoding, features and training data; tuning never sees the test set."""

from __future__ import annotations

import json
import math
import shlex

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labseq_core import CRF, FeatureTemplate, load_dataset
from labseq_core.checks import LabSeqError
from labseq_core.cli import _parser
from labseq_core.data.label_noise import with_label_noise
from labseq_core.evaluation import evaluate
from labseq_core.experiments import ExperimentConfig, FeatureChoice, MethodChoice
from labseq_core.experiments.plan.decoding_words import decoding_line
from labseq_core.experiments.plan.python_script import python_script
from labseq_core.experiments.plan.tasks import tasks_of
from labseq_core.experiments.plan.variant_text import VariantText
from labseq_core.experiments.results.collecting import collect
from labseq_core.experiments.results.predictions import Predictions
from labseq_core.experiments.run.one_task import run_task, training_data
from labseq_core.learners.options import OF_VARIANTS, TUNING_FITS
from labseq_core.learners.registry import METHODS, make_learner, method_options
from labseq_core.learners.search import held_out
from tests.experiments.random_variants import variants
from tests.experiments.runs import outcomes_here

ALL_AT_ONCE = MethodChoice(
    "crf", {"max_iter": 9}, {"l2": [0.1, 1.0]}, "posterior", FeatureChoice("S3", window=5, joint=True), 50, 0.25
)
FEW = FeatureChoice("S1")


def test_a_variant_says_all_of_itself_in_every_form():
    variants = (
        ALL_AT_ONCE, MethodChoice("crf"), MethodChoice("crf", search="tune"), MethodChoice("crf-marginal", decode="viterbi"),
        MethodChoice("gps", {"kernel": "poly:2"}, features=FeatureChoice("custom", columns=("pos", "chunk"), bins=5)),
    )  # fmt: skip
    own = "posterior; S3 (window 5, joint codes); sequences=50; noise=0.25"
    assert variants[0].label == f"CRF (max_iter=9; l2 of 0.1, 1; {own})"
    assert [each.label for each in variants[2:4]] == ["CRF (tuned)", "Marginal CRF (viterbi)"]
    config = ExperimentConfig("toy-pos", variants, FEW)
    assert ExperimentConfig.from_yaml(config.to_yaml()) == config
    assert ExperimentConfig.from_yaml(config.to_json()).hash == config.hash
    words = shlex.split(config.cli_command())
    given = words[words.index("--methods") + 1].split(",")
    assert tuple(map(MethodChoice.parse, given)) == config.methods
    assert _parser().parse_args(words[1:]).methods == ",".join(given)


@given(variants(st.text(min_size=1, max_size=9)))
def test_the_text_of_a_variant_is_read_back(choice):
    assert MethodChoice.parse(choice.on_command_line()) == choice
    assert str(VariantText.read(choice.on_command_line())) == choice.on_command_line()
    assert "," not in choice.on_command_line(), "it ends a variant on the command line"


def test_what_is_usual_is_not_written_down():
    """So that a choice made by hand and the usual one are one run, and runs of before keep their hash."""
    assert MethodChoice("crf-marginal", decode="posterior").to_dict() == {"method": "crf-marginal", "options": {}}
    same = ExperimentConfig("toy-pos", (MethodChoice("crf", features=FEW, decode="viterbi"),), FEW)
    assert same == ExperimentConfig("toy-pos", (MethodChoice("crf"),), FEW)
    assert set(same.to_dict()) == {"dataset", "methods", "features", "folds", "seed"}
    assert not {name for method in METHODS for name in method_options(method)} & set(OF_VARIANTS)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("hmsvm:decode=posterior", "gives scores, not probabilities, so its decode is viterbi"),
        ("crf:decode=best", "decode is 'best'; choose from viterbi, posterior"),
        ("crf:noise=2", "noise is 2.0; choose a share of the training labels from 0 to 0.9"),
        ("crf:noise=some", "noise is 'some'; write a number"),
        ("crf:sequences=-1", "sequences is -1; choose a whole number"),
        ("crf:window=3", "window of a variant needs its features too"),
        ("crf:search=tune:l2=1|2", "both search=tune and values to try"),
        ("crf:search=all", "search must be 'tune', or name options"),
        ("crf:features=S3:joint=maybe", "joint is 'maybe'; choose true or false"),
        (f"crf:max_iter={'9' * 400}", "max_iter is 9999"),
        ("crf:l2", "'l2' is not an option of crf; write name=value"),
        ("crf:colour=red", "'colour=red' is not an option of crf; write name=value with one of l2"),
    ],
)
def test_wrong_variants_are_told(wrong, said):
    with pytest.raises(LabSeqError, match=said):
        MethodChoice.parse(wrong)


def test_a_whole_number_may_be_larger_than_any_float():
    text = f"perceptron:seed={'9' * 400}"
    assert MethodChoice.parse(text).on_command_line() == text


def test_each_variant_is_trained_and_decoded_as_it_says():
    corpus, crf = load_dataset("toy-pos"), {"max_iter": 30}
    variants = (
        MethodChoice("crf", crf), MethodChoice("crf", crf, decode="posterior"),
        MethodChoice("crf", crf, features=FeatureChoice("S2")), MethodChoice("crf", crf, sequences=20),
        MethodChoice("crf", crf, noise=0.2),
    )  # fmt: skip
    config = ExperimentConfig("toy-pos", variants, FEW, sequences=60, seed=4)
    rows = [outcome.row for outcome in outcomes_here(config).values()]
    train, test = corpus.train.select(range(60)), corpus.test
    trained = [
        (FeatureTemplate("S1"), train, None), (FeatureTemplate("S1"), train, "posterior"),
        (FeatureTemplate("S2"), train, None), (FeatureTemplate("S1"), train.select(range(20)), None),
        (FeatureTemplate("S1"), with_label_noise(train, 0.2, 4), None),
    ]  # fmt: skip
    for row, variant, (template, own, decode) in zip(rows, variants, trained, strict=True):
        direct = CRF(max_iter=30).fit(template.encode(own), own.labels)
        said = evaluate(test.labels, direct.predict(test, decode))
        assert row["accuracy"] == said.accuracy, variant.label
        assert (row["n_train_sequences"], row["noise"]) == (len(own), variant.noise)
        assert row["decode"] == (decode or "viterbi")
        assert row["features"] == template.name
    assert len({row["accuracy"] for row in rows}) > 2


def test_folds_are_the_same_whatever_a_variant_is_trained_on():
    """Else variants could not be compared sequence by sequence."""
    variants = MethodChoice("hmm"), MethodChoice("hmm", sequences=10), MethodChoice("hmm", noise=0.5)
    config = ExperimentConfig("toy-pos", variants, FEW, folds=3, sequences=45)
    rows = [outcome.row for outcome in outcomes_here(config).values()]
    assert len({(row["fold"], row["n_tokens"]) for row in rows}) == config.folds
    assert [row["n_train_sequences"] for row in rows if row["label"] == "HMM (sequences=10)"] == [10] * 3


def test_the_loss_says_how_it_is_decoded():
    assert {method for method in METHODS if METHODS[method].decoding == "posterior"} == {
        "crf-marginal",
        "crf-marginal-exp",
    }
    corpus = load_dataset("pitch-accent")
    X, y = FeatureTemplate("prosody").encode(corpus.train.select(range(40))), corpus.train.labels[:40]
    model = CRF(loss="marginal").fit(X, y)
    assert (
        model.predict(corpus.test) == model.predict(corpus.test, "posterior") != model.predict(corpus.test, "viterbi")
    )
    assert model.score(corpus.test) == evaluate(corpus.test.labels, model.predict(corpus.test)).accuracy


def test_there_is_one_accuracy_of_a_model():
    """At full coverage abstention has the accuracy that the comparison has, however labels were decoded."""
    variants = [MethodChoice("crf", {"max_iter": 20}, decode=decode) for decode in ("", "posterior")]
    config = ExperimentConfig(
        "pitch-accent", (*variants, MethodChoice("hmsvm", {"max_iter": 5})), FeatureChoice("prosody"), sequences=60
    )
    accuracies = []
    for outcome in outcomes_here(config).values():
        said = Predictions.from_bytes(outcome.blobs["predictions"])
        assert np.mean(said.truth == said.answers) == pytest.approx(outcome.row["accuracy"], rel=1e-12)
        assert said.answers.tolist() == said.predicted.tolist()
        accuracies.append(outcome.row["accuracy"])
    assert accuracies[0] != accuracies[1]


def test_every_method_is_tuned_with_the_same_budget():
    for method, declared in METHODS.items():
        grid = declared.tuning
        assert math.prod(map(len, grid.values())) == TUNING_FITS, method
        for name, values in grid.items():
            assert name in method_options(method)
            for value in values:
                make_learner(method, **{name: value})


def test_tuning_chooses_on_development_data_and_never_sees_the_test_set(monkeypatch):
    choice = MethodChoice("naive-bayes", search="tune")
    for folds in (0, 2):
        config = ExperimentConfig("toy-pos", (choice,), FEW, folds=folds, sequences=40)
        seen = outcomes_here(config)
        tried = [outcome.tried for outcome in seen.values() if outcome.tried and "score" in outcome.tried]
        assert len(tasks_of(config)) == (TUNING_FITS if not folds else folds * (TUNING_FITS + 1))
        assert {row["smoothing"] for row in tried} == set(METHODS["naive-bayes"].tuning["smoothing"])
    X, y = training_data(config, choice.label)
    inside, outside = held_out(len(y))
    assert len(outside) == len(y) // 10
    for row in tried[:TUNING_FITS]:
        direct = make_learner("naive-bayes", smoothing=row["smoothing"])
        direct.fit(X.select(inside), [y[place] for place in inside])
        assert row["score"] == evaluate([y[place] for place in outside], direct.predict(X.select(outside))).accuracy
    given = MethodChoice("naive-bayes", {"smoothing": 0.5}, "tune")
    assert given.tried == {}, "what was given is not tuned"
    assert given.n_fits(0) == 1


def test_training_here_and_testing_there():
    config = ExperimentConfig("toy-pos", (MethodChoice("hmm"),), FEW, sequences=30, test_dataset="toy-pos")
    same = ExperimentConfig("toy-pos", (MethodChoice("hmm"),), FEW, sequences=30)
    assert outcomes_here(config)[0].row["accuracy"] == outcomes_here(same)[0].row["accuracy"]
    assert config.hash != same.hash
    other = ExperimentConfig("toy-pos", (MethodChoice("hmm"),), FEW, test_dataset="spanish-ner")
    with pytest.raises(
        LabSeqError, match=r"the test set of spanish-ner has the label 'B-.*', which toy-pos does not have"
    ):
        run_task(other, tasks_of(other)[0], lambda progress: True)
    with pytest.raises(LabSeqError, match="with test_dataset folds must be 0"):
        ExperimentConfig("toy-pos", (MethodChoice("hmm"),), FEW, folds=2, test_dataset="toy-pos")


@pytest.mark.parametrize("variants", [(ALL_AT_ONCE, MethodChoice("hmm")), (MethodChoice("hmm", search="tune"),)])
def test_the_script_trains_the_same_variants(variants, capsys):
    config = ExperimentConfig("toy-pos", variants, FEW, sequences=60)
    exec(compile(python_script(config), "script", "exec"), {})
    printed = capsys.readouterr().out
    found = outcomes_here(config)
    for row in collect(config, found, {})["rows"]:
        assert str(row["accuracy"]) in printed, json.dumps(row)


def test_a_sentence_says_how_labels_were_decoded():
    crf, marginal = MethodChoice("crf"), MethodChoice("crf-marginal")
    posterior = [MethodChoice("crf", {"l2": l2}, decode="posterior") for l2 in (0.1, 1.0)]
    assert decoding_line([crf, MethodChoice("hmsvm")]) == "Decoded by Viterbi."
    assert decoding_line([marginal, *posterior]) == "Decoded by posterior."
    assert decoding_line([marginal, crf]) == f"Decoded by Viterbi; {marginal.label}: posterior."
    assert decoding_line([marginal, crf], {marginal.label: "M", crf.label: "C"}) == "Decoded by Viterbi; M: posterior."
    assert decoding_line([crf, *posterior]) == "Decoded by Viterbi; where the name says so: posterior."
    forced = MethodChoice("crf-marginal", decode="viterbi")
    assert decoding_line([forced]) == "Decoded by Viterbi."
