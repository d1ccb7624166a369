"""The path of l1 is that of the models: which of them belong together, how many weights each has left."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from labseq_core.experiments import ExperimentConfig, MethodChoice, default_results, model, result
from labseq_core.experiments.results.l1_path import L1_COLUMNS, l1_paths

RUN = "default:l1-path"


def test_the_default_path_counts_the_weights_of_its_models():
    found = result(RUN)
    ((name, rows),) = l1_paths(found).items()
    assert name == "CRF (l2=0.1)"
    assert [row["l1"] for row in rows] == [0.0, 0.1, 0.3, 1.0, 3.0, 10.0]
    for row, choice, scored in zip(rows, found.config.methods, found.rows, strict=True):
        assert tuple(row) == L1_COLUMNS
        learner = model(RUN, choice.label)
        assert learner.l1 == row["l1"]
        assert row["nonzero"] == pytest.approx(np.count_nonzero(learner.weights_.flat))
        assert row["parameters"] == learner.weights_.flat.size
        assert (row["accuracy"], row["span_f1"]) == (scored["accuracy"], scored["span_f1"])
    left = [row["nonzero"] for row in rows]
    assert left == sorted(left, reverse=True), "a stronger penalty leaves fewer weights"


def scored(*choices: MethodChoice):
    """A result with made-up numbers for these methods, two folds each."""
    template = default_results()["l1-path"]
    rows = [
        {**template.rows[0], "label": choice.label, "method": choice.method, "used_share": share, "n_parameters": 100}
        for choice in choices
        for share in (0.5, 0.3)
    ]
    return replace(template, config=ExperimentConfig("toy-pos", choices), rows=rows)


def test_models_that_differ_in_more_than_l1_are_on_different_paths():
    choices = [MethodChoice("crf", {"l1": l1, **more}) for more in ({}, {"l2": 5.0}) for l1 in (3.0, 1.0)]
    found = l1_paths(scored(*choices, MethodChoice("maxent", {"l1": 1.0}), MethodChoice("hmm")))
    assert list(found) == ["CRF", "CRF (l2=5)"]
    decoded = [replace(choice, decode="posterior") for choice in choices[:2]]
    assert list(l1_paths(scored(*choices, *decoded))) == ["CRF", "CRF (l2=5)", "CRF (posterior)"]
    for rows in found.values():
        assert [row["l1"] for row in rows] == [1.0, 3.0]
        assert [row["nonzero"] for row in rows] == pytest.approx([40.0, 40.0])


def test_one_value_is_no_path_and_no_value_is_the_usual_one():
    assert l1_paths(scored(MethodChoice("crf", {"l1": 1.0}), MethodChoice("crf", {"l2": 5.0}))) == {}
    (rows,) = l1_paths(scored(MethodChoice("crf"), MethodChoice("crf", {"l1": 2.0}))).values()
    assert [row["l1"] for row in rows] == [0.0, 2.0]


def test_methods_that_failed_are_left_out():
    choices = (MethodChoice("crf", {"l1": 1.0}), MethodChoice("crf", {"l1": 2.0}), MethodChoice("crf", {"l1": 3.0}))
    found = scored(*choices)
    found = replace(found, rows=[row for row in found.rows if row["label"] != choices[1].label])
    (rows,) = l1_paths(found).values()
    assert [row["l1"] for row in rows] == [1.0, 3.0]


def test_models_that_do_not_say_their_share_are_left_out():
    choices = (MethodChoice("crf", {"l1": 1.0}), MethodChoice("crf", {"l1": 2.0}), MethodChoice("crf", {"l1": 3.0}))
    found = scored(*choices)
    for row in found.rows:
        if row["label"] == choices[0].label:
            row["used_share"] = None
    (rows,) = l1_paths(found).values()
    assert [row["l1"] for row in rows] == [2.0, 3.0]
