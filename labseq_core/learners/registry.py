"""All methods by id. A new learner is one file and one line here; forms, command line and documentation follow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from labseq_core.archives import TRAIN_AGAIN, archive_name, load_archive
from labseq_core.checks import LabSeqError, require
from labseq_core.learners.base import DECODINGS as DECODINGS
from labseq_core.learners.base import SequenceLearner
from labseq_core.learners.boosting import AdaBoostMR, LogitBoost, SequenceBoost, ViterbiBoost
from labseq_core.learners.crf import CRF
from labseq_core.learners.dual_perceptron import DualPerceptron
from labseq_core.learners.gpsc import GPSC
from labseq_core.learners.hmm import HMM
from labseq_core.learners.hmsvm import HMSVM
from labseq_core.learners.maxent import MaxEnt
from labseq_core.learners.naive_bayes import NaiveBayes
from labseq_core.learners.options import Option
from labseq_core.learners.perceptron import StructuredPerceptron
from labseq_core.learners.plugins import outside_learners
from labseq_core.learners.saved_values import require_needs
from labseq_core.learners.sparse_gpsc import SparseGPSC
from labseq_core.losses import LOG, LOSSES, Loss
from labseq_core.registry import Registry, Source, loading


@dataclass(frozen=True)
class Method:
    """What can be chosen by its id: a learner, the options that the id fixes, and those that are left to choose."""

    id: str
    learner: type[SequenceLearner]
    title: str
    summary: str
    where: str  # chapter and section in the documents
    options: tuple[Option, ...]
    preset: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def of(cls, learner: type[SequenceLearner]) -> Method:
        """The method that a learner is by itself, with all its options."""
        return cls(learner.method_id, learner, learner.title, learner.summary, learner.where, learner.options)

    def variant(self, id: str, title: str, summary: str, where: str, **preset: object) -> Method:
        """The same learner with fixed options under an id of its own."""
        return replace(self, id=id, title=title, summary=summary, where=where, preset=preset).without(*preset)

    def without(self, *names: str) -> Method:
        """The same method with fewer options to choose; the rest keep their defaults."""
        return replace(self, options=tuple(option for option in self.options if option.name not in names))

    @property
    def probabilistic(self) -> bool:
        return self.learner.probabilistic

    @property
    def decoding(self) -> str:
        """How its labels come of scores, unless something else is chosen."""
        return self.learner(**self.preset).decoding

    @property
    def tuning(self) -> dict[str, tuple]:
        """Options that *Tune* chooses on development data, and the values to try."""
        return {option.name: option.tuning for option in self.options if option.tuning}

    def arguments(self, options: Mapping[str, object]) -> dict[str, object]:
        """What the learner's constructor is called with."""
        return {**self.preset, **options}


def _crf(loss: Loss) -> Method:
    """The CRF that minimises a loss, with the options that matter then."""
    needless = ["loss", *(["restarts", "seed"] if loss.convex else [])]
    needless += [] if loss.has_length_decay else ["length_decay"]
    preset = {} if loss is LOG else {"loss": loss.name}  # that is the default
    said = loss.method_id, CRF, loss.title, loss.summary, loss.where
    return Method(*said, CRF.options, preset).without(*needless)


_GPS, _SPARSE_GPS = Method.of(GPSC), Method.of(SparseGPSC)
_NEWTON = _GPS.variant(
    "gps-newton", "GP sequence classification, second order",
    "GP sequence classification by Newton's method: few steps, each the solution of a linear system.",
    "thesis 5.3.4; GP paper", solver="newton",
)  # fmt: skip
_SPARSE_SEQUENCES = _SPARSE_GPS.variant(
    "sgps-sequence", "Sparse GP in labelled sequences",
    "Sparse GP sequence classification whose coordinates are whole labellings of training sequences.",
    "thesis 5.3.3", basis="sequence",
)  # fmt: skip

METHODS: Registry[Method] = Registry(
    "method",
    (
        Method.of(NaiveBayes),
        Method.of(MaxEnt),
        Method.of(HMM),
        *map(_crf, LOSSES.values()),
        Method.of(StructuredPerceptron),
        Method.of(DualPerceptron),
        Method.of(HMSVM),
        _GPS.without("solver"),
        _NEWTON,
        _SPARSE_GPS.without("basis"),
        _SPARSE_SEQUENCES,
        Method.of(SequenceBoost),
        Method.of(LogitBoost),
        Method.of(AdaBoostMR),
        Method.of(ViterbiBoost),
    ),
    key="id",
)


def _take_in(method: Method, source: Source) -> None:
    """One from outside. Ids are written in configurations, titles in forms, names of classes in model files."""
    name = method.learner.__name__
    for other in METHODS.values():
        is_free = method.title != other.title
        require(
            is_free, f"{source.file}: there is a method with the title {method.title!r} already; give yours another"
        )
        is_free = method.learner is other.learner or name != other.learner.__name__
        require(is_free, f"{source.file}: there is a method with the class name {name!r} already; give yours another")
    require(method.id not in METHODS, f"{source.file}: there is a method {method.id!r} already; give yours another id")
    with loading(source):
        METHODS.add(method)


for _learner, _source in outside_learners():
    _take_in(Method.of(_learner), _source)
for _loss in LOSSES.values():
    if _loss_source := LOSSES.source_of(_loss.name):
        _take_in(_crf(_loss), _loss_source)


def find_method(method_id: str) -> Method:
    """The method of an id."""
    return METHODS.find(method_id)


def method_options(method_id: str) -> dict[str, Option]:
    """The options of a method by name."""
    return {option.name: option for option in find_method(method_id).options}


def make_learner(method_id: str, **options: Any) -> SequenceLearner:
    """A learner with checked options: make_learner("exp", l2=0.1) is CRF(loss="exp", l2=0.1)."""
    method, specs = find_method(method_id), method_options(method_id)
    for name, value in options.items():
        if name not in specs:
            raise LabSeqError(f"method {method_id} has no option {name!r}; it has {', '.join(specs)}")
        options[name] = specs[name].read(value)
        specs[name].check(options[name])
    return method.learner(**method.arguments(options))


def load_model(source: str | Path | bytes) -> SequenceLearner:
    """A model that `save` wrote, from its file or from the file's bytes."""
    arrays, meta = load_archive(source)
    name = archive_name(source)
    learners = {method.learner.__name__: method.learner for method in METHODS.values()}
    try:
        require_needs(meta, list(learners))
    except LabSeqError as problem:
        raise LabSeqError(f"{name} cannot be loaded: {problem}") from None
    learner = learners.get(str(meta.get("learner")))
    if learner is None:
        fix = "install a newer one, or start with --with and the file that defines it"
        raise LabSeqError(f"{name} holds a {meta.get('learner')}, which this version does not know; {fix}")
    try:
        return learner._from_archive(arrays, meta)
    except LabSeqError as problem:
        raise LabSeqError(f"{name} is no whole {learner.title}: {problem}; {TRAIN_AGAIN}") from None
    except (KeyError, TypeError, AttributeError, ValueError, IndexError, OverflowError, RecursionError):
        raise LabSeqError(f"{name} lacks parts of a {learner.title}; {TRAIN_AGAIN}") from None
