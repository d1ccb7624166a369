"""Inference on a batch of chains: pure functions of `ChainPotentials` that return small frozen results."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labseq_core.chain.potentials import ChainPotentials, ChainStatistics
from labseq_core.chain.recursions import batch
from labseq_core.chain.recursions.scores import subtract_path_counts
from labseq_core.chain.recursions.sums import exponentiate_edges
from labseq_core.checks import LabSeqError, as_label_indices, require_labellings

SUM_TOLERANCE = 1e-6  # of probabilities of one token
LARGEST_SUM = 1e11  # of scores along a sequence; there neighbouring floats differ by 1.5e-5


@dataclass(frozen=True)
class Posterior:
    """p(y|x) = e^{F(x, y)} / Z of each sequence, summed up."""

    log_partition: np.ndarray  # (sequences,): log Z
    statistics: (
        ChainStatistics  # node[t, s] = p(y_t = s); edge = expected number of transitions (per position if given so)
    )
    in_log_domain: np.ndarray  # (sequences,) bool: scores out of the range of the scaled recursion

    potentials: ChainPotentials

    @property
    def node_marginals(self) -> np.ndarray:
        """p(y_t = s), (positions, S); an error where scores are too large for probabilities."""
        self.require_digits()
        return self.statistics.node

    def require_digits(self) -> None:
        """That scores are known well enough for probabilities, which are e to the power of their differences.

        A sum of scores of size M is known to about M · 1e-16, so that this is the relative error of probabilities. It is at
        most 1e-5 here; at M = 1e14 some probabilities would be 1.07. What counts are the highest scores at each position, and
        log Z: forbidding labels by -1e30 costs no digits.
        """
        scores = self.potentials
        at_position = _size(scores.node.max(axis=1)) + _size(scores.edge_matrices.max(axis=(1, 2)))
        ends = _size(scores.start.max()) + _size(scores.stop.max())
        sums = np.add.reduceat(at_position, scores.offsets[:-1]) + ends if len(scores) else np.zeros(0)
        largest = np.maximum(sums, np.abs(self.log_partition)).max(initial=0.0)
        even = np.abs(self.statistics.node.sum(axis=1) - 1.0) <= SUM_TOLERANCE
        if largest > LARGEST_SUM or not even.all():
            raise LabSeqError(
                f"the scores of a sequence sum up to {largest:.2g}, so that float64 has no digits left for probabilities; "
                "scale attribute values or scores down"
            )


def _size(highest: np.ndarray) -> np.ndarray:
    """Its absolute value; 0 where all was forbidden."""
    return np.where(highest > -np.inf, np.abs(highest), 0.0)


@dataclass(frozen=True)
class BestLabelling:
    """argmax_y F(x, y) of each sequence."""

    labels: np.ndarray  # (positions,) int64
    scores: np.ndarray  # (sequences,)


def forward_backward(potentials: ChainPotentials) -> Posterior:
    """log Z, node marginals and expected transition counts, O(l S²) a sequence."""
    start, node, edge, stop, offsets, _, stride = batch_arguments(potentials)
    in_log_domain = np.zeros(len(potentials), dtype=np.bool_)
    log_partition, marginals = np.empty(len(potentials)), np.empty_like(node)
    exponentiated = exponentiated_edges(potentials)
    work = 3 * work_of(potentials)
    edge_counts = np.zeros((len(node) if stride else 1, *potentials.edge.shape[-2:]))
    is_left = np.ones(len(potentials), dtype=np.bool_)
    if not stride and len(potentials) >= batch.FEWEST_LANES:
        chunks, by_length = batch.longest_first(offsets)
        counts = np.zeros((chunks.size, *edge_counts.shape[1:]))
        batch.lockstep_batch(
            start, node, stop, offsets, by_length, chunks, *exponentiated, log_partition, marginals, counts, is_left,
            work=work,
        )  # fmt: skip
        edge_counts += counts.sum(axis=0)
    left = np.flatnonzero(is_left)
    if left.size:
        chunks = batch.chunk_bounds(np.append(0, np.cumsum(np.diff(offsets)[left])))
        counts = edge_counts if stride else np.zeros((chunks.size, *edge_counts.shape[1:]))
        batch.forward_backward_batch(
            start, node, edge, stop, offsets, left, chunks, stride, *exponentiated, log_partition, marginals, counts,
            in_log_domain, work=work * left.size // len(potentials),
        )  # fmt: skip
        if not stride:
            edge_counts += counts.sum(axis=0)
    _refuse_impossible(log_partition)
    statistics = ChainStatistics.from_node_and_edge(
        marginals, edge_counts if stride else edge_counts[0], offsets, in_log_domain.sum()
    )
    return Posterior(log_partition, statistics, in_log_domain, potentials)


def viterbi(potentials: ChainPotentials) -> BestLabelling:
    """The best labelling of each sequence; among equals the lowest label indices, from the end."""
    labels = np.empty(len(potentials.node), dtype=np.int64)
    scores = np.empty(len(potentials))
    batch.viterbi_batch(*batch_arguments(potentials), labels, scores, work=work_of(potentials))
    _refuse_impossible(scores)
    return BestLabelling(labels, scores)


def k_best(potentials: ChainPotentials, k: int) -> list[list[tuple[np.ndarray, float]]]:
    """The k best distinct labellings of each sequence as (labels, score), best first; fewer where fewer are allowed."""
    require_labellings(k)
    k, n_labels = int(k), potentials.n_labels
    # No sequence has more than S^l labellings: a short batch must not pay for a huge k.
    longest = int(np.diff(potentials.offsets).max(initial=1))
    if longest * np.log(n_labels) < np.log(k):
        k = max(1, min(k, n_labels**longest))
    labels = np.empty(k * len(potentials.node), dtype=np.int64)
    scores = np.empty((len(potentials), k))
    batch.k_best_batch(*batch_arguments(potentials), k, labels, scores, work=k * work_of(potentials))
    _refuse_impossible(scores[:, 0])
    result = []
    for i in range(len(potentials)):
        rows = labels[k * potentials.offsets[i] : k * potentials.offsets[i + 1]].reshape(k, -1)
        result.append([(rows[j], float(scores[i, j])) for j in range(k) if scores[i, j] > -np.inf])
    return result


def max_marginals(potentials: ChainPotentials) -> np.ndarray:
    """(positions, S): the best score of any labelling through each (position, label); -inf where there is none."""
    through = np.empty_like(potentials.node)
    batch.max_marginals_batch(*batch_arguments(potentials), through, work=work_of(potentials))
    _refuse_impossible(through[potentials.offsets[:-1]].max(axis=1))
    return through


def path_scores(potentials: ChainPotentials, labels: np.ndarray) -> np.ndarray:
    """(sequences,): F(x, y) of the given labels (flat indices); -inf where y uses a forbidden transition."""
    labels = as_label_indices("labels", labels, len(potentials.node), potentials.n_labels)
    scores = np.empty(len(potentials))
    batch.path_score_batch(*batch_arguments(potentials), labels, scores, work=len(labels))
    return scores


def subtract_path(
    statistics: ChainStatistics, labels: np.ndarray, offsets: np.ndarray, weights: np.ndarray | float = 1.0
) -> ChainStatistics:
    """Statistics minus those of the given labels (indicators of nodes, counts of transitions); reuses their arrays.

    weights: how often each position counts.
    """
    node, edge = statistics.node, statistics.edge
    matrices = edge if edge.ndim == 3 else edge[np.newaxis]
    subtract_path_counts(labels, offsets, np.atleast_1d(np.float64(weights)), node, matrices, edge.ndim - 2)
    return ChainStatistics.from_node_and_edge(node, edge, offsets, statistics.in_log_domain)


def path_statistics(potentials: ChainPotentials, labels: np.ndarray) -> ChainStatistics:
    """The statistics of the given labels themselves."""
    labels = as_label_indices("labels", labels, len(potentials.node), potentials.n_labels)
    nothing = ChainStatistics.from_node_and_edge(
        np.zeros_like(potentials.node), np.zeros_like(potentials.edge), potentials.offsets
    )
    minus = subtract_path(nothing, labels, potentials.offsets)
    return ChainStatistics(-minus.start, -minus.node, -minus.edge, -minus.stop)


def exponentiated_edges(potentials: ChainPotentials) -> tuple[np.ndarray, ...]:
    """What the scaled recursion takes in place of the edge scores: made once for all sequences."""
    matrices = potentials.edge_matrices
    exp_edge, transposed = np.empty_like(matrices), np.empty_like(matrices)
    shift, in_range = np.empty(len(matrices)), np.empty(len(matrices), dtype=np.bool_)
    exponentiate_edges(matrices, exp_edge, transposed, shift, in_range)
    return exp_edge, transposed, shift, in_range


def work_of(potentials: ChainPotentials) -> int:
    """About how many multiplications one pass takes."""
    return potentials.node.size * potentials.n_labels


def batch_arguments(potentials: ChainPotentials) -> tuple:
    chunks = batch.chunk_bounds(potentials.offsets)
    return (
        potentials.start, potentials.node, potentials.edge_matrices, potentials.stop,
        potentials.offsets, chunks, potentials.edge_stride,
    )  # fmt: skip


def _refuse_impossible(best_scores: np.ndarray) -> None:
    impossible = np.flatnonzero(best_scores == -np.inf)
    if impossible.size:
        raise LabSeqError(
            f"sequence {impossible[0]} has no allowed labelling: every path uses a forbidden (-inf) score; "
            "relax the constraints or check the potentials"
        )
