"""What is shown before any click was really computed, from the data that is bundled now."""

import pytest

from labseq_core.data.catalogue import list_datasets, load_dataset
from labseq_core.data.splitting import k_folds
from labseq_core.experiments import default_results, model, result
from labseq_core.experiments.defaults import default_configs
from labseq_core.experiments.runner import data_hash, run_task, tasks_of

CONFIGS = {config.dataset: config for config in default_configs()}
# Another processor may round differently and so flip a label or two of some hundreds.
ACCURACY = 0.01


def test_every_bundled_corpus_has_a_default_result():
    bundled = {info.name for info in list_datasets() if info.bundled}
    assert set(default_results()) == bundled == set(CONFIGS)


@pytest.mark.parametrize("name", CONFIGS)
def test_a_default_result_belongs_to_the_present_data_and_configuration(name):
    found = result(f"default:{name}")
    assert found.config == CONFIGS[name], "run `labseq defaults`"
    assert found.data_hash == data_hash(name), "the corpus has changed: run `labseq defaults`"
    assert len(found.rows) == len(tasks_of(found.config))
    for label in found.per_label:
        test = load_dataset(name).train.select(k_folds(len(load_dataset(name).train), 5, 0)[0][1])
        predicted = model(f"default:{name}", label).predict(test)
        assert predicted[0] == found.examples[0]["predictions"][label]


SAMPLE = [("spanish-ner", (0, 5)), ("toy-pos", (1,)), ("pitch-accent", (0,)), ("parity", (2,))]


@pytest.mark.parametrize(("name", "places"), SAMPLE)
def test_recomputing_gives_the_same_numbers(name, places):
    config = CONFIGS[name]
    for place in places:
        task = tasks_of(config)[place]
        again = run_task(config, task, lambda progress: True)
        kept = result(f"default:{name}").rows[place]
        assert (kept["label"], kept["fold"]) == (task.label, task.fold)
        assert again.row["accuracy"] == pytest.approx(kept["accuracy"], abs=ACCURACY)
        assert again.row["n_attributes"] == kept["n_attributes"]
