"""What reading an upload found, in a compact form beside the file: pages and workers load it in a fraction of the time.

It can be made again from the file. It is read as if a stranger had written it, and what does not fit is not used.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, chain, pairwise
from pathlib import Path

import numpy as np

from labseq_core.archives import LoadedArrays, load_archive, names_in, save_archive
from labseq_core.checks import LabSeqError, require
from labseq_core.data.alphabet import distinct_rows
from labseq_core.data.sequences import Column, Sequences

FORM = 1  # another number when readers find something else in the same file
_BETWEEN = "\0"  # names; no reader lets it into a cell


def save_parsed(path: Path, parts: Sequence[Sequences], identity: dict) -> None:
    """parts: training, development and test set. identity: of what they were read from, and how; JSON."""
    arrays = {"lengths": np.concatenate([part.lengths for part in parts])}
    columns = list(parts[0].flat_columns)
    arrays |= _coded("tokens", [part.flat_tokens for part in parts])
    arrays |= _coded("labels", [part.flat_labels or [] for part in parts])
    for place, name in enumerate(columns):
        arrays |= _coded(f"column{place}", [part.flat_columns[name] for part in parts])
    meta = {"form": FORM, "identity": identity, "parts": list(map(len, parts)), "columns": columns}
    save_archive(path, arrays, meta)


def _coded(key: str, columns: Sequence[Column]) -> dict[str, np.ndarray]:
    """The values of a column of numbers; of one of text the distinct cells, and the number of each cell's."""
    if isinstance(columns[0], np.ndarray):
        return {f"{key}.values": np.concatenate(columns)}
    names, rows = distinct_rows(list(chain.from_iterable(columns)))
    try:
        text = _BETWEEN.join(names).encode()
    except UnicodeEncodeError:
        raise LabSeqError(
            f"{key} have half a surrogate pair (\\ud800 to \\udfff); write the character itself"
        ) from None
    require(text.count(_BETWEEN.encode()) == len(names) - 1, f"{key} have a NUL character; leave it out")
    return {f"{key}.names": np.frombuffer(text, dtype=np.uint8), f"{key}.codes": rows.astype(np.int32)}


def load_parsed(path: Path, identity: dict) -> list[Sequences] | None:
    """What `save_parsed` wrote of the same file read the same way; None where it is not there, damaged or of another."""
    try:
        arrays, meta = load_archive(path, "upload")
        return _checked(LoadedArrays(arrays), meta, identity)
    except (LabSeqError, KeyError, TypeError, ValueError):
        return None


def _checked(loaded: LoadedArrays, meta: dict, identity: dict) -> list[Sequences]:
    require(meta["form"] == FORM and meta["identity"] == identity, "it is of another file")
    offsets = np.append(0, np.cumsum(loaded.indices("lengths", below=2**31)))
    n_tokens = int(offsets[-1])
    tokens, labels = _cells(loaded, "tokens", n_tokens, filled=True), _cells(loaded, "labels", n_tokens, filled=True)
    names = names_in(meta, "columns")
    columns = {name: _cells(loaded, f"column{place}", n_tokens) for place, name in enumerate(names)}
    loaded.require_all_taken("upload")
    sizes = meta["parts"]
    whole = isinstance(sizes, list) and all(type(size) is int and size > 0 for size in sizes)
    require(whole and sum(sizes) == len(offsets) - 1, "parts do not fit the sequences")
    parts = []
    for first, last in pairwise(accumulate(sizes, initial=0)):
        begin, end = offsets[first], offsets[last]
        own = {name: column[begin:end] for name, column in columns.items()}
        parts.append(Sequences(tokens[begin:end], offsets[first : last + 1] - begin, labels[begin:end], own))
    return parts


def _cells(loaded: LoadedArrays, key: str, size: int, filled: bool = False) -> Column:
    if f"{key}.values" in loaded and not filled:
        values = loaded.floats(f"{key}.values", size, infinite=True)
        require(not np.isinf(values).any(), f"{key} has an infinite number")
        return values
    text = loaded[f"{key}.names"]
    require(text.dtype == np.uint8 and text.ndim == 1, f"{key} has no names")
    names = text.tobytes().decode().split(_BETWEEN)
    require(not filled or "" not in names, f"{key} has an empty one")
    codes = loaded.indices(f"{key}.codes", below=len(names), size=size, dtype=np.int32)
    return np.array(names, dtype=object)[codes].tolist()
