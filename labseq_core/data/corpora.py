"""The public corpora that LabSeq can fetch: where they lie, what must be said about them, who parses them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from labseq_core.data.downloads import RemoteFile
from labseq_core.data.sequences import Sequences

Parts = tuple[Sequences, Sequences, Sequences]  # train, dev, test


@dataclass(frozen=True)
class Corpus:
    """A corpus that is downloaded on demand. `parse` gets the contents of the files by path."""

    name: str
    title: str
    task: str
    licence: str
    citation: str
    size: str
    description: str
    files: tuple[RemoteFile, ...]
    parse: Callable[[Mapping[str, bytes]], Parts]
    n_labels: int | None = None
    answer_columns: tuple[str, ...] = ()


CORPORA: tuple[Corpus, ...] = ()
