"""What is shown before any click was really computed, from the data that is bundled now."""

import json
from dataclasses import replace

import pytest

from labseq_core.data.catalogue import list_datasets, load_dataset
from labseq_core.data.sequences import Sequences
from labseq_core.data.splitting import k_folds
from labseq_core.evaluation import token_accuracy
from labseq_core.experiments import ExperimentConfig, default_results, model, predictions, result
from labseq_core.experiments.bundled.defaults import FAMILIES, default_configs
from labseq_core.experiments.plan.tasks import Task, points_of, tasks_of
from labseq_core.experiments.results import run_results as results
from labseq_core.experiments.results.run_results import FIRST, defaults_directory, write_default
from labseq_core.experiments.run.one_task import data_hash, run_task, scored_part
from labseq_core.explain import answers, has_probabilities, has_rounds, is_sparse_gp, sparse_path, used_of, used_share
from labseq_core.learners.registry import find_method, load_model
from tests.experiments.runs import development_part

CONFIGS = default_configs()
BUNDLED = [info.name for info in list_datasets() if info.bundled]
# Another processor may round differently and so flip a label or two of some hundreds.
ACCURACY = 0.01
STEP = 1e-6  # relative: the same processor in another order of sums
SAME_ROUNDS = 30  # later ones may choose another of two features that are as good
SAME_ANSWERS = 1e-6  # relative: the same processor in another order of sums
SAME_PATH = 1e-3  # relative: coordinates of nearly the same slope may change places
BYTES = 2_000_000  # all defaults of families together


def first_test_part(config: ExperimentConfig) -> Sequences:
    corpus = load_dataset(config.dataset)
    if not config.folds:
        return corpus.test
    return corpus.train.select(k_folds(len(corpus.train), config.folds, config.seed)[0][1])


def test_every_bundled_corpus_and_every_family_has_a_default_result():
    assert set(default_results()) == {*BUNDLED, *FAMILIES} == set(CONFIGS)
    assert not set(BUNDLED) & set(FAMILIES), "the name of a default says which of the two it is"


def test_what_a_newcomer_sees_comes_first_and_families_last():
    names = list(default_results())
    assert names[0] == FIRST
    assert set(names[: len(BUNDLED)]) == set(BUNDLED)


def test_the_boosting_tab_has_all_three_bounds():
    config = CONFIGS["boosting"]
    assert all(has_rounds(find_method(choice.method).learner) for choice in config.methods)
    models = [model("default:boosting", choice.label) for choice in config.methods]
    assert [learner.bound for learner in models] == ["loose", "tight", "exact"]
    assert all(learner.n_rounds_ >= 100 for learner in models)


def test_the_abstain_page_has_probabilities_and_gaps():
    known = [has_probabilities(find_method(choice.method).learner) for choice in CONFIGS["abstention"].methods]
    assert known == [True, True, True, False]


def test_the_sparse_models_of_the_gpsc_tab_were_followed_on_development_data():
    for choice in CONFIGS["sparseness"].methods:
        if is_sparse_gp(find_method(choice.method).learner):
            path = sparse_path(model("default:sparseness", choice.label))
            assert len(path) > 20
            assert all(row["dev_accuracy"] is not None for row in path)


@pytest.mark.parametrize("name", ["abstention", "sparseness"])
def test_kept_predictions_are_those_of_the_models(name):
    config, run_id = CONFIGS[name], f"default:{name}"
    test, dev = scored_part(config), development_part(config)
    for row in result(run_id).rows:
        learner, kept = model(run_id, row["label"]), predictions(run_id, row["label"])
        predicted = learner.predict(test, config.variant(row["label"]).decoding)
        given = answers(learner, test, predicted)
        assert kept.labellings("truth") == test.labels
        assert kept.labellings("answers") == given.predicted
        assert kept.labellings("predicted") == predicted
        assert kept.probability == given.probability == learner.probabilistic
        for one, other in zip(kept.confidences(), given.confidence, strict=True):
            assert one == pytest.approx(other, rel=SAME_ANSWERS)
        assert row["dev_accuracy"] == pytest.approx(
            token_accuracy(dev.labels, learner.predict(dev, config.variant(row["label"]).decoding)), abs=ACCURACY
        )


def test_a_default_made_anew_leaves_no_model_of_before(tmp_path, monkeypatch):
    found = result("default:parity")
    labels = [choice.label for choice in found.config.methods]
    models, said = ({label: of("default:parity", label) for label in labels} for of in (model, predictions))
    monkeypatch.setattr(results, "defaults_directory", lambda: tmp_path)
    for choices in (found.config.methods, found.config.methods[:1]):
        config = replace(found.config, methods=choices)
        write_default("parity", replace(found, config=config), models, said)
        archives = [f"parity.{choice.method}.npz" for choice in choices]
        assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
            ["parity.json", "parity.predictions.npz", *archives]
        )


def test_defaults_of_families_are_small():
    files = [path for path in defaults_directory().iterdir() if path.name.partition(".")[0] in FAMILIES]
    assert len(files) == sum(3 + len(methods) for methods in FAMILIES.values())
    assert sum(path.stat().st_size for path in files) < BYTES


@pytest.mark.parametrize("name", CONFIGS)
def test_a_default_result_belongs_to_the_present_data_and_configuration(name):
    found = result(f"default:{name}")
    assert found.config == CONFIGS[name], "run `labseq defaults`"
    assert found.data_hash == data_hash(found.config.dataset), "the corpus has changed: run `labseq defaults`"
    final, folds = [(row["fold"], row["label"]) for row in found.rows], range(max(1, found.config.folds))
    assert final == [(fold, choice.label) for fold in folds for choice in found.config.methods]
    tried = [(task.fold, task.label) for task in tasks_of(found.config) if task.point is not None]
    assert sorted((row["fold"], row["label"]) for row in found.searches) == sorted(tried)
    test = first_test_part(found.config)
    for choice in found.config.methods:
        predicted = model(f"default:{name}", choice.label).predict(test, choice.decoding)
        assert predicted[0] == found.examples[0]["predictions"][choice.label]


@pytest.mark.parametrize("name", CONFIGS)
def test_shares_of_a_default_are_those_of_its_models(name):
    for row in result(f"default:{name}").rows:
        learner = model(f"default:{name}", row["label"])
        assert row["used_of"] == used_of(learner)
        if row["fold"] == 0:
            assert row["used_share"] == pytest.approx(used_share(learner), rel=1e-12)


@pytest.mark.parametrize("name", CONFIGS)
def test_values_of_a_default_are_those_that_were_best_on_development_data(name):
    found = result(f"default:{name}")
    for row in found.rows:
        choice, options = found.config.variant(row["label"]), json.loads(row["options"])
        own = [each for each in found.searches if (each["label"], each["fold"]) == (row["label"], row["fold"])]
        assert len(own) == len(points_of(choice))
        if own:
            best = next(each for each in own if each["score"] == max(each["score"] for each in own))
            assert {name: options[name] for name in choice.tried} == {name: best[name] for name in choice.tried}


def final_task(config: ExperimentConfig, row: dict) -> tuple[Task, int | None]:
    """The task that gave a row of a result, and which combination of a search it was trained with."""
    choice, options = config.variant(row["label"]), json.loads(row["options"])
    fitting = [
        point for point, values in enumerate(points_of(choice)) if values == {name: options[name] for name in values}
    ]
    chosen = fitting[0] if fitting else None
    point = None if config.folds else chosen
    wanted = (row["label"], row["fold"], point)
    (task,) = [task for task in tasks_of(config) if (task.label, task.fold, task.point) == wanted]
    return task, chosen


SAMPLE = [  # of the rows of a result
    ("spanish-ner", (0, 5)), ("toy-pos", (1,)), ("pitch-accent", (0,)), ("parity", (2,)), ("boosting", (1,)),
    ("abstention", (1,)), ("sparseness", (1,)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "places"), SAMPLE)
def test_recomputing_gives_the_same_numbers(name, places):
    config = CONFIGS[name]
    for place in places:
        kept = result(f"default:{name}").rows[place]
        task, chosen = final_task(config, kept)
        again = run_task(config, task, lambda progress: True, chosen)
        assert again.row["options"] == kept["options"]
        assert again.row["accuracy"] == pytest.approx(kept["accuracy"], abs=ACCURACY)
        assert again.row["n_attributes"] == kept["n_attributes"]
        if name == "sparseness":
            kept_path = sparse_path(model(f"default:{name}", task.label))
            for row, before in zip(sparse_path(load_model(again.blobs["model"])), kept_path, strict=True):
                assert row["coordinates"] == before["coordinates"]
                assert row["objective"] == pytest.approx(before["objective"], rel=SAME_PATH)
        if name == "boosting":
            kept_rounds = model(f"default:{name}", task.label).rounds_[:SAME_ROUNDS]
            rounds = load_model(again.blobs["model"]).rounds_[:SAME_ROUNDS]
            assert rounds["feature"].tolist() == kept_rounds["feature"].tolist()
            assert rounds["step"].tolist() == pytest.approx(kept_rounds["step"].tolist(), rel=STEP)
            assert rounds["dev_f1"].notna().all(), "runs without folds are followed on the development part"
