"""Is one method better than another, or was it luck? Paired tests over sequences, whose tokens are not independent.

Everything is a function of whole-number counts per sequence. Their sums are exact in float64, so that results for a seed
are the same on any machine, with any number of threads, and whether pairs of methods are compared alone or together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import combinations
from typing import NamedTuple

import numpy as np

from labseq_core.checks import LabSeqError, require
from labseq_core.evaluation.label_pairs import Labellings, pair_up
from labseq_core.evaluation.registry import compared_metrics
from labseq_core.evaluation.span import is_bio, spans_by_sequence_of
from labseq_core.evaluation.token import share

ROUNDS = 10_000
LEVEL = 0.05  # of significance, and of what an interval leaves out
EXACT_SWAPS = 12  # methods that differ in so few sequences: all 2^12 patterns of swaps are enumerated, not drawn
BLOCK_CELLS = 2**20  # rounds x sequences that are drawn at a time
TIE = 1e-12  # relative: a difference that much smaller still counts as equal


@dataclass(frozen=True, eq=False)
class SequenceCounts:
    """What one prediction got right in each sequence. Spans are None where the labels are not BIO."""

    tokens: np.ndarray  # int64, (sequences,), as are all
    correct: np.ndarray
    spans_true: np.ndarray | None = None
    spans_predicted: np.ndarray | None = None
    spans_right: np.ndarray | None = None  # same begin, same end, same kind

    @classmethod
    def of(cls, y_true: Labellings, y_pred: Labellings) -> SequenceCounts:
        """Counts of a prediction; a fold with nothing but O has spans too, none."""
        pairs = pair_up(y_true, y_pred)
        correct = np.add.reduceat((pairs.true == pairs.predicted).astype(np.int64), pairs.offsets[:-1])
        has_spans = is_bio(pairs.labels) or pairs.labels == ("O",)
        return cls(np.diff(pairs.offsets), correct, *(spans_by_sequence_of(pairs) if has_spans else ()))

    @classmethod
    def concatenate(cls, parts: Sequence[SequenceCounts]) -> SequenceCounts:
        """Folds one after the other; spans are kept if every fold has them, that is if the labels of all are BIO."""
        require(len(parts) > 0, "parts is empty; give the counts of at least one fold")
        columns = {field.name: [getattr(part, field.name) for part in parts] for field in fields(cls)}
        return cls(
            **{name: np.concatenate(folds) for name, folds in columns.items() if all(x is not None for x in folds)}
        )

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def accuracy(self) -> float:
        return share(int(self.correct.sum()), int(self.tokens.sum()))

    @property
    def span_f1(self) -> float | None:
        if self.spans_true is None:
            return None
        return share(2 * int(self.spans_right.sum()), int(self.spans_true.sum() + self.spans_predicted.sum()))


class Interval(NamedTuple):
    """How much higher the metric of the first method is, and between which values that lies."""

    difference: float
    low: float
    high: float


def standard_error(counts: SequenceCounts, metric: str = "accuracy") -> float | None:
    """Of a metric, as sequences vary: how far it would be off with other sequences of the same kind. None for one sequence.

    The metric is a ratio Σ part_i / Σ whole_i =: r, whose error is, to first order,
    sqrt(n / (n - 1) · Σ (part_i - r whole_i)²) / Σ whole_i.
    """
    table = _Table.of({"the method": counts}, metric)
    part, whole = table.gain * table.right[:, 0], table.size + table.answers[:, 0]
    n, total = len(part), whole.sum()
    if n < 2 or not total:
        return None
    residuals = part - part.sum() / total * whole
    return float(np.sqrt(n / (n - 1) * (residuals**2).sum()) / total)


def holm(p_values: Sequence[float]) -> np.ndarray:
    """Corrected for as many tests as there are, step by step from the smallest: max over i <= j of (m - i) p_(i), i from 0."""
    given = np.asarray(p_values, dtype=np.float64)
    require(given.ndim == 1, "p_values must be a flat list of numbers")
    require(bool(((given >= 0.0) & (given <= 1.0)).all()), "p_values must lie between 0 and 1")
    order = np.argsort(given, kind="stable")
    corrected = np.empty(len(given))
    corrected[order] = np.maximum.accumulate(np.minimum(np.arange(len(given), 0, -1) * given[order], 1.0))
    return corrected


def compare_all(
    counts_by_method: Mapping[str, SequenceCounts], metric: str = "accuracy", rounds: int = ROUNDS, seed: int = 0
) -> list[dict]:
    """A row for each pair of methods: difference of the metric with its interval, p value, and p by Holm over all pairs.

    p, two-sided: how often the difference is as large as found when methods are swapped sequence by sequence, (1 + hits) /
    (1 + rounds), or exactly hits / patterns where at most 2^12 patterns of swaps make a difference. The interval leaves out
    the share LEVEL of the differences when sequences are drawn anew.
    """
    rounds, seed = _checked_draws(rounds, seed)
    table = _Table.of(counts_by_method, metric)
    if not table.pairs:
        return []
    p_values = _permutation_p(table, rounds, seed)
    intervals = _bootstrap_intervals(table, rounds, seed)
    names = list(counts_by_method)
    return [
        {
            "method_a": names[a], "method_b": names[b], **interval._asdict(),
            "p": p, "p_holm": p_holm, "significant": p_holm <= LEVEL,
        }
        for (a, b), interval, p, p_holm in zip(table.pairs, intervals, p_values, holm(p_values).tolist())
    ]  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Table:
    """The `Ratio` of all methods side by side. The metric of a method is gain · Σ right / (Σ size + Σ answers).

    accuracy: right = correct tokens, size = tokens, no answers, gain 1. Span F1: right spans, true spans, predicted spans,
    gain 2. So both metrics are one formula, and 0/0 = 0.
    """

    size: np.ndarray  # float64, (sequences,): the same for all methods
    right: np.ndarray  # float64, (sequences, methods)
    answers: np.ndarray  # float64, (sequences, methods)
    gain: float

    @classmethod
    def of(cls, counts_by_method: Mapping[str, SequenceCounts], metric: str) -> _Table:
        known = {each.name: each.ratio for each in compared_metrics()}
        require(metric in known, f"metric is {metric!r}; choose from {', '.join(known)}")
        require(len(counts_by_method) > 0, "there is no method to compare; give the counts of at least two")
        _require_same_sequences(counts_by_method)
        ratios = {name: known[metric](one) for name, one in counts_by_method.items()}
        for name, ratio in ratios.items():
            require(ratio is not None, f"{name} has no {metric}, which its labels do not define; compare by accuracy")
        (first_name, first), *others = ratios.items()
        for name, ratio in others:
            same = np.array_equal(ratio.size, first.size)
            require(same, f"{first_name} and {name} have other sizes in {metric}; compare predictions of the same data")
        right = np.column_stack([ratio.right for ratio in ratios.values()]).astype(np.float64)
        answers = np.zeros_like(right)
        if first.answers is not None:
            answers = np.column_stack([ratio.answers for ratio in ratios.values()]).astype(np.float64)
        return cls(first.size.astype(np.float64), right, answers, first.gain)

    @property
    def pairs(self) -> list[tuple[int, int]]:
        return list(combinations(range(self.right.shape[1]), 2))

    @property
    def summands(self) -> np.ndarray:
        """(sequences, 2 · methods): right and answers side by side."""
        return np.concatenate([self.right, self.answers], axis=1)

    def swapped_differences(self, summed_signs: np.ndarray, a, b) -> np.ndarray:
        """metric(a) - metric(b) after swaps; summed_signs: (..., 2 · methods), Σ_i ±summand_i with - where i is swapped.

        Swapping i moves right_a - right_b of i from one method to the other:
        2 Σ right_a' = Σ (right_a + right_b) + Σ ± (right_a - right_b), and likewise for b with the other sign.
        """
        methods = self.right.shape[1]
        totals = self.summands.sum(axis=0)
        moved = summed_signs[..., a] - summed_signs[..., b]
        moved_answers = summed_signs[..., methods + a] - summed_signs[..., methods + b]
        right, answers = totals[a] + totals[b], totals[methods + a] + totals[methods + b]
        return self.difference(
            (right + moved) / 2.0, (answers + moved_answers) / 2.0,
            (right - moved) / 2.0, (answers - moved_answers) / 2.0, self.size.sum(),
        )  # fmt: skip

    def difference(self, right_a, answers_a, right_b, answers_b, size) -> np.ndarray:
        """gain · (right_a / (size + answers_a) - right_b / (size + answers_b)) over a common denominator.

        Where counts are whole numbers, numerator and denominator are exact: equal differences are equal but for one rounding.
        """
        whole_a, whole_b = size + answers_a, size + answers_b
        numerator = right_a * whole_b - right_b * whole_a
        denominator = whole_a * whole_b
        # Where a whole is 0, so is all that is right, and the numerator.
        return np.divide(self.gain * numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0.0)


def _permutation_p(table: _Table, rounds: int, seed: int) -> list[float]:
    """The p value of each pair: exact for pairs that differ in few sequences, the rest all at once from the same swaps."""
    first, second = np.array(table.pairs).T
    differ = (table.right[:, first] != table.right[:, second]) | (table.answers[:, first] != table.answers[:, second])
    exact = differ.sum(axis=0) <= EXACT_SWAPS
    p_values = np.empty(len(first))
    for pair in np.flatnonzero(exact):
        p_values[pair] = _exact_p(table, int(first[pair]), int(second[pair]), differ[:, pair])
    if not exact.all():
        a, b = first[~exact], second[~exact]
        summands = table.summands
        observed = np.abs(table.swapped_differences(summands.sum(axis=0), a, b)) * (1.0 - TIE)
        hits = np.zeros(len(a), dtype=np.int64)
        for signs in _sign_blocks(len(summands), rounds, seed):
            hits += (np.abs(table.swapped_differences(signs @ summands, a, b)) >= observed).sum(axis=0)
        p_values[~exact] = (1 + hits) / (1 + rounds)
    return p_values.tolist()


def _exact_p(table: _Table, a: int, b: int, differ: np.ndarray) -> float:
    """The share of all patterns of swaps with a difference as large; where methods are equal a swap does nothing."""
    n_swaps = int(differ.sum())
    patterns = np.arange(2**n_swaps)[:, np.newaxis] >> np.arange(n_swaps) & 1
    summed = (1.0 - 2.0 * patterns) @ table.summands[differ]
    differences = np.abs(table.swapped_differences(summed, a, b))
    return float(np.mean(differences >= differences[0] * (1.0 - TIE)))  # pattern 0 swaps nothing


def _bootstrap_intervals(table: _Table, rounds: int, seed: int) -> list[Interval]:
    first, second = np.array(table.pairs).T
    methods = table.right.shape[1]
    columns = np.column_stack([table.summands, table.size])

    def differences(sums: np.ndarray) -> np.ndarray:
        right, answers, size = sums[..., :methods], sums[..., methods : 2 * methods], sums[..., 2 * methods :]
        return table.difference(
            right[..., first], answers[..., first], right[..., second], answers[..., second], size
        )  # fmt: skip

    drawn = [differences(weights @ columns) for weights in _weight_blocks(len(columns), rounds, seed)]
    low, high = np.quantile(np.concatenate(drawn), [LEVEL / 2.0, 1.0 - LEVEL / 2.0], axis=0)
    observed = differences(columns.sum(axis=0))
    return [Interval(*row) for row in zip(observed.tolist(), low.tolist(), high.tolist())]


def _sign_blocks(n_sequences: int, rounds: int, seed: int) -> Iterator[np.ndarray]:
    """±1 for each (round, sequence), some rounds at a time; each round owns whole words of random bits."""
    generator = np.random.default_rng(seed)
    n_words = -(-n_sequences // 32)
    for block in _blocks(n_sequences, rounds):
        words = generator.integers(0, 2**32, size=(block, n_words), dtype=np.uint32).astype("<u4")
        bits = np.unpackbits(words.view(np.uint8), axis=1, count=n_sequences, bitorder="little")
        yield 1.0 - 2.0 * bits


def _weight_blocks(n_sequences: int, rounds: int, seed: int) -> Iterator[np.ndarray]:
    """How often each sequence is drawn in each round, when as many are drawn as there are, with replacement."""
    generator = np.random.default_rng(seed)
    for block in _blocks(n_sequences, rounds):
        drawn = generator.integers(0, n_sequences, size=(block, n_sequences))
        drawn += np.arange(block)[:, np.newaxis] * n_sequences
        yield np.bincount(drawn.ravel(), minlength=drawn.size).reshape(drawn.shape).astype(np.float64)


def _blocks(n_sequences: int, rounds: int) -> Iterator[int]:
    size = max(1, BLOCK_CELLS // n_sequences)
    return (min(size, rounds - begin) for begin in range(0, rounds, size))


def _require_same_sequences(counts_by_method: Mapping[str, SequenceCounts]) -> None:
    (first_name, first), *others = counts_by_method.items()
    require(len(first) > 0, f"the counts of {first_name} are empty; there is nothing to compare")
    for name, one in others:
        both = f"{first_name} and {name}"
        same = np.array_equal(first.tokens, one.tokens)
        require(
            same, f"{both} have other sequences ({len(first)} and {len(one)}); compare predictions of the same data"
        )


def _checked_draws(rounds: int, seed: int) -> tuple[int, int]:
    for name, value, lowest in (("rounds", rounds, 1), ("seed", seed, 0)):
        whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        if not whole or value < lowest:
            raise LabSeqError(f"{name} is {value!r}; give a whole number of at least {lowest}")
    return int(rounds), int(seed)
