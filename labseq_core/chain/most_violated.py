"""Labellings that rival given ones in a batch: the best other one, those that violate a margin most.

Each sequence is decoded on its own, so results do not depend on threads. `sequences` names those that are looked at (None:
all); labels come back for all positions, and are the given ones in sequences that are not looked at.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labseq_core.chain.derivatives import refuse_forbidden
from labseq_core.chain.inference import path_scores
from labseq_core.chain.potentials import ChainPotentials
from labseq_core.chain.recursions import most_violated
from labseq_core.chain.recursions.batch import CHUNK_POSITIONS, MAX_CHUNKS, longest_among
from labseq_core.checks import as_label_indices, require_labellings
from labseq_core.compiling.routines import BatchRoutine

COUNTED_CELLS = 4_000_000  # numbers, 32 MB a thread: longer sequences are not counted distance by distance


@dataclass(frozen=True)
class Rivals:
    """A labelling y ≠ y* of each sequence that was looked at, and what it reaches."""

    labels: np.ndarray  # (positions,) int64
    scores: np.ndarray  # (sequences looked at,): what was made largest
    bounds: np.ndarray  # (sequences looked at,): no labelling reaches more; the scores themselves where these are exact


def best_rivals(potentials: ChainPotentials, labels: np.ndarray, sequences: np.ndarray | None = None) -> Rivals:
    """argmax of F(x, y) over all y but the given labels: the runner-up of 2-best decoding where these are the best (T 4.3.1).

    Where there is no other labelling the score is -inf and the labels are the given ones.
    """
    arguments, labels, rival_labels, scores = _prepare(potentials, labels, sequences)
    rivals_batch(*arguments, labels, rival_labels, scores, work=_work(potentials, arguments))
    return Rivals(rival_labels, scores, scores)


@dataclass(frozen=True)
class RivalLists:
    """Some labellings y ≠ y* of each sequence that was looked at, best first."""

    counts: np.ndarray  # (sequences looked at,): how many
    scores: np.ndarray  # (sequences looked at, k): what was made largest; -inf beyond the count
    labels: np.ndarray  # (k, positions)


def diverse_rivals(
    potentials: ChainPotentials,
    labels: np.ndarray,
    sequences: np.ndarray | None = None,
    *,
    k: int,
    loss: float = 0.0,
    least: np.ndarray | None = None,
    share: float = 0.0,
) -> RivalLists:
    """Up to k labellings y with high F(x, y) + loss Δ(y), each the best with some wrong label that none before it has.

    The first is the best of all but the given labels. The others exceed `least` (one number for each sequence of the
    batch; None: -inf) by at least this share of what the first one does.
    """
    require_labellings(k)
    arguments, labels, _, first = _prepare(potentials, labels, sequences)
    floor = np.full(len(potentials), -1e300) if least is None else np.ascontiguousarray(least, dtype=np.float64)
    rival_labels = np.empty((k, len(labels)), dtype=np.int64)
    counts, scores = np.zeros(first.size, dtype=np.int64), np.full((first.size, k), -np.inf)
    work = 2 * _work(potentials, arguments)
    diverse_batch(*arguments, labels, float(loss), floor, float(share), rival_labels, scores, counts, work=work)
    scores[np.arange(k) >= counts[:, np.newaxis]] = -np.inf
    return RivalLists(counts, scores, rival_labels)


def slack_rescaled_rivals(
    potentials: ChainPotentials, labels: np.ndarray, sequences: np.ndarray | None = None, cells: int = COUNTED_CELLS
) -> Rivals:
    """argmax of Δ(y) (1 - F(x, y*) + F(x, y)), y* the given labels; y* itself, with score 0, where none has it above 0.

    Exact unless counting distances would take more than `cells` numbers for a sequence: then the bound is above the score.
    """
    truth_scores = path_scores(potentials, labels)
    refuse_forbidden(truth_scores)
    arguments, labels, rival_labels, scores = _prepare(potentials, labels, sequences)
    bounds = np.empty_like(scores)
    work = 4 * _work(potentials, arguments)
    slack_rescaled_batch(*arguments, labels, truth_scores, int(cells), rival_labels, scores, bounds, work=work)
    return Rivals(rival_labels, scores, bounds)


def _prepare(potentials: ChainPotentials, labels: np.ndarray, sequences: np.ndarray | None) -> tuple:
    """Arguments of the loops, checked labels, and arrays for what is found."""
    labels = as_label_indices("labels", labels, len(potentials.node), potentials.n_labels)
    chosen = np.arange(len(potentials)) if sequences is None else np.ascontiguousarray(sequences, dtype=np.int64)
    lengths = (potentials.offsets[1:] - potentials.offsets[:-1])[chosen]
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if ends.size else 0
    n_chunks = min(MAX_CHUNKS, chosen.size, -(-total // CHUNK_POSITIONS))
    inner = np.searchsorted(ends, np.linspace(0, total, n_chunks + 1)[1:-1], side="right") if n_chunks > 1 else []
    chunks = np.unique(np.concatenate([[0], inner, [chosen.size]]).astype(np.int64))
    arguments = (
        potentials.start, potentials.node, potentials.edge_matrices, potentials.stop, potentials.offsets,
        potentials.edge_stride, chosen, chunks,
    )  # fmt: skip
    return arguments, labels, labels.copy(), np.empty(chosen.size)


def _work(potentials: ChainPotentials, arguments: tuple) -> int:
    """About how many multiplications one pass over the chosen sequences takes."""
    share = arguments[6].size / max(1, len(potentials))
    return int(share * potentials.node.size * potentials.n_labels)


@BatchRoutine
def rivals_batch(
    first_chunk, end_chunk, start, node, edge, stop, offsets, stride, sequences, chunks, truth, labels, scores
):
    n_labels = node.shape[1]
    for chunk in range(first_chunk, end_chunk):
        longest = longest_among(sequences, chunks[chunk], chunks[chunk + 1], offsets)
        best, followed = np.empty((longest, n_labels)), np.empty(longest)
        for place in range(chunks[chunk], chunks[chunk + 1]):
            begin, end = offsets[sequences[place]], offsets[sequences[place] + 1]
            edges = edge[stride * begin : stride * end + (1 - stride)]
            scores[place] = most_violated.rival_sequence(
                node[begin:end], start, stop, edges, stride, truth[begin:end], labels[begin:end], best, followed
            )


@BatchRoutine
def diverse_batch(
    first_chunk,
    end_chunk,
    start,
    node,
    edge,
    stop,
    offsets,
    stride,
    sequences,
    chunks,
    truth,
    loss,
    least,
    share,
    labels,
    scores,
    counts,
):
    n_labels, k = node.shape[1], labels.shape[0]
    for chunk in range(first_chunk, end_chunk):
        longest = longest_among(sequences, chunks[chunk], chunks[chunk + 1], offsets)
        best, ahead = np.empty((longest, n_labels)), np.empty((longest, n_labels))
        through, rows = np.empty((longest, n_labels)), np.empty((k, longest), dtype=np.int64)
        for place in range(chunks[chunk], chunks[chunk + 1]):
            i = sequences[place]
            begin, end = offsets[i], offsets[i + 1]
            length, edges = end - begin, edge[stride * begin : stride * end + (1 - stride)]
            counts[place] = most_violated.diverse_sequence(
                node[begin:end], start, stop, edges, stride, truth[begin:end], loss, least[i], share, rows[:, :length],
                scores[place], best[:length], ahead[:length], through[:length],
            )  # fmt: skip
            for j in range(counts[place]):
                for t in range(length):
                    labels[j, begin + t] = rows[j, t]


@BatchRoutine
def slack_rescaled_batch(
    first_chunk,
    end_chunk,
    start,
    node,
    edge,
    stop,
    offsets,
    stride,
    sequences,
    chunks,
    truth,
    truth_scores,
    cells,
    labels,
    scores,
    bounds,
):
    n_labels = node.shape[1]
    for chunk in range(first_chunk, end_chunk):
        longest = longest_among(sequences, chunks[chunk], chunks[chunk + 1], offsets)
        best, tried = np.empty((longest, n_labels)), np.empty(longest, dtype=np.int64)
        for place in range(chunks[chunk], chunks[chunk + 1]):
            i = sequences[place]
            begin, end = offsets[i], offsets[i + 1]
            edges = edge[stride * begin : stride * end + (1 - stride)]
            scores[place], bounds[place] = most_violated.slack_rescaled_sequence(
                node[begin:end], start, stop, edges, stride, truth[begin:end], truth_scores[i], cells, labels[begin:end],
                best, tried[: end - begin],
            )  # fmt: skip
