"""What a type checker of a user must understand. `make lint` checks it; nothing runs it."""

from __future__ import annotations

from pathlib import Path
from typing import assert_type

import numpy as np

from labseq_core import CRF, GPSC, HMSVM, FeatureTemplate, Polynomial, load_dataset, load_model, read_conll
from labseq_core.chain import ChainPotentials
from labseq_core.data.sequences import Dataset, Sequences
from labseq_core.learners.base import SequenceLearner


def whole_way(file: Path) -> None:
    data = load_dataset("toy-pos")
    assert_type(data, Dataset)
    assert_type(read_conll(file), Sequences)
    template = FeatureTemplate("S3", window=3)
    model = CRF(loss="exp", l2=0.1).fit(template.encode(data.train), data.train.labels, dev=data.dev)
    assert_type(model, CRF)
    assert_type(model.predict(data.test), list[list[str]])
    assert_type(model.marginals(data.test), list[np.ndarray])
    assert_type(model.k_best(data.test, 3), list[list[tuple[list[str], float]]])
    assert_type(model.potentials(data.test), list[ChainPotentials])
    assert_type(model.score(data.test), float)
    assert_type(model.classes_, list[str])
    assert_type(load_model("model.npz"), SequenceLearner)


def inputs_of_users() -> None:
    labels = [["D", "N"], ["N"]]
    CRF().fit([["the", "dog"], ["dogs"]], labels)
    CRF().fit([[{"word": "the", "length": 3.0}, {"word": "dog", "new": True}], [{"word": "dogs"}]], labels)
    HMSVM(kernel=0.5 * Polynomial(2) + Polynomial(3)).fit([[["word=the"], ["word=dog"]], [["word=dogs"]]], labels)
    assert_type(GPSC(kernel=Polynomial(2)).fit([["the", "dog"], ["dogs"]], labels), GPSC)
