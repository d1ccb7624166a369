"""What boosting knows of its features before it starts: where they can fire, and how often. T 3.3.2, the lists of Alg. 4.

A feature is an attribute at a label, number a·S + σ, or a pair of neighbouring labels, number A·S + σ·S + τ (σ before τ).
An *incidence* is an attribute in a sequence that has it. Let c⁺ and c⁻ be the sums of its positive and negative values
there and S_k the sum of its values where the truth is σ. Then u_k(y) = S_k(y) - S_k(y*) lies between L = c⁻ - S_k and
U = c⁺ - S_k. Different sequences share these numbers, so the tight bound (T 3.35) of a feature is a short sum

    Σ_terms coefficient[term, σ] (e^{exponent[term] Δ} - 1),      exponents: the distinct U and L that are not 0
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from labseq_core.compiling.routines import compiled
from labseq_core.compiling.threads import thread_count
from labseq_core.features.encoded import EncodedSequences, gather


@dataclass(frozen=True)
class BoundTerms:
    """The terms of the bounds of some attributes (or of all label pairs, as if they were one attribute), and in which of them
    incidences have a share.
    """

    pointer: np.ndarray  # (attributes + 1,): the terms of an attribute
    exponents: np.ndarray  # (terms,): ascending within an attribute, never 0
    high: np.ndarray  # (incidences, kinds): term of U of the labels that the truth does not have there; -1 if U = 0
    low: np.ndarray  # the same of L
    present_pointer: np.ndarray  # (incidences + 1,)
    present_label: np.ndarray  # labels that the truth has there
    present_high: np.ndarray  # term of U of those; -1 if U = 0
    present_low: np.ndarray  # term of L of those; -1 if L = 0
    upper: np.ndarray  # (attributes, labels): max U over sequences
    lower: np.ndarray  # (attributes, labels): min L over sequences


@dataclass(frozen=True)
class FeatureLists:
    """Sequences are numbered from the longest to the shortest, so that neighbours fill vector lanes well."""

    n_labels: int
    n_attributes: int
    offsets: np.ndarray  # (sequences + 1,)
    labels: np.ndarray  # (positions,)
    first_incidence: np.ndarray  # (sequences, parts + 1): incidences of a sequence by range of attributes
    part_bounds: np.ndarray  # (parts + 1,): ranges of attributes, one for each thread; sums do not depend on them
    attribute: np.ndarray  # (incidences,)
    width: np.ndarray  # (incidences,): U - L, which is the same for all labels
    sequence: np.ndarray  # (incidences,)
    entry_pointer: np.ndarray  # (incidences + 1,)
    entry_position: np.ndarray  # (entries,)
    entry_value: np.ndarray  # (entries,), or empty: all are 1
    of_attribute_pointer: np.ndarray  # (attributes + 1,)
    of_attribute: np.ndarray  # incidences of an attribute, by sequence
    terms: BoundTerms
    edge_terms: BoundTerms  # kinds: pairs of different labels, pairs of equal ones
    edge_sequences: np.ndarray  # sequences of at least two positions
    observed: int  # features that fire in the training data

    @property
    def n_features(self) -> int:
        return (self.n_attributes + self.n_labels) * self.n_labels

    def sequences_of(self, feature: int) -> np.ndarray:
        """SList: where the feature can fire."""
        if feature >= self.n_attributes * self.n_labels:
            return self.edge_sequences
        return self.sequence[self.incidences_of(feature // self.n_labels)]

    def widths_of(self, feature: int) -> tuple[np.ndarray, np.ndarray]:
        """Where the feature can fire, and U - L there."""
        sequences, pair = self.sequences_of(feature).astype(np.int64), feature - self.n_attributes * self.n_labels
        if pair < 0:
            return sequences, self.width[self.incidences_of(feature // self.n_labels)]
        lengths = self.offsets[sequences + 1] - self.offsets[sequences]
        return sequences, (lengths - 1.0) if pair // self.n_labels == pair % self.n_labels else lengths // 2.0

    def share_of(self, feature: int) -> tuple[float, float]:
        """The share of sequences in which the feature can fire, and the share of positions in them."""
        sequences = self.sequences_of(feature)
        positions = (self.offsets[sequences + 1] - self.offsets[sequences]).sum()
        return sequences.size / (self.offsets.size - 1), float(positions / self.offsets[-1])

    def incidences_of(self, attribute: int) -> np.ndarray:
        return self.of_attribute[self.of_attribute_pointer[attribute] : self.of_attribute_pointer[attribute + 1]]

    def entries_of(self, attribute: int) -> tuple[np.ndarray, np.ndarray]:
        """Positions and values of an attribute."""
        places, _ = gather(self.entry_pointer, self.incidences_of(attribute))
        values = self.entry_value[places] if self.entry_value.size else np.ones(places.size)
        return self.entry_position[places].astype(np.int64), values


def order_by_length(encoded: EncodedSequences) -> np.ndarray:
    """The order of sequences that `FeatureLists` needs: the longest first."""
    return np.argsort(-np.diff(encoded.offsets), kind="stable")


def feature_lists(encoded: EncodedSequences, labels: np.ndarray, n_labels: int) -> FeatureLists:
    """All lists of one training set, whose sequences are in the order of `order_by_length`."""
    offsets, n_attributes = encoded.offsets, encoded.n_attributes
    lengths = np.diff(offsets)
    part_bounds = _part_bounds(encoded)
    sequence_of_entry = np.repeat(np.repeat(np.arange(len(encoded)), lengths), np.diff(encoded.indptr))
    position_of_entry = np.repeat(np.arange(encoded.n_positions, dtype=np.int32), np.diff(encoded.indptr))
    order = np.argsort(sequence_of_entry * n_attributes + encoded.indices, kind="stable")
    key = (sequence_of_entry * n_attributes + encoded.indices)[order]
    first = np.flatnonzero(np.r_[True, key[1:] != key[:-1]]) if key.size else np.empty(0, dtype=np.int64)
    attribute = encoded.indices[order][first].astype(np.int32)
    sequence = sequence_of_entry[order][first].astype(np.int32)
    entry_pointer = np.r_[first, key.size].astype(np.int64)
    positions = position_of_entry[order]
    values = encoded.values[order] if encoded.values.size else encoded.values
    of_attribute = np.argsort(attribute, kind="stable").astype(np.int32)
    pointer = np.searchsorted(attribute[of_attribute], np.arange(n_attributes + 1))
    bounds = np.arange(len(encoded))[:, np.newaxis] * np.int64(n_attributes) + part_bounds
    terms = _attribute_terms(attribute, entry_pointer, positions, values, labels, n_attributes, n_labels)
    long_enough = np.flatnonzero(lengths >= 2)
    edge_terms, pairs = _edge_terms(offsets, labels, n_labels)
    return FeatureLists(
        n_labels, n_attributes, offsets, labels, np.searchsorted(key[first], bounds), part_bounds, attribute,
        _widths(terms), sequence, entry_pointer, positions, values, pointer, of_attribute, terms, edge_terms, long_enough,
        _observed_attributes(encoded.indices, labels[position_of_entry], n_labels) + pairs,
    )  # fmt: skip


def _widths(terms: BoundTerms) -> np.ndarray:
    """U - L of each incidence of an attribute."""
    ends = np.append(terms.exponents, 0.0)  # term -1: 0
    return ends[terms.high[:, 0]] - ends[terms.low[:, 0]]


def _observed_attributes(indices: np.ndarray, labels: np.ndarray, n_labels: int) -> int:
    return int(np.unique(indices.astype(np.int64) * n_labels + labels).size)


def _part_bounds(encoded: EncodedSequences) -> np.ndarray:
    """Ranges of attributes with about equally many entries."""
    total = np.cumsum(np.bincount(encoded.indices, minlength=encoded.n_attributes) + 1)
    bounds = np.searchsorted(total, np.linspace(0, total[-1] if total.size else 0, thread_count() + 1))
    bounds[0], bounds[-1] = 0, encoded.n_attributes
    return bounds.astype(np.int64)


def _attribute_terms(
    attribute, entry_pointer, positions, values, labels, n_attributes: int, n_labels: int
) -> BoundTerms:
    highest, lowest, present_pointer, present_label, present_sum = _incidence_sums(
        entry_pointer, positions, values, labels, n_labels
    )
    present_of = np.repeat(np.arange(attribute.size), np.diff(present_pointer))
    owners = attribute[present_of]
    present_highest, present_lowest = highest[present_of] - present_sum, lowest[present_of] - present_sum
    upper = np.zeros((n_attributes, n_labels))
    lower = np.zeros((n_attributes, n_labels))
    _feature_ranges(
        attribute, highest, lowest, present_pointer, present_label, present_highest, present_lowest, upper, lower
    )
    pointer, exponents, high, low, present_high, present_low = _number_terms(
        n_attributes,
        (attribute, highest),
        (attribute, lowest),
        (owners, present_highest),
        (owners, present_lowest),
    )
    return BoundTerms(
        pointer, exponents, high[:, np.newaxis], low[:, np.newaxis], present_pointer, present_label, present_high,
        present_low, upper, lower,
    )  # fmt: skip


def _edge_terms(offsets: np.ndarray, labels: np.ndarray, n_labels: int) -> tuple[BoundTerms, int]:
    """(σ, σ) can fire at most l - 1 times, (σ, τ) at most ⌊l/2⌋ times; how many pairs the truth has is given too."""
    lengths = np.diff(offsets)
    n_sequences, n_pairs = lengths.size, n_labels * n_labels
    arrivals = np.delete(np.arange(labels.size), offsets[:-1])
    pair = labels[arrivals - 1] * n_labels + labels[arrivals]
    of_sequence = np.repeat(np.arange(n_sequences), np.maximum(lengths - 1, 0))
    keys, counts = np.unique(of_sequence * n_pairs + pair, return_counts=True)
    present_of, present_label = keys // n_pairs, keys % n_pairs
    most = np.stack([lengths // 2, lengths - 1], axis=1).astype(np.float64)
    equal = present_label // n_labels == present_label % n_labels
    present_highest = most[present_of, equal.astype(np.int64)] - counts
    present_lowest = -counts.astype(np.float64)
    upper, lower = np.zeros((1, n_pairs)), np.zeros((1, n_pairs))
    is_equal = np.arange(n_pairs) // n_labels == np.arange(n_pairs) % n_labels
    present_pointer = np.searchsorted(present_of, np.arange(n_sequences + 1))
    for p in range(n_pairs):
        own = present_label == p
        free = np.ones(n_sequences, dtype=np.bool_)
        free[present_of[own]] = False
        upper[0, p] = max(most[free, int(is_equal[p])].max(initial=0.0), present_highest[own].max(initial=0.0))
        lower[0, p] = present_lowest[own].min(initial=0.0)
    nobody, nobody_present = np.zeros(n_sequences, dtype=np.int32), np.zeros(keys.size, dtype=np.int32)
    pointer, exponents, differing, equals, present_high, present_low = _number_terms(
        1,
        (nobody, most[:, 0]),
        (nobody, most[:, 1]),
        (nobody_present, present_highest),
        (nobody_present, present_lowest),
    )
    terms = BoundTerms(
        pointer, exponents, np.stack([differing, equals], axis=1), np.full((n_sequences, 2), -1, dtype=np.int32),
        present_pointer, present_label.astype(np.int32), present_high, present_low, upper, lower,
    )  # fmt: skip
    return terms, int(np.unique(pair).size)


def _number_terms(n_owners: int, *groups: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, ...]:
    """One term per (owner, exponent) that occurs in any group; for each group the terms of its members, -1 for exponent 0."""
    owners = np.concatenate([owner for owner, _ in groups]).astype(np.int64)
    exponents = np.concatenate([exponent for _, exponent in groups])
    distinct, rank = np.unique(exponents, return_inverse=True)
    key = owners * np.int64(max(1, distinct.size)) + rank
    key[exponents == 0.0] = -1
    distinct_keys, term = np.unique(key, return_inverse=True)
    skip = int(distinct_keys.size > 0 and distinct_keys[0] == -1)
    term, distinct_keys = term - skip, distinct_keys[skip:]
    pointer = np.searchsorted(distinct_keys // max(1, distinct.size), np.arange(n_owners + 1)).astype(np.int64)
    ends = np.cumsum([0, *(owner.size for owner, _ in groups)])
    per_group = [term[begin:end].astype(np.int32) for begin, end in pairwise(ends)]
    return pointer, distinct[distinct_keys % max(1, distinct.size)], *per_group


@compiled
def _incidence_sums(entry_pointer, positions, values, labels, n_labels):
    """c⁺ and c⁻ of each incidence, and S_k for the labels that the truth has there."""
    n_incidences = entry_pointer.size - 1
    highest, lowest = np.zeros(n_incidences), np.zeros(n_incidences)
    present_pointer = np.zeros(n_incidences + 1, dtype=np.int64)
    last_seen = np.full(n_labels, -1, dtype=np.int64)
    for j in range(n_incidences):
        found = 0
        for e in range(entry_pointer[j], entry_pointer[j + 1]):
            label = labels[positions[e]]
            if last_seen[label] != j:
                last_seen[label] = j
                found += 1
        present_pointer[j + 1] = present_pointer[j] + found
    present_label = np.empty(present_pointer[-1], dtype=np.int32)
    present_sum = np.zeros(present_pointer[-1])
    last_seen[:] = -1
    place = np.empty(n_labels, dtype=np.int64)
    for j in range(n_incidences):
        free = present_pointer[j]
        for e in range(entry_pointer[j], entry_pointer[j + 1]):
            label = labels[positions[e]]
            value = values[e] if values.size else 1.0
            if value > 0.0:
                highest[j] += value
            else:
                lowest[j] += value
            if last_seen[label] != j:
                last_seen[label] = j
                place[label] = free
                present_label[free] = label
                free += 1
            present_sum[place[label]] += value
    return highest, lowest, present_pointer, present_label, present_sum


@compiled
def _feature_ranges(
    attribute, highest, lowest, present_pointer, present_label, present_highest, present_lowest, upper, lower
):
    """max U and min L of each feature over the sequences that can have it."""
    n_labels = upper.shape[1]
    here = np.zeros(n_labels, dtype=np.bool_)
    for j in range(attribute.size):
        a = attribute[j]
        for k in range(present_pointer[j], present_pointer[j + 1]):
            s = present_label[k]
            here[s] = True
            upper[a, s] = max(upper[a, s], present_highest[k])
            lower[a, s] = min(lower[a, s], present_lowest[k])
        for s in range(n_labels):
            if not here[s]:
                upper[a, s] = max(upper[a, s], highest[j])
                lower[a, s] = min(lower[a, s], lowest[j])
            here[s] = False
