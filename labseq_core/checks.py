"""Input checks. Every error names the argument, what was wrong with it and what to do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

_BRIEF = 40  # letters of a text in a message
SUM_TOLERANCE = 1e-6  # of probabilities of one token
LARGEST = 1e200  # of numbers that come from outside: a sum of 1e100 of them is still a number


class LabSeqError(ValueError):
    """Bad input: the message is one line that a user can act on. Command line and pages show it as it is."""


def require(condition: bool, message: str) -> None:
    """Raise `LabSeqError(message)` unless the condition holds."""
    if not condition:
        raise LabSeqError(message)


def require_labellings(k: int) -> None:
    """How many labellings are asked for: at least one."""
    whole = isinstance(k, (int, np.integer)) and not isinstance(k, bool)
    require(whole and k >= 1, f"k is {k!r}; ask for at least one labelling")


def brief(value: object) -> str:
    """A value of anybody's as it can stand in a message: short, in one line, and without the digits of a huge number."""
    if isinstance(value, dict | list):
        return f"a {'list' if isinstance(value, list) else 'record'} of {len(value):,}"
    if isinstance(value, int) and abs(value) >= 2**63:
        return "a number far too large"
    return repr(value[:_BRIEF] if isinstance(value, str) else value)


def as_plain(value: object) -> object:
    """A number of numpy as Python's own, which JSON can hold; all else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def as_floats(name: str, value: ArrayLike, shape: tuple[int | None, ...]) -> np.ndarray:
    """`value` as a C-contiguous float64 array of the given shape (None: any size). -inf is allowed, NaN and +inf are not."""
    array = np.ascontiguousarray(value, dtype=np.float64)
    fits = array.ndim == len(shape) and all(want in (None, have) for want, have in zip(shape, array.shape))
    require(fits, f"{name} has shape {array.shape}, expected {_shape_words(shape)}")
    # NaN and +inf are exactly the values for which `x < inf` is false.
    require(
        bool((array < np.inf).all()),
        f"{name} contains NaN or +inf; only finite values and -inf (forbidden) are allowed",
    )
    beyond = (np.abs(array) > LARGEST) & (array > -np.inf)
    if beyond.any():
        raise LabSeqError(f"{name} contains {array[beyond][0]:g}; scale it to between {-LARGEST:g} and {LARGEST:g}")
    return array


def require_texts(what: str, values: Sequence[str], offsets: np.ndarray) -> None:
    """Tokens or labels of a flat batch, one a position, are strings that can be written down."""
    try:
        "".join(values).encode()
    except (TypeError, UnicodeEncodeError):
        place, fault = next((place, fault) for place, value in enumerate(values) if (fault := text_fault(value)))
        sequence = int(np.searchsorted(offsets, place, side="right")) - 1
        where = f"sequence {sequence}, token {place - offsets[sequence]}"
        raise LabSeqError(f"{where}: the {what} {fault}") from None


def text_fault(value: object) -> str:
    """What is wrong with a name of anything, and what to do; nothing if it is a string that can be written down."""
    if not isinstance(value, str):
        return f"is {value!r} of type {type(value).__name__}; give a string"
    try:
        value.encode()
    except UnicodeEncodeError:
        return f"{value!a} has half a surrogate pair (\\ud800 to \\udfff); write the character itself"
    return ""


def as_offsets(name: str, value: ArrayLike, n_positions: int) -> np.ndarray:
    """Offsets of a flat batch: sequence i owns the positions `offsets[i] : offsets[i + 1]`, none of them empty."""
    offsets = np.ascontiguousarray(value, dtype=np.int64)
    require(offsets.ndim == 1 and offsets.size >= 1, f"{name} must be a one-dimensional array that starts with 0")
    require(
        offsets[0] == 0 and offsets[-1] == n_positions,
        f"{name} must run from 0 to the number of positions, {n_positions}",
    )
    empty = np.flatnonzero(np.diff(offsets) <= 0)
    require(empty.size == 0, f"sequence {empty[0] if empty.size else 0} is empty; remove sequences without tokens")
    return offsets


def as_label_indices(name: str, value: ArrayLike, n_positions: int, n_labels: int) -> np.ndarray:
    """Flat label indices, one per position, each in 0 .. n_labels - 1."""
    labels = np.ascontiguousarray(value, dtype=np.int64)
    require(
        labels.shape == (n_positions,),
        f"{name} has shape {labels.shape}, expected ({n_positions},): one label per position",
    )
    inside = bool(((labels >= 0) & (labels < n_labels)).all())
    require(inside, f"{name} contains a label index outside 0 .. {n_labels - 1}")
    return labels


def _shape_words(shape: tuple[int | None, ...]) -> str:
    return "(" + ", ".join("any" if size is None else str(size) for size in shape) + ")"
