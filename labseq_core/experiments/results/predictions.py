"""What a method said of every token that it was scored on: compact arrays that are kept with a run."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from labseq_core.archives import MOST_TOKENS, LoadedArrays, load_archive, names_in, save_archive
from labseq_core.checks import LabSeqError, require
from labseq_core.csv_text import csv_text
from labseq_core.data.alphabet import Alphabet
from labseq_core.evaluation import AbstentionCurve, ReliabilityBin, SequenceCounts, reliability
from labseq_core.evaluation.calibration import BINS
from labseq_core.experiments.plan.config import MAX_FOLDS

ROUNDING = 1e-9  # of a sum of probabilities
COLUMNS = ("fold", "sequence", "position", "true", "predicted", "answer", "confidence")


@dataclass(frozen=True, eq=False)
class Predictions:
    """All arrays but `lengths` and `folds` have an entry for each token, in the order of the text."""

    labels: list[str]  # of the codes
    lengths: np.ndarray  # int64, (sequences,)
    folds: np.ndarray  # int64, (sequences,)
    truth: np.ndarray  # int32
    predicted: np.ndarray  # int32, the best labelling
    answers: np.ndarray  # int32, the label to which the confidence belongs: `predicted`, but for runs of early versions
    confidence: np.ndarray  # float64: its probability, or by how much the best labelling beats the best one without it
    probability: bool  # whether confidences are probabilities

    @classmethod
    def of(
        cls, fold: int, truth: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]],
        confidence: Sequence[np.ndarray], probability: bool,
    ) -> Predictions:  # fmt: skip
        names = Alphabet(sorted({label for rows in (truth, predicted) for row in rows for label in row}))
        true, said = (names.encode([label for row in rows for label in row]).astype(np.int32)
                      for rows in (truth, predicted))  # fmt: skip
        lengths = np.array([len(row) for row in truth], dtype=np.int64)
        flat = np.concatenate([np.asarray(row, dtype=np.float64) for row in confidence])
        return cls(list(names.names), lengths, np.full(len(lengths), fold), true, said, said, flat, probability)

    @classmethod
    def joined(cls, parts: Iterable[Predictions]) -> Predictions:
        """Those of several folds as one."""
        parts = list(parts)
        require(len(parts) > 0, "there are no predictions to join")
        names = Alphabet(sorted({label for part in parts for label in part.labels}))
        code = [names.encode(part.labels).astype(np.int32) for part in parts]
        coded = {
            name: np.concatenate([to[getattr(part, name)] for to, part in zip(code, parts)])
            for name in ("truth", "predicted", "answers")
        }
        plain = {
            name: np.concatenate([getattr(part, name) for part in parts]) for name in ("lengths", "folds", "confidence")
        }
        return cls(list(names.names), **plain, **coded, probability=all(part.probability for part in parts))

    def labellings(self, name: str) -> list[list[str]]:
        """`truth`, `predicted` or `answers` as labels, a list per sequence."""
        names = np.array(self.labels, dtype=object)[getattr(self, name)]
        return [row.tolist() for row in np.split(names, np.cumsum(self.lengths)[:-1])]

    def confidences(self) -> list[np.ndarray]:
        """An array per sequence."""
        return np.split(self.confidence, np.cumsum(self.lengths)[:-1])

    def counts(self) -> SequenceCounts:
        """What comparisons of methods are made of."""
        return SequenceCounts.of(self.labellings("truth"), self.labellings("predicted"))

    def abstention(self) -> AbstentionCurve:
        """What is gained by withholding the tokens of least confidence."""
        return AbstentionCurve.of(self.confidence, self.truth == self.answers, calibrated=self.probability)

    def reliability(self, bins: int = BINS) -> tuple[ReliabilityBin, ...]:
        """Promised and kept accuracy by confidence; only of probabilities."""
        require(self.probability, "confidences of this method are no probabilities; calibrate it on development data")
        return reliability(self.confidence, self.truth == self.answers, bins)

    def rows(self) -> Iterable[tuple]:
        """A row for each token, with the `COLUMNS`; sequences and positions are counted from 1 within their fold."""
        names, place = self.labels, 0
        seen: dict[int, int] = {}
        for length, fold in zip(self.lengths.tolist(), self.folds.tolist()):
            seen[fold] = seen.get(fold, 0) + 1
            for position in range(1, length + 1):
                codes = (self.truth[place], self.predicted[place], self.answers[place])
                yield fold + 1, seen[fold], position, *(names[code] for code in codes), float(self.confidence[place])
                place += 1

    def to_bytes(self) -> bytes:
        arrays = {
            name: getattr(self, name) for name in ("lengths", "folds", "truth", "predicted", "answers", "confidence")
        }
        return archive_bytes(lambda path: save_archive(
            path, arrays, {"labels": self.labels, "probability": self.probability}))  # fmt: skip

    @classmethod
    def from_bytes(cls, data: bytes) -> Predictions:
        """From a file that may be anybody's: everything is checked before it is used."""
        fix = "run it again, or export it again where it comes from"
        arrays, meta = load_archive(data, "predictions", fix)
        try:
            return cls._checked(LoadedArrays(arrays), meta)
        except (LabSeqError, KeyError, TypeError) as problem:
            cause = problem if isinstance(problem, LabSeqError) else "parts are missing"
            raise LabSeqError(f"the stored predictions are damaged: {cause}; {fix}") from None

    @classmethod
    def _checked(cls, loaded: LoadedArrays, meta: dict) -> Predictions:
        labels, probability = names_in(meta, "labels"), meta["probability"]
        require(isinstance(probability, bool), "probability is neither true nor false")
        lengths = loaded.indices("lengths", below=MOST_TOKENS)
        require(lengths.size > 0 and bool((lengths > 0).all()), "lengths has an empty sequence")
        n_tokens = int(lengths.sum())
        folds = loaded.indices("folds", below=MAX_FOLDS, size=len(lengths))
        codes = [loaded.indices(name, len(labels), n_tokens, np.int32) for name in ("truth", "predicted", "answers")]
        confidence = loaded.floats("confidence", n_tokens, infinite=True)
        inside = (confidence >= 0.0) & (confidence <= 1.0 + ROUNDING) if probability else ~np.isnan(confidence)
        require(
            bool(inside.all()),
            f"confidence holds what is no {'probability' if probability else 'difference of scores'}",
        )
        loaded.require_all_taken("predictions")
        return cls(labels, lengths, folds, *codes, confidence, probability)


def archive_bytes(save) -> bytes:
    """What `save(path)` writes; in memory, so that a full disk does not make a training fail."""
    archive = io.BytesIO()
    save(archive)
    return archive.getvalue()


def predictions_csv(by_label: dict[str, Predictions], **about: object) -> str:
    """All of them as CSV text; `about` are columns before them that say the same in each row."""
    rows = ((*about.values(), name, *row, each.probability) for name, each in by_label.items() for row in each.rows())
    return csv_text([*about, "method", *COLUMNS, "probability"], rows)
