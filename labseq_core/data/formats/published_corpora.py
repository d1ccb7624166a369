"""Parsers of the public corpora: from the files as published to train, dev and test."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Iterable, Mapping

import numpy as np

from labseq_core.data.corpus import Parts
from labseq_core.data.formats.conll import read_conll, read_conllu
from labseq_core.data.formats.source import read_bytes, read_text
from labseq_core.data.sequences import Sequences
from labseq_core.data.splitting import split_fractions

Files = Mapping[str, bytes]

OCR_LETTERS, OCR_WORDS, OCR_PIXELS = 52_152, 6_877, 128
_OCR_FIELDS = 6  # id, letter, next_id, word_id, position, fold


def parse_conll2002_es(files: Files) -> Parts:
    archive = _archive(files, "conll2002.zip")
    train, test, dev = (
        read_conll(archive.read(f"conll2002/{name}"), columns=["pos"], name=name)
        for name in ("esp.train", "esp.testa", "esp.testb")
    )
    return train, dev, test


def parse_conll2000(files: Files) -> Parts:
    archive = _archive(files, "conll2000.zip")
    published, test = (
        read_conll(archive.read(f"conll2000/{name}"), columns=["pos"], name=name) for name in ("train.txt", "test.txt")
    )
    train, dev = (published.select(part) for part in split_fractions(len(published), (0.9, 0.1), seed=None))
    return train, dev, test


def parse_treebank(files: Files) -> Parts:
    archive = _archive(files, "treebank.zip")
    names = sorted(name for name in archive.namelist() if re.search(r"/tagged/[^/]*\.pos$", name))
    articles = [list(treebank_sentences(archive.read(name).decode("ascii"))) for name in names]
    parts = []
    for numbers in split_fractions(len(articles), (0.8, 0.1, 0.1), seed=None):
        sentences = [sentence for number in numbers for sentence in articles[number]]
        tokens = [[word for word, _ in sentence] for sentence in sentences]
        parts.append(Sequences.from_lists(tokens, [[tag for _, tag in sentence] for sentence in sentences]))
    return tuple(parts)


def treebank_sentences(text: str) -> Iterable[list[tuple[str, str]]]:
    """(word, tag) of each sentence. Of alternative tags such as NN|JJ the first is kept; brackets mark chunks.

    Blank lines also stand between two chunks of a sentence, so one ends a sentence only after a tag ".", perhaps with
    closing quotes or brackets behind it. A line of = always ends one.
    """
    for paragraph in re.split(r"={5,}", text):
        sentence: list[tuple[str, str]] = []
        for block in re.split(r"\n[ \t]*\n", paragraph):
            sentence += [_treebank_word(item) for item in block.split() if item not in "[]"]
            tags = [tag for _, tag in sentence]
            while tags and tags[-1] in ("''", ")"):
                tags.pop()
            if tags and tags[-1] == ".":
                yield sentence
                sentence = []
        if sentence:
            yield sentence


def _treebank_word(item: str) -> tuple[str, str]:
    word, _, tags = item.rpartition("/")
    return word.replace("\\/", "/"), tags.split("|")[0]


def parse_prosody(files: Files) -> Parts:
    published, test = (_prosody_sequences(files[f"prosody/{name}"], name) for name in ("dev.txt", "test.txt"))
    train, dev = (published.select(part) for part in split_fractions(len(published), (0.8, 0.2), seed=None))
    return train, dev, test


def _prosody_sequences(data: bytes, name: str) -> Sequences:
    """Words with their prominence; punctuation (NA) is left out.

    Boundary and the two real values were computed from the speech together with the labels: they are targets, not
    observations, and are left out too.
    """
    words: list[list[str]] = []
    prominences: list[list[str]] = []
    for line in read_text(data, name=name).split("\n"):
        word, _, rest = line.partition("\t")
        prominence = rest.partition("\t")[0]
        if word == "<file>":
            words.append([])
            prominences.append([])
        elif prominence in ("0", "1", "2"):
            words[-1].append(word)
            prominences[-1].append(prominence)
    words, prominences = list(filter(None, words)), list(filter(None, prominences))
    labels = [["N" if value == "0" else "A" for value in values] for values in prominences]
    return Sequences.from_lists(words, labels, {"prominence": prominences})


def parse_ud_english_ewt(files: Files) -> Parts:
    names = [f"en_ewt-ud-{part}.conllu" for part in ("train", "dev", "test")]
    return tuple(read_conllu(files[f"ud_english_ewt/{name}"], name=name) for name in names)


def parse_wnut17(files: Files) -> Parts:
    names = ("wnut17train.conll", "emerging.dev.conll", "emerging.test.annotated")
    return tuple(read_conll(files[f"wnut17/{name}"], separator="\t", name=name) for name in names)


def ocr_fault(data: bytes) -> str | None:
    """What is wrong with the shape of letter.data, of which no checksum is published."""
    try:
        lines = _ocr_lines(data)
    except ValueError:
        return "it cannot be unpacked"
    n_words = sum(line.split("\t", 3)[2] == "-1" for line in lines if line.count("\t") >= _OCR_FIELDS)
    if len(lines) != OCR_LETTERS or n_words != OCR_WORDS:
        return f"it has {len(lines)} letters in {n_words} words, expected {OCR_LETTERS} in {OCR_WORDS}"
    if any(line.count("\t") != _OCR_FIELDS + OCR_PIXELS - 1 for line in lines):
        return f"not every line has {_OCR_FIELDS + OCR_PIXELS} columns"
    return None if _ocr_pixels(lines) is not None else "it has pixels other than 0 and 1"


def parse_ocr_letters(files: Files) -> Parts:
    """Words of letters, each 128 pixels in columns p0 .. p127. Fold 0 is test, fold 1 dev, the rest train."""
    lines = _ocr_lines(files["ocr_letters/letter.data.gz"])
    fields = [line.split("\t", _OCR_FIELDS) for line in lines]
    ends = [position + 1 for position, row in enumerate(fields) if row[2] == "-1"]
    offsets = np.array([0, *ends])
    fold = np.array([float(row[5]) for row in fields])
    pixels = np.ascontiguousarray(_ocr_pixels(lines).T, dtype=np.float64)
    columns = {f"p{place}": pixels[place] for place in range(OCR_PIXELS)} | {"fold": fold}
    letters = Sequences(["glyph"] * len(lines), offsets, [row[1] for row in fields], columns)
    fold_of_word = fold[offsets[:-1]]
    return tuple(
        letters.select(np.flatnonzero(chosen)) for chosen in (fold_of_word > 1, fold_of_word == 1, fold_of_word == 0)
    )


def _ocr_lines(data: bytes) -> list[str]:
    text = read_bytes(data, "letter.data.gz").decode("ascii")
    return [line.rstrip("\t\r") for line in text.split("\n") if line]


def _ocr_pixels(lines: list[str]) -> np.ndarray | None:
    """Pixels (letter, place), each one character at a fixed distance from the end; None where one is not 0 or 1."""
    pixels = "".join([line[-(2 * OCR_PIXELS - 1) :: 2] for line in lines])
    if len(pixels) != len(lines) * OCR_PIXELS or not set(pixels) <= {"0", "1"}:
        return None
    return np.frombuffer(pixels.encode(), dtype=np.uint8).reshape(-1, OCR_PIXELS) - ord("0")


def parse_cb513(files: Files) -> Parts:
    """Chains of residues, cut 80/10/10 in file order: copies of a chain stand side by side, and none is torn apart."""
    rows = list(csv.DictReader(io.StringIO(read_text(files["cb513/CB513.csv"], name="CB513.csv"))))
    chains = Sequences.from_lists([row["input"] for row in rows], [row["dssp3"] for row in rows])
    return tuple(chains.select(part) for part in split_fractions(len(rows), (0.8, 0.1, 0.1), seed=None))


def _archive(files: Files, path: str) -> zipfile.ZipFile:
    return zipfile.ZipFile(io.BytesIO(files[path]))
