"""Second-order and rest-of-the-world quantities of a batch of chains."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from labseq_core.chain.inference import batch_arguments, exponentiated_edges, forward_backward, path_scores, work_of
from labseq_core.chain.potentials import ChainPotentials, ChainStatistics
from labseq_core.chain.recursions import batch
from labseq_core.checks import LabSeqError, as_label_indices


@dataclass(frozen=True)
class Rest:
    """The distribution p(y | x, y ≠ y*) over all labellings but a given one, for each sequence."""

    log_odds: (
        np.ndarray
    )  # (sequences,): log(1/p(y*|x) - 1) = log Σ_{y ≠ y*} e^{F(y) - F(y*)}; -inf if y* is the only one
    statistics: ChainStatistics  # its node marginals and expected transitions


def covariance_product(potentials: ChainPotentials, direction: ChainStatistics) -> ChainStatistics:
    """The derivative of all marginals along a direction: Cov(statistics, ⟨direction, statistics⟩), O(l S²) a sequence."""
    node = direction.node.copy()
    node[potentials.offsets[:-1]] += direction.start
    node[potentials.offsets[1:] - 1] += direction.stop
    stride = direction.edge.ndim - 2
    edge = direction.edge if stride else direction.edge[np.newaxis]
    arguments = batch_arguments(potentials)
    n_chunks = len(arguments[5]) - 1
    node_change = np.empty_like(potentials.node)
    edge_change = np.zeros((len(node) if stride else max(1, n_chunks), *edge.shape[1:]))
    batch.covariance_batch(
        *arguments, *exponentiated_edges(potentials), node, np.ascontiguousarray(edge), stride, node_change, edge_change,
        work=6 * work_of(potentials),
    )  # fmt: skip
    return ChainStatistics.from_node_and_edge(
        node_change, edge_change if stride else edge_change.sum(axis=0), potentials.offsets
    )


def independent_variances(potentials: ChainPotentials) -> ChainStatistics:
    """Variances of all statistics if positions were independent: p (1 - p) of labels; of what is summed up E, a bound."""
    expected = forward_backward(potentials).statistics
    return replace(expected, node=expected.node * (1.0 - expected.node))


def rest_of(potentials: ChainPotentials, labels: np.ndarray, log_weights: np.ndarray | None = None) -> Rest:
    """All labellings but the given ones: how much they weigh against them, and how they are distributed.

    Without log_weights the statistics are expectations under p(y | x, y ≠ y*), added over sequences. With them, those of
    sequence i are multiplied by e^{log_weights[i]} (1/p(y*) - 1).
    """
    labels = as_label_indices("labels", labels, len(potentials.node), potentials.n_labels)
    refuse_forbidden(path_scores(potentials, labels))
    arguments = batch_arguments(potentials)
    stride, n_chunks = potentials.edge_stride, len(arguments[5]) - 1
    log_odds = np.empty(len(potentials))
    marginals = np.empty_like(potentials.node)
    counts = np.zeros((len(marginals) if stride else max(1, n_chunks), *potentials.edge.shape[-2:]))
    weights = np.zeros(len(potentials)) if log_weights is None else np.asarray(log_weights, dtype=np.float64)
    batch.rest_batch(
        *arguments, labels, weights, log_weights is None, log_odds, marginals, counts, work=20 * work_of(potentials)
    )
    edge = counts if stride else counts.sum(axis=0)
    return Rest(log_odds, ChainStatistics.from_node_and_edge(marginals, edge, potentials.offsets, len(potentials)))


def refuse_forbidden(scores: np.ndarray) -> None:
    """Given labels must be possible: -inf among their scores is an error of the data or of the constraints."""
    forbidden = np.flatnonzero(scores == -np.inf)
    if forbidden.size:
        raise LabSeqError(
            f"the given labels of sequence {forbidden[0]} use a forbidden transition; mend the labels or drop the constraint"
        )
