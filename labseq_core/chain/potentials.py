"""The waist of the hourglass: chain potentials going down, chain statistics coming back, of the same four shapes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from labseq_core.checks import as_floats, as_offsets, require


@dataclass(frozen=True)
class ChainPotentials:
    """Log-scale scores of a flat batch of label chains over S labels; -inf forbids.

    F(x, y) = start[y_1] + Σ_t node[t, y_t] + Σ_{t>1} edge[y_{t-1}, y_t] + stop[y_l]      (METHODS 0)

    Sequence i owns the positions `offsets[i] : offsets[i + 1]`. Indexing gives the potentials of one sequence, as views.
    """

    start: np.ndarray  # (S,)
    node: np.ndarray  # (positions, S): node[position, label]
    edge: np.ndarray  # (S, S): edge[from, to]; or (positions, S, S): the transition *into* each position
    stop: np.ndarray  # (S,)
    offsets: np.ndarray = None  # type: ignore[assignment]  # (sequences + 1,) int64; made by the constructor for one sequence

    def __post_init__(self) -> None:
        node = as_floats("node", self.node, (None, None))
        n_positions, n_labels = node.shape
        require(n_labels >= 1, "node has no label columns; a chain needs at least one label")
        stationary = np.ndim(self.edge) == 2
        shape = (n_labels, n_labels) if stationary else (n_positions, n_labels, n_labels)
        offsets = [0, n_positions] if self.offsets is None else self.offsets
        checked = {
            "start": as_floats("start", self.start, (n_labels,)),
            "node": node,
            "edge": as_floats("edge", self.edge, shape),
            "stop": as_floats("stop", self.stop, (n_labels,)),
            "offsets": as_offsets("offsets", offsets, n_positions),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @classmethod
    def trusted(
        cls, start: np.ndarray, node: np.ndarray, edge: np.ndarray, stop: np.ndarray, offsets: np.ndarray
    ) -> ChainPotentials:
        """The same without checks, for arrays that the core itself has just made."""
        potentials = object.__new__(cls)
        for name, value in zip(("start", "node", "edge", "stop", "offsets"), (start, node, edge, stop, offsets)):
            object.__setattr__(potentials, name, value)
        return potentials

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> ChainPotentials:
        if not -len(self) <= index < len(self):
            raise IndexError(f"sequence {index} of {len(self)}")
        begin, end = self.offsets[index % len(self)], self.offsets[index % len(self) + 1]
        edge = self.edge[begin:end] if self.edge_stride else self.edge
        return self.trusted(self.start, self.node[begin:end], edge, self.stop, np.array([0, end - begin]))

    def __iter__(self) -> Iterator[ChainPotentials]:
        return (self[index] for index in range(len(self)))

    @property
    def n_labels(self) -> int:
        return self.node.shape[1]

    @property
    def edge_stride(self) -> int:
        """How far `edge_matrices` advances per position: 0 when all positions share one matrix, else 1."""
        return self.edge.ndim - 2

    @property
    def edge_matrices(self) -> np.ndarray:
        """`edge` as the compiled routines take it: (1 or positions, S, S)."""
        return self.edge if self.edge_stride else self.edge[np.newaxis]

    def select(self, positions: np.ndarray, offsets: np.ndarray) -> ChainPotentials:
        """Those of some sequences: their positions, and their offsets among themselves."""
        edge = self.edge[positions] if self.edge_stride else self.edge
        return self.trusted(self.start, self.node[positions], edge, self.stop, offsets)

    def loss_augmented(self, labels: np.ndarray) -> ChainPotentials:
        """F + Δ, Δ the number of positions at which a labelling differs from the given one."""
        node = self.node + 1.0
        node[np.arange(len(labels)), labels] -= 1.0
        return self.trusted(self.start, node, self.edge, self.stop, self.offsets)

    def with_edge_per_position(self) -> ChainPotentials:
        """The same scores with one edge matrix per position, so that statistics come back per position too."""
        if self.edge_stride:
            return self
        shape = (len(self.node), self.n_labels, self.n_labels)
        edge = np.ascontiguousarray(np.broadcast_to(self.edge, shape))
        return self.trusted(self.start, self.node, edge, self.stop, self.offsets)


@dataclass(frozen=True)
class ChainStatistics:
    """What flows back through the waist: a derivative or an expectation for each potential, in the same shapes.

    Where potentials share a parameter over sequences or positions (start, stop, a stationary edge), it is the sum.
    """

    start: np.ndarray  # (S,)
    node: np.ndarray  # (positions, S)
    edge: np.ndarray  # (S, S) or (positions, S, S)
    stop: np.ndarray  # (S,)
    in_log_domain: int = 0  # how many sequences were out of the range of the scaled recursion

    @classmethod
    def from_node_and_edge(
        cls, node: np.ndarray, edge: np.ndarray, offsets: np.ndarray, in_log_domain: int = 0
    ) -> ChainStatistics:
        """Start and stop act on the first and last position of each sequence: their sums are sums of node rows."""
        start, stop = node[offsets[:-1]].sum(axis=0), node[offsets[1:] - 1].sum(axis=0)
        return cls(start, node, edge, stop, int(in_log_domain))
