"""What every learner shares: the scikit-learn conventions, encoding, decoding, saving."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, Self

import numpy as np

from labseq_core.archives import LoadedArrays, names_in, save_archive
from labseq_core.chain import (
    ChainPotentials,
    best_rivals,
    forward_backward,
    k_best,
    max_marginals,
    path_scores,
    viterbi,
)
from labseq_core.checks import LabSeqError, as_plain, require
from labseq_core.data.alphabet import Alphabet
from labseq_core.data.sequences import Sequences
from labseq_core.features import EncodedSequences, FeatureTemplate
from labseq_core.kernels import Kernel, kernel_from_dict
from labseq_core.learners.cost import CostModel, gradient_cost
from labseq_core.learners.docstrings import complete_docstring
from labseq_core.learners.inputs import Input, Labelled, Labels, encode_input, flat_labels, labels_of
from labseq_core.learners.options import Option
from labseq_core.learners.saved_values import facts_in, history_in, needs_of
from labseq_core.progress import Callback, Recorder, Scores
from labseq_core.registry import Source
from labseq_core.scoring.model import Model, OwnScores

DECODINGS = {
    "viterbi": "the best labelling of the whole sequence (Viterbi)",
    "posterior": "the most probable label of each token (posterior marginals)",
}
DEV_EVERY = 10  # iterations of a minimiser between two looks at the development data
EncodedPair = tuple[EncodedSequences, np.ndarray]  # observations and labels as arrays


class SequenceLearner:
    """A method: the constructor stores options, `fit` learns, fitted attributes end in an underscore.

    A subclass says what it is in the class variables below and implements `_learn`, which sets `model_`, and `_restore`; one
    whose scores are none of the models of `scoring` implements `_potentials_of` and `_arrays` in place of a `model_`.

    Attributes
    ----------
    model_ : Model
        What was learned: it scores, and says what its scores are made of.
    classes_ : list of str
        The labels, in the order of every array that has one column per label.
    vocabulary_ : Alphabet
        The attributes that training saw.
    template_ : FeatureTemplate or None
        What makes attributes of tokens, if X was encoded by a template.
    history_ : DataFrame
        One row per iteration of the training.
    n_parameters_ : int
        How many numbers the model consists of.
    n_bytes_ : int
        How many bytes these numbers take.
    """

    method_id: ClassVar[str]
    title: ClassVar[str]
    summary: ClassVar[str]
    where: ClassVar[str]  # chapter and section in the documents
    options: ClassVar[tuple[Option, ...]]
    probabilistic: ClassVar[bool] = False
    cost: ClassVar[CostModel] = gradient_cost(110, 2e-9)  # of a training, estimated; who does not say costs like a CRF
    has_weights: ClassVar[bool] = False  # of attributes or pairs of labels, to be looked at
    facts: ClassVar[dict[str, type]] = {}  # fitted attributes that are saved with the model: int, float, bool or str
    unknown_facts: ClassVar[tuple[str, ...]] = ()  # numbers among them that may be None
    source: ClassVar[Source | None] = None  # of a learner from outside, known where it is loaded

    classes_: list[str]
    model_: Model

    def __init_subclass__(cls, **keywords: object) -> None:
        super().__init_subclass__(**keywords)
        if hasattr(cls, "options") and cls.__dict__.get("__doc__"):
            cls.__doc__ = complete_docstring(cls, cls.options)

    # Hyper-parameters

    @classmethod
    def _option_names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict:
        return {name: getattr(self, name) for name in self._option_names()}

    def set_params(self, **params: object) -> Self:
        known = self._option_names()
        for name, value in params.items():
            require(name in known, f"{type(self).__name__} has no option {name!r}; it has {', '.join(known)}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.get_params().items())})"

    def __sklearn_tags__(self):
        # Asked for by scikit-learn only, so it is there to import.
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(estimator_type=None, target_tags=TargetTags(required=True), input_tags=InputTags(two_d_array=False))

    # Learning

    def fit(
        self, X: Input, y: Labels | None = None, *, dev: Labelled | None = None, callback: Callback | None = None
    ) -> Self:
        """Learn from sequences X with labels y.

        X: per-token attributes (dicts, lists of names, words), `EncodedSequences`, or `Sequences` (then y may be left
        out). dev: a pair (X, y), or `Sequences`, on which accuracy is followed. callback: told of progress, whose `predict`
        labels other sequences with what has been learned so far; returning False stops the fit and leaves a usable model.
        """
        self._check_options()
        labels = labels_of(X, y)
        encoded = encode_input(X, None, None)
        require(len(encoded) > 0, "X is empty; give at least one sequence")
        flat = flat_labels(labels, encoded.offsets)
        alphabet = Alphabet.of(flat)
        self.classes_ = list(alphabet.names)
        self.vocabulary_, self.template_ = encoded.vocabulary, encoded.template
        recorder = Recorder(callback, label=self._predict_by)
        try:
            dev_pair = None if dev is None else self._dev_pair(dev)
            self._learn(encoded, alphabet.encode(flat), dev_pair, recorder)
        except BaseException:
            del self.classes_  # half a model is none: it says that it is not fitted
            raise
        self._history_rows = recorder.rows
        return self

    def _check_options(self) -> None:
        for option in self.options:
            option.check(getattr(self, option.name))

    def _learn(
        self, encoded: EncodedSequences, labels: np.ndarray, dev: EncodedPair | None, recorder: Recorder
    ) -> None:
        raise LabSeqError(f"{type(self).__name__} does not say how it learns; implement _learn")

    def _potentials_of(self, encoded: EncodedSequences) -> ChainPotentials:
        require(hasattr(self, "model_"), f"{type(self).__name__} does not say how it scores; set model_ in _learn")
        return self.model_.potentials(encoded)

    def fitted_model(self) -> Model:
        """What was learned, also of a learner that scores in a way of its own; an error if nothing was."""
        self._fitted("classes_")
        own = getattr(self, "model_", None)
        return own or OwnScores(type(self).__name__, self._potentials_of, self._arrays())

    def _dev_pair(self, dev: Labelled) -> EncodedPair:
        """Development data as arrays; a label that training never saw is simply never right."""
        pair = (dev, None) if isinstance(dev, Sequences) else dev
        fits = isinstance(pair, tuple | list) and len(pair) == 2
        require(fits, "dev must be a pair (X, y), or sequences with labels")
        X, y = pair
        encoded = encode_input(X, self.vocabulary_, self.template_)
        require(len(encoded) > 0, "dev is empty; give at least one sequence, or leave it out")
        flat = flat_labels(labels_of(X, y), encoded.offsets)
        return encoded, Alphabet(self.classes_).encode(flat, unknown=-1)

    @property
    def history_(self):
        """A data frame with a row per iteration."""
        import pandas as pd

        return pd.DataFrame(self._fitted("_history_rows"))

    @property
    def n_parameters_(self) -> int:
        """How many numbers the fitted model consists of."""
        return self.fitted_model().n_parameters

    @property
    def n_bytes_(self) -> int:
        """How many bytes these numbers take."""
        return sum(array.nbytes for array in self._arrays().values())

    # Using what was learned

    def potentials(self, X: Input) -> list[ChainPotentials]:
        """The chain scores of each sequence, on a log scale."""
        return list(self._batch(X))

    @property
    def decoding(self) -> str:
        """How `predict` decodes unless it is told: as the method's loss is made for."""
        return "viterbi"

    def predict(self, X: Input, decode: str | None = None) -> list[list[str]]:
        """decode="viterbi": the best labelling of each sequence; "posterior": the most probable label of each token; None: as
        the method's loss is made for, which is posterior for losses of marginals and viterbi for all others.
        """
        return self._predict_by(self._potentials_of, X, decode)

    def _predict_by(self, scores: Scores, X: Input, decode: str | None = None) -> list[list[str]]:
        batch = scores(self.encode(X))
        return self._named(self._decoded(batch, decode), batch.offsets)

    def _decoded(self, batch: ChainPotentials, decode: str | None) -> np.ndarray:
        """Label indices of all positions."""
        decode = decode or self.decoding
        require(decode in DECODINGS, f"decode is {decode!r}; choose 'viterbi' or 'posterior'")
        if decode == "viterbi":
            return viterbi(batch).labels
        self._require_probabilities()
        return forward_backward(batch).node_marginals.argmax(axis=1)

    def k_best(self, X: Input, k: int) -> list[list[tuple[list[str], float]]]:
        """The k best labellings of each sequence with their scores, best first."""
        return [
            [([self.classes_[label] for label in labels], score) for labels, score in best]
            for best in k_best(self._batch(X), k)
        ]

    def marginals(self, X: Input) -> list[np.ndarray]:
        """p(y_t = label | x) for each sequence, an (l, S) array in the order of `classes_`."""
        self._require_probabilities()
        batch = self._batch(X)
        rows = forward_backward(batch).node_marginals
        return [rows[begin:end] for begin, end in zip(batch.offsets[:-1], batch.offsets[1:])]

    def predict_marginals(self, X: Input) -> list[list[dict[str, float]]]:
        """The same as dicts: label -> probability for each token."""
        return [[dict(zip(self.classes_, row)) for row in rows.tolist()] for rows in self.marginals(X)]

    def score_gaps(self, X: Input) -> list[np.ndarray]:
        """How sure the model is of each token, an (l,) array per sequence: by how much the best labelling beats the best one
        with another label there. A difference of scores, **not a probability**: it says which tokens of one model are surer
        than others, and nothing about how often it is right. inf where no other label is possible.
        """
        batch = self._batch(X)
        through = max_marginals(batch)
        if len(self.classes_) > 1:
            two = -np.partition(-through, 1, axis=1)[:, :2]
            gaps = np.where(two[:, 1] > -np.inf, two[:, 0] - two[:, 1], np.inf)
        else:
            gaps = np.full(len(through), np.inf)
        return [gaps[begin:end] for begin, end in zip(batch.offsets[:-1], batch.offsets[1:])]

    def log_prob(self, X: Input, y: Labels | None = None) -> np.ndarray:
        """log p(y | x) of each sequence."""
        self._require_probabilities()
        batch = self._batch(X)
        flat = self._known_labels(flat_labels(labels_of(X, y), batch.offsets))
        posterior = forward_backward(batch)
        posterior.require_digits()
        return path_scores(batch, flat) - posterior.log_partition

    def margins(self, X: Input, y: Labels | None = None) -> np.ndarray:
        """By how much the labels y of each sequence beat the best other labelling (T 3.39), in scores of this model: above 0
        where they are what it predicts. inf where no other labelling is possible, -inf where y is not.
        """
        batch = self._batch(X)
        truth = self._known_labels(flat_labels(labels_of(X, y), batch.offsets))
        given, rivals = path_scores(batch, truth), best_rivals(batch, truth).scores
        possible = given > -np.inf
        return np.where(possible, np.where(possible, given, 0.0) - rivals, -np.inf)

    def score(self, X: Input, y: Labels | None = None) -> float:
        """Token accuracy."""
        batch = self._batch(X)
        truth = self._known_labels(flat_labels(labels_of(X, y), batch.offsets))
        require(truth.size > 0, "X is empty; there is nothing to score")
        return float(np.mean(self._decoded(batch, None) == truth))

    def encode(self, X: Input) -> EncodedSequences:
        """X in the attributes that the model knows; others are dropped."""
        self._fitted("classes_")
        return encode_input(X, self.vocabulary_, self.template_)

    def _batch(self, X: Input) -> ChainPotentials:
        return self._potentials_of(self.encode(X))

    def _known_labels(self, flat: list[str]) -> np.ndarray:
        unknown = sorted(set(flat) - set(self.classes_))
        if unknown:
            known = ", ".join(self.classes_[:10]) + (" ..." if len(self.classes_) > 10 else "")
            raise LabSeqError(f"y has the label {unknown[0]!r}, which the model was not trained on; it knows {known}")
        return Alphabet(self.classes_).encode(flat)

    def _named(self, flat: np.ndarray, offsets: np.ndarray) -> list[list[str]]:
        names = np.array(self.classes_, dtype=object)[flat].tolist()
        return [names[begin:end] for begin, end in zip(offsets[:-1].tolist(), offsets[1:].tolist())]

    def _require_probabilities(self) -> None:
        name = type(self).__name__
        require(self.probabilistic, f"{name} gives scores, not probabilities; use a method that has them, such as CRF")

    def _fitted(self, attribute: str) -> Any:
        require(hasattr(self, attribute), f"this {type(self).__name__} is not fitted yet; call fit first")
        return getattr(self, attribute)

    # Keeping it

    def save(self, path: str | Path | BinaryIO) -> None:
        """Write the model as one npz file of arrays and JSON; `load_model` reads it back. path: or what is open for writing."""
        self._fitted("classes_")
        meta = {
            "learner": type(self).__name__,
            "params": {name: _plain(value) for name, value in self.get_params().items()},
            "classes": self.classes_,
            "attributes": list(self.vocabulary_.names),
            "template": None if self.template_ is None else self.template_.to_dict(),
            "history": self._history_rows,
            "facts": {name: as_plain(getattr(self, name)) for name in self.facts},
        }
        facts_in(meta, self.facts, self.unknown_facts)  # what could not be read back is not written
        history_in(meta)
        meta["outside"] = needs_of(meta, self.source)
        save_archive(path, self._arrays(), meta)

    @classmethod
    def _from_archive(cls, arrays: dict[str, np.ndarray], meta: dict) -> Self:
        """From a file that may be anybody's: everything is checked before it is used."""
        learner = cls(**{name: _restored(value) for name, value in meta["params"].items()})
        learner._check_options()
        learner.classes_, learner.vocabulary_ = names_in(meta, "classes"), Alphabet(names_in(meta, "attributes"))
        require(len(learner.classes_) > 0, "it has no labels")
        learner.template_ = None if meta["template"] is None else FeatureTemplate.from_dict(meta["template"])
        learner._history_rows = history_in(meta)
        for name, value in facts_in(meta, cls.facts, cls.unknown_facts).items():
            setattr(learner, name, value)
        loaded = LoadedArrays(arrays)
        learner._restore(loaded)
        loaded.require_all_taken()
        return learner

    def _arrays(self) -> dict[str, np.ndarray]:
        require(hasattr(self, "model_"), f"{type(self).__name__} does not say what to save; set model_ in _learn")
        return self.model_.arrays()

    def _restore(self, loaded: LoadedArrays) -> None:
        raise LabSeqError(f"{type(self).__name__} does not say what to load; implement _restore")


def _plain(value: object) -> object:
    """A hyper-parameter as JSON holds it: a number of numpy as Python's own, a kernel as a dict."""
    if isinstance(value, Kernel):
        return value.to_dict()
    return as_plain(value)


def _restored(value: object) -> object:
    return kernel_from_dict(value) if isinstance(value, dict) else value
