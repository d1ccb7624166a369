"""Working sets on explicit weights: the linear kernel, or features that another stands for, without a Gram matrix."""

from __future__ import annotations

import numpy as np

from labseq_core.chain import ChainPotentials
from labseq_core.compiling.routines import compiled
from labseq_core.scoring.atoms import add_atoms, score_atoms
from labseq_core.scoring.linear import LinearScoring, LinearWeights
from labseq_core.solvers.margin.feature_differences import Differences, add_multiple_of, product, visit
from labseq_core.solvers.margin.working_sets import Candidates, LabelSets, atoms_of, gram_of
from labseq_core.solvers.smooth.lbfgs_memory import dot


class ExplicitMargins:
    """`MarginFeatures` whose function is given by weights u, one for each feature in use."""

    def __init__(self, scoring: LinearScoring, truth: np.ndarray, eta: float):
        self.scoring = scoring
        self.differences = Differences(scoring.encoded, truth, scoring.n_labels, eta)
        self._weights = scoring.weights()
        self._potentials = scoring.potentials(self._weights)

    @property
    def sets(self) -> LabelSets:
        return self.differences.sets

    def weights(self) -> LinearWeights:
        """The weights as they score, in arrays that the next call writes to."""
        return self.differences.fill(self._weights)

    def potentials(self, sequences: np.ndarray | None = None) -> ChainPotentials:
        if sequences is None:
            self._potentials = self.scoring.potentials(self.weights())
        else:
            self._potentials = self.scoring.rescored(self._potentials, self.weights(), sequences)
        return self._potentials

    def squared_norm(self) -> float:
        vector = self.differences.vector[: self.differences.n_used]
        return dot(vector, vector)

    def extend(self, candidates: Candidates, rescale: str | None) -> int:
        own = self.differences
        new, first_new = own.extend(candidates, rescale)
        inner_products(np.unique(candidates.sequences), first_new, own.sets, own.atoms, own.data, own.mark)
        return new

    def sweep(self, order: np.ndarray, cap: float, upper: float, ridge: float) -> bool:
        own = self.differences
        return sweep_sets(order, own.sets, own.atoms, own.data, own.vector, cap, upper, ridge)

    def extrapolate(self, share: float, cap: float, upper: float) -> None:
        self.differences.extrapolate(share, cap, upper)

    def take_back(self) -> None:
        self.differences.take_back()

    def scale(self, factor: float) -> None:
        self.differences.scale(factor)


@compiled
def inner_products(sequences, first_new, sets, atoms, data, mark):
    """⟨g_k, g_l⟩ of new members with all of their sets. mark: zeros, and zeros again afterwards."""
    for i in sequences:
        own, gram, first = atoms_of(sets, i), gram_of(sets, i), sets.bounds[i]
        for member in range(first_new[i], sets.bounds[i + 1]):
            add_multiple_of(sets, member, 1.0, atoms, mark)
            add_atoms(own, atoms, data, mark)
            score_atoms(own, atoms, data, mark)
            for other in range(first, member + 1):
                value = product(sets, other, atoms, mark)
                gram[member - first, other - first] = gram[other - first, member - first] = value
            for atom in own:
                for e in range(atoms.begin[atom], atoms.begin[atom + 1]):
                    mark[atoms.index[e]] = 0.0
            for e in range(sets.entry_begin[member], sets.entry_end[member]):
                mark[sets.index[e]] = 0.0


@compiled
def sweep_sets(order, sets, atoms, data, vector, cap, upper, ridge):
    """Visits these sequences in turn; False where a step has no end."""
    for i in order:
        own = atoms_of(sets, i)
        score_atoms(own, atoms, data, vector)
        if not visit(i, sets, atoms, vector, cap, upper, ridge):
            return False
        add_atoms(own, atoms, data, vector)
    return True
