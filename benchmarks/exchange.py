"""The files through which a benchmark hands one problem to several programs, each in the form that it needs.

CRFsuite reads a line per token, "label<TAB>attribute<TAB>attribute", with ':' and '\\' escaped. Wapiti reads
"u<attribute> u<attribute> b label": u is an attribute with a weight per label, the lone b the weights of label pairs.
A blank line ends a sentence. Reading back imports nothing of ours: the other program's process does that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

Sentences = Iterable[list[list[str]]]  # attributes of each token of each sentence
ESCAPED = "\\:"


def write_crfsuite(path: Path, sentences: Sentences, labels: Iterable[list[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for sentence, sentence_labels in zip(sentences, labels, strict=True):
            for names, label in zip(sentence, sentence_labels, strict=True):
                file.write("\t".join([label, *map(_escape, names)]) + "\n")
            file.write("\n")


def read_crfsuite(path: Path) -> Iterator[tuple[list[list[str]], list[str]]]:
    """(attributes, labels) of one sentence after the other."""
    sentence, labels = [], []
    with path.open(encoding="utf-8", newline="\n") as file:
        for line in file:
            if line != "\n":
                label, *names = line[:-1].split("\t")
                sentence.append([_unescape(name) if "\\" in name else name for name in names])
                labels.append(label)
            elif sentence:
                yield sentence, labels
                sentence, labels = [], []


def write_wapiti(path: Path, sentences: Sentences, labels: Iterable[list[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for sentence, sentence_labels in zip(sentences, labels, strict=True):
            for names, label in zip(sentence, sentence_labels, strict=True):
                file.write(" ".join([*("u" + name for name in names), "b", label]) + "\n")
            file.write("\n")


def _escape(name: str) -> str:
    for mark in ESCAPED:
        name = name.replace(mark, "\\" + mark)
    return name


def _unescape(name: str) -> str:
    characters = iter(name)
    return "".join(next(characters) if character == "\\" else character for character in characters)
