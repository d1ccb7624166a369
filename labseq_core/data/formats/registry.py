"""All file formats: who reads and writes them, their options, and the choice by file name and contents."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from labseq_core.checks import LabSeqError
from labseq_core.data.formats.conll import CONLLU_FIELDS, read_conll, read_conllu
from labseq_core.data.formats.source import ENCODINGS, DataError, Source, base_name, extension_of, read_bytes
from labseq_core.data.formats.tabular import read_jsonl, read_table
from labseq_core.data.formats.writers import write_conll, write_csv
from labseq_core.data.sequences import Sequences
from labseq_core.registry import Registry

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
    """A file format: who reads and writes it, with which options, and how a file of it is known."""

    name: str
    title: str
    extensions: tuple[str, ...]
    reader: Callable[..., Sequences]  # of a source and a name, and of the options
    options: tuple[ReaderOption, ...] = ()
    writer: Callable[..., None] | None = None  # of sequences and a place, with `labels` that were predicted
    # Whether these first lines, none of them blank, are of this format, where the name of a file leaves it open.
    recognises: Callable[[list[bytes]], bool] | None = None


def _is_json(lines: list[bytes]) -> bool:
    return lines[0].startswith(b"{") and b'":' in lines[0]


def _is_conllu(lines: list[bytes]) -> bool:
    content = next((line for line in lines if not line.startswith(b"#")), b"")
    return _CONLLU_LINE.fullmatch(content) is not None


_CONLLU_LINE = re.compile(rb"[1-9][0-9]*([-.][0-9]+)?(\t[^\t]*){9}")
_SAYS_LITTLE = frozenset({".txt", ".conll"})
_USUAL = "conll"
_ENCODING = ReaderOption("encoding", "utf-8", "how characters are stored in the file", ENCODINGS)

FORMATS: Registry[Format] = Registry(
    "file format",
    [
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
            write_conll,
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
            recognises=_is_conllu,
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
            write_csv,
        ),
        Format(
            "jsonl",
            'JSON lines, {"tokens": [...], "labels": [...]}',
            (".jsonl", ".json"),
            read_jsonl,
            (_ENCODING,),
            recognises=_is_json,
        ),
    ],
)


def read_file(source: Source, *, format: str | None = None, name: str | None = None, **options: Any) -> Sequences:
    """Read a corpus of any known format. `format=None` is chosen by the file name, then by the contents."""
    file = base_name(source, name)
    if format is None:
        # The whole of it: an open file can be read only once.
        data = read_bytes(source, name)
        return read_file(data, format=choose_format(file, data), name=file, **options)
    chosen = FORMATS.find(format)
    known = [option.name for option in chosen.options]
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise LabSeqError(f"the format {format} has no option {unknown[0]!r}; it has {', '.join(known) or 'none'}")
    return chosen.reader(source, name=file, **options)


def choose_format(file: str, data: bytes) -> str:
    """The format of a file by its name, or by its first lines where the name leaves it open."""
    extension = extension_of(file)
    by_name = next((format.name for format in FORMATS.values() if extension in format.extensions), None)
    if by_name and extension not in _SAYS_LITTLE:
        return by_name
    lines = [line.rstrip(b"\r") for line in data[:100_000].removeprefix(b"\xef\xbb\xbf").split(b"\n") if line.strip()]
    known = (format for format in FORMATS.values() if lines and format.recognises and format.recognises(lines))
    return next((format.name for format in known), _USUAL)


def writer_of(file: str) -> Callable[..., None]:
    """Who writes a file of this name; CoNLL columns where the name says no format."""
    extension = extension_of(file)
    known = [format.writer for format in FORMATS.values() if extension in format.extensions]
    written = next(filter(None, known), None if known else write_conll)
    if written is None:
        raise LabSeqError(f"no file that ends in {extension} is written; choose {', '.join(written_extensions())}")
    return written


def written_extensions() -> list[str]:
    """What the name of a file that is written may end in."""
    return [extension for format in FORMATS.values() if format.writer for extension in format.extensions]
