"""Random pairs of labellings, ill-formed ones included."""

from __future__ import annotations

from hypothesis import strategies as st

BIO = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")
IOE = ("O", "I-PER", "E-PER", "I-LOC", "E-LOC")
IOBES = ("O", *(f"{tag}-{kind}" for tag in "BIES" for kind in ("PER", "LOC")))
# Kinds that contain '-', are empty or missing; O with a kind.
ODD_BIO = (*BIO, "B", "I", "B-", "I-", "B-A-B", "I-A-B", "I-A", "O-PER", "O-")


def labelling_pairs(alphabet: tuple[str, ...], max_sequences: int = 4, max_length: int = 12):
    """(y_true, y_pred) of the same shape; each predicted label equals the true one about half the time."""
    label = st.sampled_from(alphabet)
    cell = st.tuples(label, label, st.booleans()).map(lambda it: (it[0], it[0] if it[2] else it[1]))
    sequence = st.lists(cell, min_size=1, max_size=max_length)
    batches = st.lists(sequence, min_size=1, max_size=max_sequences)
    return batches.map(lambda batch: tuple([[cell[side] for cell in cells] for cells in batch] for side in (0, 1)))
