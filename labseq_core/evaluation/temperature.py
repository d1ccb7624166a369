"""Temperature: one number, fitted on development data, that makes scores into probabilities that keep their word.

p_T(y | x) ∝ e^{F(x, y) / T}. T = 1 leaves the model as it is, a larger T makes it less sure, a smaller one surer. The best
labelling of a sequence stays the same. Methods without probabilities get some in this way: those of their scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from labseq_core.chain import ChainPotentials, forward_backward, max_marginals
from labseq_core.checks import require
from labseq_core.data.alphabet import Alphabet
from labseq_core.evaluation.label_pairs import Labellings

LOWEST, HIGHEST = 1e-2, 1e3
STEPS_PER_DECADE = 2  # of the grid that finds the valley; the loss may have more than one
TOLERANCE = 1e-4  # relative, of the temperature
GOLDEN = (np.sqrt(5.0) - 1.0) / 2.0
TINY = 1e-290  # a probability below may have lost digits
BLOCK_POSITIONS = 200_000


@dataclass(frozen=True)
class TemperatureFit:
    """The temperature with the smallest mean log loss of tokens; T = 1 if no other is better."""

    temperature: float
    log_loss: float  # mean of -log p_T(true label)
    n_tokens: int  # that count: those whose true label is possible


def fit_temperature(
    potentials: ChainPotentials | Sequence[ChainPotentials], y_true: Labellings, classes: Sequence[str]
) -> TemperatureFit:
    """Minimise the mean of -log p_T(y_t = true label | x) over T from 0.01 to 1000, by a grid and then golden sections.

    potentials: of one model, as `learner.potentials(X)` gives them; classes: its labels. Tokens whose true label the model
    does not know or forbids have probability 0 at any temperature; they are left out.
    """
    loss = _Loss(_one_batch(potentials), y_true, classes)
    before, (log_temperature, value) = loss(0.0), _lowest_point(loss)
    if value >= before:
        return TemperatureFit(1.0, before, loss.n_tokens)
    return TemperatureFit(float(np.exp(log_temperature)), value, loss.n_tokens)


def marginals_at(potentials: ChainPotentials | Sequence[ChainPotentials], temperature: float) -> list[np.ndarray]:
    """p_T(y_t = label | x) of each sequence, an (l, S) array; at T = 1 these are the model's own."""
    fits = isinstance(temperature, (int, float, np.number)) and 0.0 < temperature < np.inf
    require(fits, f"temperature is {temperature!r}; give a number above 0")
    if len(potentials) == 0:
        return []
    batch = _one_batch(potentials)
    rows = forward_backward(_tempered(batch, float(temperature))).node_marginals
    return [rows[begin:end] for begin, end in zip(batch.offsets[:-1], batch.offsets[1:])]


class _Loss:
    """Mean of -log p_T(true label), as a function of log T, over the tokens whose true label is possible."""

    def __init__(self, batch: ChainPotentials, y_true: Labellings, classes: Sequence[str]):
        labels = _flat_labels(y_true, classes, batch)
        known = np.flatnonzero(labels >= 0)
        best = max_marginals(batch)
        # A label that no allowed labelling passes through has probability 0.
        self.positions = known[best[known, labels[known]] > -np.inf]
        possible = self.positions.size > 0
        require(possible, "y_true has no label that the model holds for possible; give other development data")
        self.batch, self.truth = batch, labels[self.positions]
        self.owner = np.searchsorted(batch.offsets, self.positions, side="right") - 1
        self.through = best[self.positions, self.truth]  # the best score of a labelling with the true label there
        self.gap = best[self.positions].max(axis=1) - self.through

    @property
    def n_tokens(self) -> int:
        return len(self.truth)

    def __call__(self, log_temperature: float) -> float:
        self._temperature = np.exp(log_temperature)
        log_p, log_partition = _log_probabilities(_tempered(self.batch, self._temperature), self.positions, self.truth)
        self._log_partition_through = log_partition[self.owner] + log_p
        return -float(np.mean(log_p))

    def at_least(self, log_temperature: float) -> float:
        """A bound from below for this temperature, if lower than the one of the last call, and for all below it.

        -log p = log Z - log Z_y, where Z_y sums over labellings with the true label at t. In b = 1/T, log Z >= b max F, and
        log Z_y - b max_y F falls: so -log p(b) >= b (max F - max_y F) - (log Z_y(b') - b' max_y F) for b >= b'.
        """
        spare = self._log_partition_through - self.through / self._temperature
        return float(np.mean(np.maximum(self.gap / np.exp(log_temperature) - spare, 0.0)))


def _tempered(batch: ChainPotentials, temperature: float) -> ChainPotentials:
    """F / T; what is forbidden stays so."""
    scores = (batch.start, batch.node, batch.edge, batch.stop)
    return ChainPotentials.trusted(*(array / temperature for array in scores), batch.offsets)


def _log_probabilities(
    batch: ChainPotentials, positions: np.ndarray, truth: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """log p(y_t = truth) at the positions, exact also where the probability is too small for a number; and each log Z."""
    posterior = forward_backward(batch)
    given = posterior.statistics.node[positions, truth]
    result = np.log(np.maximum(given, TINY))
    small = np.flatnonzero(given < TINY)
    # log p(y_t = s) = log Z of the labellings with y_t = s - log Z: the sequence once more, with all else forbidden at t.
    owner = np.searchsorted(batch.offsets, positions[small], side="right") - 1
    lengths = np.diff(batch.offsets)[owner]
    block = np.cumsum(lengths) // BLOCK_POSITIONS
    for number in np.unique(block):
        chosen = block == number
        place = positions[small][chosen] - batch.offsets[owner[chosen]]
        forced = _forced(batch, owner[chosen], place, truth[small][chosen])
        result[small[chosen]] = forward_backward(forced).log_partition - posterior.log_partition[owner[chosen]]
    return result, posterior.log_partition


def _forced(batch: ChainPotentials, owners: np.ndarray, places: np.ndarray, labels: np.ndarray) -> ChainPotentials:
    """A copy of the sequence of each owner, in which only the given label is allowed at the given place."""
    offsets = np.concatenate([[0], np.cumsum(np.diff(batch.offsets)[owners])])
    rows = np.concatenate([np.arange(batch.offsets[i], batch.offsets[i + 1]) for i in owners])
    node = batch.node[rows]
    at = offsets[:-1] + places
    kept = node[at, labels]
    node[at] = -np.inf
    node[at, labels] = kept
    edge = batch.edge[rows] if batch.edge_stride else batch.edge
    return ChainPotentials.trusted(batch.start, node, edge, batch.stop, offsets)


def _lowest_point(loss: _Loss) -> tuple[float, float]:
    """The lowest point of a grid, then golden sections between its neighbours: never worse than the grid."""
    low, high = np.log(LOWEST), np.log(HIGHEST)
    grid = np.linspace(high, low, round((high - low) / np.log(10.0) * STEPS_PER_DECADE) + 1)
    values = []
    for point in grid:
        if values and loss.at_least(point) > min(values):
            break  # and so it is with all lower temperatures
        values.append(loss(point))
    lowest = int(np.argmin(values))
    best, value = float(grid[lowest]), values[lowest]
    left, right = float(grid[min(lowest + 1, len(grid) - 1)]), float(grid[max(lowest - 1, 0)])
    inner = [right - GOLDEN * (right - left), left + GOLDEN * (right - left)]
    inner_losses = [loss(point) for point in inner]
    while right - left > TOLERANCE:
        side = int(inner_losses[1] < inner_losses[0])  # the better of the two inner points becomes one of the next two
        if inner_losses[side] < value:
            best, value = inner[side], inner_losses[side]
        if side == 0:
            right, inner[1], inner_losses[1] = inner[1], inner[0], inner_losses[0]
            inner[0] = right - GOLDEN * (right - left)
            inner_losses[0] = loss(inner[0])
        else:
            left, inner[0], inner_losses[0] = inner[0], inner[1], inner_losses[1]
            inner[1] = left + GOLDEN * (right - left)
            inner_losses[1] = loss(inner[1])
    return best, value


def _one_batch(potentials: ChainPotentials | Sequence[ChainPotentials]) -> ChainPotentials:
    """All sequences in one batch; they come from one model and so share start, stop and stationary transitions."""
    require(len(potentials) > 0, "potentials is empty; give at least one sequence")
    if isinstance(potentials, ChainPotentials):
        return potentials
    first = potentials[0]
    strides = {one.edge_stride for one in potentials}
    shared = ("start", "stop", "edge") if strides == {0} else ("start", "stop")
    same = len(strides) == 1 and all(
        getattr(one, name) is getattr(first, name) or np.array_equal(getattr(one, name), getattr(first, name))
        for one in potentials
        for name in shared
    )
    require(same, "potentials differ in start, stop or transitions; give those of one model")
    edge = np.concatenate([one.edge for one in potentials]) if first.edge_stride else first.edge
    offsets = np.concatenate([[0], np.cumsum([length for one in potentials for length in np.diff(one.offsets)])])
    node = np.concatenate([one.node for one in potentials])
    return ChainPotentials.trusted(first.start, node, edge, first.stop, offsets)


def _flat_labels(y_true: Labellings, classes: Sequence[str], batch: ChainPotentials) -> np.ndarray:
    """The number of each true label; -1 where it is not among the classes."""
    n_labels, n_sequences = batch.n_labels, len(batch)
    require(
        len(classes) == n_labels, f"potentials have {n_labels} labels, classes {len(classes)}; give those of the model"
    )
    fits = len(y_true) == n_sequences
    require(fits, f"y_true has {len(y_true)} sequences, potentials {n_sequences}; give one list of labels for each")
    for number, (labels, length) in enumerate(zip(y_true, np.diff(batch.offsets).tolist())):
        fits = not isinstance(labels, str) and len(labels) == length
        require(fits, f"sequence {number} of y_true has {len(labels)} labels for {length} tokens; give one for each")
    return Alphabet(classes).encode([label for labels in y_true for label in labels], unknown=-1)
