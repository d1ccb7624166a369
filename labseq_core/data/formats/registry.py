"""Reading a corpus file: the formats, their options, and the choice by file name and contents."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from labseq_core.checks import LabSeqError, require
from labseq_core.data.formats.conll import CONLLU_FIELDS, read_conll, read_conllu
from labseq_core.data.formats.source import ENCODINGS, DataError, Source, base_name, read_bytes
from labseq_core.data.formats.tabular import read_jsonl, read_table
from labseq_core.data.sequences import Sequences

__all__ = ["FORMATS", "DataError", "Format", "ReaderOption", "choose_format", "read_conll", "read_conllu", "read_file"]
__all__ += ["read_jsonl", "read_table"]


@dataclass(frozen=True)
class ReaderOption:
    """One option of a reader, as forms and help texts show it."""

    name: str
    default: Any
    help: str
    choices: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Format:
    """A file format: who reads it and with which options."""

    name: str
    title: str
    extensions: tuple[str, ...]
    reader: Callable[..., Sequences]
    options: tuple[ReaderOption, ...]


_ENCODING = ReaderOption("encoding", "utf-8", "how characters are stored in the file", ENCODINGS)

FORMATS: dict[str, Format] = {
    format.name: format
    for format in (
        Format(
            "conll",
            "columns, one token per line, blank line between sequences",
            (".conll", ".txt", ".iob", ".bio"),
            read_conll,
            (
                ReaderOption("token_column", 0, "column of the token, counted from 0"),
                ReaderOption(
                    "label_column", -1, "column of the label, counted from 0; -1 is the last, None means no labels"
                ),
                ReaderOption("columns", None, "names of the other columns, in file order"),
                ReaderOption("separator", None, "what separates columns; None: spaces or tabs", (" ", "\t")),
                _ENCODING,
            ),
        ),
        Format(
            "conllu",
            "CoNLL-U, ten fields per token",
            (".conllu",),
            read_conllu,
            (
                ReaderOption("label", "upos", "field that is the label; None means no labels", CONLLU_FIELDS[2:]),
                ReaderOption("columns", (), "further fields to keep as columns"),
                _ENCODING,
            ),
        ),
        Format(
            "table",
            "TSV or CSV with a header line",
            (".tsv", ".csv"),
            read_table,
            (
                ReaderOption("delimiter", None, "character between cells; None: tab for .tsv, comma for .csv"),
                ReaderOption("token", None, "column of the token; None: token, word or form"),
                ReaderOption("label", "label", "column of the label; None means no labels"),
                ReaderOption("sequence", None, "column whose change ends a sequence; None: blank rows end it"),
                ReaderOption("quoted", True, 'cells may stand in quotes; False: " is plain text'),
                _ENCODING,
            ),
        ),
        Format(
            "jsonl",
            'JSON lines, {"tokens": [...], "labels": [...]}',
            (".jsonl", ".json"),
            read_jsonl,
            (_ENCODING,),
        ),
    )
}

_BY_EXTENSION = {extension: format for format in FORMATS.values() for extension in format.extensions}
_SAYS_LITTLE = frozenset({".txt", ".conll"})
_CONLLU_LINE = re.compile(rb"[1-9][0-9]*([-.][0-9]+)?(\t[^\t]*){9}")


def read_file(source: Source, *, format: str | None = None, name: str | None = None, **options: Any) -> Sequences:
    """Read a corpus of any known format. `format=None` is chosen by the file name, then by the contents."""
    file = base_name(source, name)
    if format is None:
        # The whole of it: an open file can be read only once.
        data = read_bytes(source, name)
        return read_file(data, format=choose_format(file, data), name=file, **options)
    require(format in FORMATS, f"unknown format {format!r}; choose one of {', '.join(FORMATS)}")
    chosen = FORMATS[format]
    known = [option.name for option in chosen.options]
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise LabSeqError(f"the format {format} has no option {unknown[0]!r}; it has {', '.join(known)}")
    return chosen.reader(source, name=file, **options)


def choose_format(file: str, data: bytes) -> str:
    """The format of a file by its name, or by its first line where the name leaves it open."""
    found = re.search(r"\.[^.]*$", file.lower().removesuffix(".gz"))
    extension = found[0] if found else ""
    by_name = _BY_EXTENSION.get(extension)
    if by_name and extension not in _SAYS_LITTLE:
        return by_name.name
    lines = [line.rstrip(b"\r") for line in data[:100_000].removeprefix(b"\xef\xbb\xbf").split(b"\n") if line.strip()]
    if lines and lines[0].startswith(b"{") and b'":' in lines[0]:
        return "jsonl"
    content = [line for line in lines if not line.startswith(b"# ")]
    return "conllu" if content and _CONLLU_LINE.fullmatch(content[0]) else "conll"
