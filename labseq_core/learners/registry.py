"""All methods by id. A new learner is one file and one line here; forms, command line and documentation follow."""

from __future__ import annotations

from pathlib import Path

from labseq_core._checks import LabSeqError
from labseq_core.learners.base import SequenceLearner
from labseq_core.learners.crf import CRF
from labseq_core.learners.hmm import HMM
from labseq_core.learners.maxent import MaxEnt
from labseq_core.learners.naive_bayes import NaiveBayes
from labseq_core.learners.options import Option
from labseq_core.learners.perceptron import StructuredPerceptron
from labseq_core.persistence import archive_name, load_archive

_LEARNERS = (NaiveBayes, MaxEnt, HMM, CRF, StructuredPerceptron)
METHODS: dict[str, type[SequenceLearner]] = {learner.method_id: learner for learner in _LEARNERS}


def method_class(method_id: str) -> type[SequenceLearner]:
    """The learner of a method id."""
    if method_id not in METHODS:
        raise LabSeqError(f"there is no method {method_id!r}; choose from {', '.join(METHODS)}")
    return METHODS[method_id]


def method_options(method_id: str) -> dict[str, Option]:
    """The options of a method by name."""
    return {option.name: option for option in method_class(method_id).options}


def make_learner(method_id: str, **options) -> SequenceLearner:
    """A learner with checked options."""
    specs = method_options(method_id)
    for name, value in options.items():
        if name not in specs:
            raise LabSeqError(f"method {method_id} has no option {name!r}; it has {', '.join(specs)}")
        specs[name].check(value)
    return method_class(method_id)(**options)


def load_model(source: str | Path | bytes) -> SequenceLearner:
    """A model that `save` wrote, from its file or from the file's bytes."""
    arrays, meta = load_archive(source)
    name = archive_name(source)
    for learner in METHODS.values():
        if learner.__name__ == meta.get("learner"):
            try:
                return learner._from_archive(arrays, meta)
            except (KeyError, TypeError, AttributeError, ValueError):
                raise LabSeqError(f"{name} lacks parts of a {learner.title}; train and save the model again") from None
    raise LabSeqError(f"{name} holds a {meta.get('learner')}, which this version does not know; install a newer one")
