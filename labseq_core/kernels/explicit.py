"""Exact explicit feature maps of kernels that are polynomials of inner products: weights in place of Gram matrices.

k(x, z) = ⟨φ(x), φ(z)⟩,      φ_f = √c_f ψ_f,      ψ_f a product of attributes      (METHODS 5, last point)

There is one for Linear, TokenMatch, Polynomial up to degree 2 (up to 3 where attributes are 0/1), and for sums, multiples
and normalisations of those.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import comb

import numpy as np

from labseq_core.checks import require
from labseq_core.data.alphabet import Alphabet
from labseq_core.features.encoded import NO_VALUES, EncodedSequences
from labseq_core.kernels.base import Kernel
from labseq_core.kernels.blocks import refuse_infinite, term_scale
from labseq_core.kernels.conjunctions import MAX_DEGREE, Conjunctions, FeatureTable, Polynomials
from labseq_core.kernels.observations import Observations


@dataclass(frozen=True)
class ExplicitSize:
    """What an explicit map of some data would be."""

    entries: int  # features of all positions together, exact
    features: int  # distinct ones, within about a percent

    def n_bytes(self, n_labels: int) -> int:
        """About what the map, the mapped data and weights of all features would take, at most."""
        return 12 * self.entries + self.features * (8 * n_labels + 64)


def explicit_size(kernel: Kernel, encoded: EncodedSequences) -> ExplicitSize | None:
    """How large the map would be, in a fraction of the time and without its memory; None: the kernel has none."""
    if kernel.is_linear:
        return ExplicitSize(encoded.indices.size, encoded.n_attributes)
    positions = Observations.of_positions(encoded)
    polynomials = _polynomials(kernel, positions)
    if polynomials is None:
        return None
    views = [positions.view(term.basic.attribute) for term in kernel.terms()]
    entries = sum(int(part.sizes(view).sum()) for part, view in zip(polynomials, views))
    return ExplicitSize(entries, sum(part.count_features(view) for part, view in zip(polynomials, views)))


def features_of_a_token(kernel: Kernel, attributes: float) -> float | None:
    """About how many a token with so many attributes has, whatever the data; None: the kernel has none."""
    total = 0.0
    for basic in (term.basic for term in kernel.terms()):
        if basic.polynomial is None or basic.polynomial[0] > MAX_DEGREE:
            return None
        if basic.attribute is not None:
            total += 1
        elif basic.polynomial == (1, 0.0):
            total += attributes
        else:
            total += sum(comb(round(attributes), k) for k in range(basic.polynomial[0] + 1))
    return total


class ExplicitMap:
    """The features that training data have under a kernel; new data are given in these, other features are left out.

    That loses nothing: a weight on a feature that training never saw is 0. `scale` is c, (features,); empty: all are 1.
    """

    def __init__(self, kernel: Kernel, attributes: Alphabet, tables: list[FeatureTable]):
        self.kernel, self.attributes, self._tables = kernel, attributes, tables
        self.vocabulary = Conjunctions(attributes, tables) if tables else attributes
        parts = [term.factor * table.coefficients() for term, table in zip(kernel.terms(), tables)]
        self.scale = np.concatenate(parts) if tables else NO_VALUES

    def apply(self, encoded: EncodedSequences, scaled: bool = True) -> EncodedSequences:
        """φ of each position or, not scaled, ψ, whose values are all 1 where attributes are 0/1: k = Σ_f c_f ψ_f(x) ψ_f(z)."""
        encoded = encoded.with_vocabulary(self.attributes)
        if not self._tables:
            return encoded
        expanded = _expanded(self.kernel, self._tables, Observations.of_positions(encoded), learn=False)
        return self._encoded(encoded, *expanded, scaled)

    def _encoded(self, encoded: EncodedSequences, indptr, indices, values, scaled: bool) -> EncodedSequences:
        if scaled and not (self.scale == 1.0).all():
            roots = np.sqrt(self.scale)[indices]
            values = np.multiply(values, roots, out=roots) if values.size else roots
        return EncodedSequences(indptr, indices, values, encoded.offsets, self.vocabulary, encoded.template)


def explicit_map(
    kernel: Kernel, encoded: EncodedSequences, scaled: bool = True
) -> tuple[ExplicitMap, EncodedSequences]:
    """Learn the features of training data: the map, and the data in it (as `apply` gives them)."""
    if kernel.is_linear:
        return ExplicitMap(kernel, encoded.vocabulary, []), encoded
    positions = Observations.of_positions(encoded)
    polynomials = _polynomials(kernel, positions)
    require(
        polynomials is not None,
        f"{kernel!r} has no explicit features for these data; they exist for Linear, TokenMatch, Polynomial up to degree 2 "
        "(3 for 0/1 attributes) and their sums, multiples and normalisations",
    )
    tables = [FeatureTable(part, encoded.n_attributes) for part in polynomials]
    expanded = _expanded(kernel, tables, positions, learn=True)
    made = ExplicitMap(kernel, encoded.vocabulary, tables)
    return made, made._encoded(encoded, *expanded, scaled)


def _polynomials(kernel: Kernel, positions: Observations) -> list[Polynomials] | None:
    polynomials = []
    for term in kernel.terms():
        if term.basic.polynomial is None:
            return None
        is_real = bool(positions.view(term.basic.attribute).values.size)
        polynomials.append(Polynomials(*term.basic.polynomial, is_real))
    return polynomials if all(part.exists for part in polynomials) else None


def _expanded(
    kernel: Kernel, tables: list[FeatureTable], positions: Observations, learn: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """ψ of each position, the features of all terms side by side: indptr, numbers, values."""
    refuse_infinite(kernel, positions)
    parts = []
    for term, table in zip(kernel.terms(), tables):
        indptr, indices, values = table.expand(positions.view(term.basic.attribute), learn)
        if term.norms:
            lengths = np.repeat(term_scale(replace(term, factor=1.0), positions), np.diff(indptr))
            values = lengths * values if values.size else lengths
        parts.append((indptr, indices, values))
    return _side_by_side(parts, [table.n_features for table in tables])


def _side_by_side(
    parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]], sizes: list[int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ragged rows of several parts as one, the numbers of each part after those of the ones before it."""
    if len(parts) == 1:
        return parts[0]
    indptr = sum(part[0] for part in parts)
    indices = np.empty(indptr[-1], dtype=np.int32)
    values = np.ones(indptr[-1]) if any(part[2].size for part in parts) else NO_VALUES
    begin, first = indptr[:-1].copy(), 0
    for (own_indptr, own_indices, own_values), size in zip(parts, sizes):
        counts = np.diff(own_indptr)
        places = np.repeat(begin - own_indptr[:-1], counts) + np.arange(own_indptr[-1])
        indices[places] = own_indices + first
        if own_values.size:
            values[places] = own_values
        begin += counts
        first += size
    return indptr, indices, values
