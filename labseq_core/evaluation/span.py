"""Exact-span precision, recall and F1 by conlleval's rules, which also read ill-formed labellings.

A label is split at its first '-' into tag and kind: 'I-PER' is tag I of kind PER, a label without '-' is all tag.
A span never leaves its sequence, whose surroundings count as O. Between neighbouring positions

* a span begins where the tag is B or S, where it is I or E after O, E or S, and wherever the kind changes on a tag
  other than O: so I-PER after O or after I-LOC begins a span, whether the data is IOB1, IOB2 or neither;
* a span ends before a position where another begins, after E or S, before O, and wherever the kind changes.

For B, I and O this is conlleval to the letter. conlleval knows nothing of S and lets B go on after E; the reading of E
and S here is that of the IOBES scheme. Any other label without '-' opens a span only right after another kind, as in
conlleval, which however forgets to close it before O.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from labseq_core.evaluation.label_pairs import Labellings, LabelPairs, as_sequences, distinct_labels, encode, pair_up
from labseq_core.evaluation.metric import Metric, Ratio
from labseq_core.evaluation.token import share

_TAGS = "OBIES"
_O, _B, _I, _E, _S = range(len(_TAGS))
_OTHER = len(_TAGS)
_OUTSIDE = "O", "."  # conlleval takes a lone full stop for O


@dataclass(frozen=True)
class SegmentCounts:
    """Spans counted; a share of nothing (0/0) is 0.0."""

    correct: int  # same begin, same end, same kind
    predicted: int
    true: int

    @property
    def precision(self) -> float:
        return share(self.correct, self.predicted)

    @property
    def recall(self) -> float:
        return share(self.correct, self.true)

    @property
    def f1(self) -> float:
        return share(2 * self.correct, self.predicted + self.true)


@dataclass(frozen=True)
class SegmentScores(SegmentCounts):
    """Counts over all spans, and for each kind in sorted order."""

    per_type: Mapping[str, SegmentCounts] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class _Spans:
    begin: np.ndarray  # int64, (n_spans,), ascending flat positions
    end: np.ndarray  # int64, (n_spans,), one past the last position
    kind: np.ndarray  # int64, (n_spans,)


class _Reader:
    """Reads spans off flat codes of `labels`; both sides of a comparison use one reader and so share kind codes."""

    def __init__(self, labels: tuple[str, ...]):
        parts = [_split(label) for label in labels]
        self.kinds = sorted({"", *(kind for _, kind in parts)})
        kind_code = {kind: number for number, kind in enumerate(self.kinds)}
        self._tag = np.array([_tag_code(tag) for tag, _ in parts], dtype=np.int64)
        self._kind = np.array([kind_code[kind] for _, kind in parts], dtype=np.int64)
        self._no_kind = kind_code[""]

    def spans(self, codes: np.ndarray, offsets: np.ndarray) -> _Spans:
        tag, kind = self._tag[codes], self._kind[codes]
        tag_before, kind_before = _shifted(tag, offsets, _O), _shifted(kind, offsets, self._no_kind)
        other_kind = kind != kind_before
        inside = tag != _O
        opens = (tag == _B) | (tag == _S) | (_is(tag, _I, _E) & _is(tag_before, _O, _E, _S)) | (inside & other_kind)
        closing = np.ones(len(codes) + 1, dtype=bool)
        closing[:-1] = opens | ~inside | other_kind | _is(tag_before, _E, _S)
        closing[offsets] = True
        begin, boundaries = np.flatnonzero(opens), np.flatnonzero(closing)
        return _Spans(begin, boundaries[np.searchsorted(boundaries, begin, side="right")], kind[begin])


def spans(labels: Sequence[str]) -> list[tuple[int, int, str]]:
    """The spans (begin, end, kind) of one labelling in order; `end` is one past the last position."""
    (sequence,) = as_sequences("labels", [labels])
    if not sequence:
        return []
    distinct = tuple(sorted(distinct_labels("labels", [sequence])))
    reader = _Reader(distinct)
    read = reader.spans(encode(sequence, distinct), np.array([0, len(sequence)]))
    return [
        (begin, end, reader.kinds[kind])
        for begin, end, kind in zip(read.begin.tolist(), read.end.tolist(), read.kind.tolist())
    ]


def segment_scores(y_true: Labellings, y_pred: Labellings) -> SegmentScores:
    """Precision, recall and F1 of exact spans (same begin, end and kind), over all and for each kind; 0/0 = 0.0."""
    return segment_scores_of(pair_up(y_true, y_pred))


def is_bio(labels: Iterable[str]) -> bool:
    """Whether a label set looks like BIO: nothing but O, B-X and I-X, and at least one B-X or I-X."""
    others = set(labels) - {"O"}
    return bool(others) and all(label[:2] in ("B-", "I-") and len(label) > 2 for label in others)


def segment_scores_of(pairs: LabelPairs) -> SegmentScores:
    reader, true, predicted, exact = _matched(pairs)
    tallies = [
        np.bincount(kind, minlength=len(reader.kinds)).tolist()
        for kind in (predicted.kind[exact], predicted.kind, true.kind)
    ]
    by_kind = {kind: SegmentCounts(*counts) for kind, *counts in zip(reader.kinds, *tallies) if any(counts)}
    return SegmentScores(int(exact.sum()), len(predicted.begin), len(true.begin), by_kind)


def _f1_ratio(counts) -> Ratio | None:
    if counts.spans_true is None:
        return None
    return Ratio(counts.spans_right, counts.spans_true, counts.spans_predicted, gain=2.0)


SPAN_PRECISION = Metric(
    "span_precision", "Span precision", "share of the predicted spans that are right", "spans",
    lambda found: found.precision, shown="table",
)  # fmt: skip
SPAN_RECALL = Metric(
    "span_recall", "Span recall", "share of the true spans that were found", "spans", lambda found: found.recall,
    shown="table",
)  # fmt: skip
SPAN_F1 = Metric(
    "span_f1", "Span F1",
    "harmonic mean of precision and recall over whole spans, by the rules of conlleval: a span counts only if "
    "begin, end and kind are right, and an I- label without a B- before it opens a span too",
    "spans", lambda found: found.f1, shown="always", short="span F1", ratio=_f1_ratio,
)  # fmt: skip


def spans_by_sequence_of(pairs: LabelPairs) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """How many spans each sequence has: true ones, predicted ones, and right ones of those."""
    _, true, predicted, exact = _matched(pairs)
    counted = []
    for begin in (true.begin, predicted.begin, predicted.begin[exact]):
        owner = np.searchsorted(pairs.offsets, begin, side="right") - 1
        counted.append(np.bincount(owner, minlength=pairs.n_sequences))
    return tuple(counted)


def _matched(pairs: LabelPairs) -> tuple[_Reader, _Spans, _Spans, np.ndarray]:
    """The spans of both sides, and which of the predicted ones are exact."""
    reader = _Reader(pairs.labels)
    true, predicted = reader.spans(pairs.true, pairs.offsets), reader.spans(pairs.predicted, pairs.offsets)
    # At most one span begins at a position, so a look at the true span beginning there decides.
    end_there, kind_there = np.full(pairs.n_tokens, -1), np.full(pairs.n_tokens, -1)
    end_there[true.begin], kind_there[true.begin] = true.end, true.kind
    exact = (end_there[predicted.begin] == predicted.end) & (kind_there[predicted.begin] == predicted.kind)
    return reader, true, predicted, exact


def _split(label: str) -> tuple[str, str]:
    tag, _, kind = label.partition("-")
    return tag, kind


def _tag_code(tag: str) -> int:
    if tag in _OUTSIDE:
        return _O
    return _TAGS.index(tag) if len(tag) == 1 and tag in _TAGS else _OTHER


def _is(tags: np.ndarray, *wanted: int) -> np.ndarray:
    table = np.zeros(_OTHER + 1, dtype=bool)
    table[list(wanted)] = True
    return table[tags]


def _shifted(values: np.ndarray, offsets: np.ndarray, outside: int) -> np.ndarray:
    """The value at the position before, within the same sequence; `outside` at its first position."""
    before = np.empty_like(values)
    before[1:] = values[:-1]
    before[offsets[:-1]] = outside
    return before
