"""What boosting keeps from round to round: derivatives, weights of sequences, and the sums behind all bounds. T Alg. 4.

After a step inference is repeated only on the sequences in which the chosen feature can fire. Derivatives v_t(σ) of the loss
with respect to the node scores of all positions and the weights W_i = w_i (1/p_i - 1) of all sequences stay with the sums.

Of the exponential loss a few sequences own nearly all. The others are left alone as long as they are negligible, which is
known without looking: a step Δ multiplies W_i by at most e^{|Δ| (U_i - L_i)}, so each has a ceiling that only a look lowers.
"""

from __future__ import annotations

import math

import numpy as np

from labseq_core.chain import ChainPotentials
from labseq_core.chain.off_truth import OffTruth, off_truth
from labseq_core.compiling.routines import BatchRoutine
from labseq_core.scoring.linear import RunningWeights
from labseq_core.solvers.boosting import selection
from labseq_core.solvers.boosting.features import FeatureLists

FALLEN = 1e-4  # sums are made anew when the loss is this small against the loss at which they were last made
LEARNED = -230.0  # log of a loss at which nothing is left to learn: all sequences are certain
NEGLIGIBLE = 46.0  # a sequence whose weight is e^-46 of the sum, 1e-20, is as good as learned: it is left alone
KEY_SMOOTHING = 0.03  # keys are made for this part of ε ΣW, so that they hold until it has fallen so far


class BoostingState:
    """The state of a fit. `potentials` are those of `lists` (longest first) and are changed in place.

    bound: "loose", "tight" or "exact". inverse_probability: the exponential loss; otherwise the log loss.
    log_weights: log w_i of each sequence.
    """

    def __init__(
        self,
        lists: FeatureLists,
        potentials: ChainPotentials,
        *,
        bound: str,
        smoothing: float,
        log_weights: np.ndarray,
        inverse_probability: bool = True,
    ):
        self._scores = RunningWeights(potentials, lists.n_attributes, lists.entries_of)
        self.lists, self.bound, self.smoothing = lists, bound, smoothing
        self.inverse_probability, self.log_weights = inverse_probability, log_weights
        n_sequences, (n_positions, n_labels) = len(potentials), potentials.node.shape
        self.lengths = np.diff(potentials.offsets)
        self.derivative = np.zeros((n_positions, n_labels))  # v
        self._change = np.zeros((n_positions, n_labels))
        self.edge_derivative = np.zeros((n_sequences, n_labels * n_labels))
        self._edge_change = np.zeros((n_sequences, n_labels * n_labels))
        self.weights, self._weight_change = np.zeros(n_sequences), np.zeros(n_sequences)
        self._factors = np.ones(n_sequences)
        self._log_ceilings = np.full(n_sequences, np.inf)  # log W_i is not above
        self.log_p, self._rest = np.zeros(n_sequences), np.zeros(n_sequences)
        self._in_log_domain = np.zeros(n_sequences, dtype=np.bool_)
        terms, edges = lists.terms, lists.edge_terms
        self._coefficients = np.zeros((terms.exponents.size, n_labels))
        self._edge_coefficients = np.zeros((edges.exponents.size, n_labels * n_labels))
        self.slopes = np.zeros((lists.n_attributes + n_labels, n_labels))  # m_k
        self._keys = np.zeros(lists.n_attributes)
        self._block_keys = np.zeros(-(-lists.n_attributes // selection.BLOCK))
        self._stale = np.zeros(lists.n_attributes, dtype=np.bool_)
        self.smallest = _smallest_exponents(terms.pointer, terms.exponents)
        self._pair_kinds = np.eye(n_labels, dtype=np.int64).ravel()
        self._shapes = _shapes(lists) if bound == "loose" else None
        self.last_gain, self.total, self.reference = 0.0, 0.0, 0.0
        self._refresh()

    @property
    def potentials(self) -> ChainPotentials:
        return self._scores.potentials()

    @property
    def log_loss(self) -> float:
        """The logarithm of Σ_i w_i (1/p_i - 1), or of Σ_i -log p_i."""
        if not self.inverse_probability:
            loss = -float(self.log_p.sum())
            return math.log(loss) if loss > 0.0 else -math.inf
        return self.reference + math.log(self.total) if self.total > 0.0 else -math.inf

    @property
    def in_log_domain(self) -> int:
        """How many sequences needed the log domain when they were last looked at."""
        return int(self._in_log_domain.sum())

    def range_of(self, feature: int) -> tuple[float, float]:
        """U_k and L_k."""
        terms, first_pair = self.lists.terms, self.lists.n_attributes * self.lists.n_labels
        if feature < first_pair:
            return float(terms.upper.flat[feature]), float(terms.lower.flat[feature])
        edges = self.lists.edge_terms
        return float(edges.upper[0, feature - first_pair]), float(edges.lower[0, feature - first_pair])

    def loss(self) -> float:
        """What bounds and ratios refer to, on the scale of the sums."""
        return self.total if self.inverse_probability else -float(self.log_p.sum())

    def select(self) -> tuple[int, float, float]:
        terms, edges = self.lists.terms, self.lists.edge_terms
        if self.log_loss < LEARNED:
            return -1, 0.0, 0.0
        if self.bound == "loose":
            shapes, upper, lower = self._shapes
            return selection.select_loose(self.slopes.ravel(), shapes, upper, lower, self.total, self.smoothing)
        smoothing = self.smoothing * self.total
        if smoothing < self._key_smoothing:
            self._key_smoothing = KEY_SMOOTHING * smoothing
            self._update(np.empty(0, dtype=np.int64), everything=True)
        return selection.select_tight(
            terms.pointer, terms.exponents, self._coefficients, self.smallest, terms.upper, terms.lower, self._keys,
            self._block_keys, edges.exponents, self._edge_coefficients, edges.upper, edges.lower, smoothing,
            self._key_smoothing,
        )  # fmt: skip

    def move(self, feature: int, step: float) -> np.ndarray:
        """Add to a weight, and bring everything up to date that depends on it; gives the sequences that were looked at."""
        self._scores.update(feature, step)
        touched, widths = self.lists.widths_of(feature)
        self._log_ceilings[touched] += abs(step) * widths
        looked_at = touched[self._matters(touched)]
        self._infer(looked_at, self.reference, self.inverse_probability)
        self._take_weights(looked_at)
        woken = self._woken()
        if woken.size:
            self._infer(woken, self.reference, self.inverse_probability)
            self._take_weights(woken)
            looked_at = np.union1d(looked_at, woken)
        if self.total < FALLEN * self._refreshed_at:
            self._refresh()
        else:
            self._commit(looked_at)
            self._update(looked_at)
        return looked_at

    def _matters(self, sequences: np.ndarray) -> np.ndarray:
        """Which of some sequences have a weight, or may have one that is not negligible."""
        if not self.inverse_probability:
            return np.ones(sequences.size, dtype=np.bool_)
        return (self.weights[sequences] > 0.0) | (self._log_ceilings[sequences] > self.log_loss - NEGLIGIBLE)

    def mattering(self, sequences: np.ndarray, widths: np.ndarray, step: float) -> np.ndarray:
        """Which of some sequences may matter after a step on a feature with the given widths there."""
        if not self.inverse_probability:
            return sequences
        return sequences[self._log_ceilings[sequences] + abs(step) * widths > self.log_loss - NEGLIGIBLE]

    def _woken(self) -> np.ndarray:
        """Sequences that were negligible and may not be so any more, since the loss has fallen."""
        if not self.inverse_probability:
            return np.empty(0, dtype=np.int64)
        return np.flatnonzero((self.weights == 0.0) & (self._log_ceilings > self.log_loss - NEGLIGIBLE))

    def _refresh(self) -> None:
        """Everything from scratch, on a new scale: weights are kept relative to the largest one."""
        looked_at = np.arange(len(self.lengths))
        looked_at = looked_at[self._matters(looked_at)]
        self._infer(looked_at, 0.0, False)
        self.reference = 0.0
        if self.inverse_probability:
            # Those that were not looked at have lower ceilings: the largest weight is not among them.
            highest = float(self._log_weights_of(looked_at).max(initial=-np.inf))
            self.reference = highest if highest > -np.inf else 0.0
            self._factors[looked_at] = np.exp(self.log_weights[looked_at] - self.log_p[looked_at] - self.reference)
        for sums in (
            self.derivative, self.edge_derivative, self.weights, self._coefficients, self._edge_coefficients,
            self.slopes, self._keys,
        ):  # fmt: skip
            sums[:] = 0.0
        self._take_weights(looked_at)
        self._commit(looked_at)
        self._factors[:] = 1.0
        self._key_smoothing = KEY_SMOOTHING * self.smoothing * self.total
        self._update(looked_at)
        self._refreshed_at = self.total

    def _infer(self, touched: np.ndarray, reference: float, inverse_probability: bool) -> None:
        """Inference on some sequences; derivatives go to `_change` for the moment."""
        result = OffTruth(self._change, self._edge_change, self._rest, self.log_p, self._in_log_domain)
        off_truth(
            self.potentials, self.lists.labels, touched, self.log_weights - reference, inverse_probability, result
        )

    def _log_weights_of(self, sequences: np.ndarray) -> np.ndarray:
        """log W_i = log w_i + log(1/p_i - 1) of sequences that were just looked at."""
        with np.errstate(divide="ignore"):
            return self.log_weights[sequences] - self.log_p[sequences] + np.log(self._rest[sequences])

    def _take_weights(self, looked_at: np.ndarray) -> None:
        """New weights, 0 for those that are negligible."""
        new, before = np.ones(looked_at.size), self.weights[looked_at]
        if self.inverse_probability:
            self._log_ceilings[looked_at] = self._log_weights_of(looked_at)
            new = np.exp(self._log_ceilings[looked_at] - self.reference)
        self.weights[looked_at] = new
        if self.inverse_probability:
            new[new < math.exp(-NEGLIGIBLE) * self.weights.sum()] = 0.0
            self.weights[looked_at] = new
        self._weight_change[looked_at] = new - before
        self.total = float(self.weights.sum())

    def _commit(self, touched: np.ndarray) -> None:
        work = int(self.lengths[touched].sum()) * self.lists.n_labels
        chunks = np.unique(np.linspace(0, touched.size, 33).astype(np.int64))
        _commit_changes(
            touched, chunks, self.potentials.offsets, self.weights, self._factors, self.derivative, self._change,
            self.edge_derivative, self._edge_change, work=work,
        )  # fmt: skip

    def _update(self, touched: np.ndarray, everything: bool = False) -> None:
        """Sums and keys after some sequences have changed."""
        lists, terms, edges = self.lists, self.lists.terms, self.lists.edge_terms
        selection.update_sums(
            touched, lists.part_bounds, lists.first_incidence, lists.attribute, lists.entry_pointer, lists.entry_position,
            lists.entry_value, terms.high.ravel(), terms.low.ravel(), terms.present_pointer, terms.present_label,
            terms.present_high, terms.present_low, terms.pointer, terms.exponents, self._coefficients, self.smallest,
            terms.upper, terms.lower, self._change, self._weight_change, self._key_smoothing, 0.5 * self.last_gain,
            self.slopes, self._keys, self._stale, everything,
            work=30 * int(self.lengths[touched].sum()) * lists.n_labels,
        )  # fmt: skip
        if self._keys.size:
            firsts = np.arange(0, self._keys.size, selection.BLOCK)
            np.maximum.reduceat(self._keys, firsts, out=self._block_keys)
        paired = touched[self.lengths[touched] >= 2]
        selection.update_edge_sums(
            paired, edges.high, edges.present_pointer, edges.present_label, edges.present_high, edges.present_low,
            edges.exponents, self._edge_coefficients, self._pair_kinds, self._edge_change,
            self._weight_change,
        )  # fmt: skip
        slopes = edges.exponents @ np.maximum(self._edge_coefficients, 0.0)
        self.slopes[lists.n_attributes :] = slopes.reshape(lists.n_labels, lists.n_labels)


def _smallest_exponents(pointer: np.ndarray, exponents: np.ndarray) -> np.ndarray:
    """The smallest |exponent| of each attribute; 1 for an attribute without terms."""
    smallest = np.ones(pointer.size - 1)
    some = np.flatnonzero(np.diff(pointer))
    if some.size:
        smallest[some] = np.minimum.reduceat(np.abs(exponents), pointer[some])
    return smallest


def _shapes(lists: FeatureLists) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features of the same U and L: which of these pairs each feature has, and the pairs."""
    upper = np.concatenate([lists.terms.upper.ravel(), lists.edge_terms.upper.ravel()])
    lower = np.concatenate([lists.terms.lower.ravel(), lists.edge_terms.lower.ravel()])
    pairs, shapes = np.unique(np.stack([upper, lower], axis=1), axis=0, return_inverse=True)
    return shapes.ravel().astype(np.int32), pairs[:, 0].copy(), pairs[:, 1].copy()


@BatchRoutine
def _commit_changes(
    first_chunk, end_chunk, touched, chunks, offsets, weights, factors, derivative, change, edge_derivative, edge_change
):
    """Take over new derivatives, factors times `change`, and leave there by how much they differ from the old ones.

    Derivatives of a sequence without weight are 0.
    """
    for chunk in range(first_chunk, end_chunk):
        for place in range(chunks[chunk], chunks[chunk + 1]):
            i = touched[place]
            factor = factors[i] if weights[i] > 0.0 else 0.0
            for t in range(offsets[i], offsets[i + 1]):
                for s in range(derivative.shape[1]):
                    new = factor * change[t, s]
                    change[t, s] = new - derivative[t, s]
                    derivative[t, s] = new
            for k in range(edge_derivative.shape[1]):
                new = factor * edge_change[i, k]
                edge_change[i, k] = new - edge_derivative[i, k]
                edge_derivative[i, k] = new
