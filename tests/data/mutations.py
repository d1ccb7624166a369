"""Sound little files of every format, and what strangers make of them: bytes flipped, cut, doubled, swapped, packed."""

from __future__ import annotations

import gzip
import json
from random import Random

ROWS = [("Ana", "N", "0.5", "B-PER"), ("-5", "Q", "-1e3", "O"), ("=1+2", "X", "NA", "O"), ("año水", "N", "7", "I-PER")]
SENTENCES = [ROWS, ROWS[1:], ROWS[:2], ROWS[::-1]]


def _conll(separator: str) -> bytes:
    return "\n\n".join("\n".join(separator.join(row) for row in rows) for rows in SENTENCES).encode()


def _conllu() -> bytes:
    def line(number: int, row: tuple) -> str:
        return "\t".join([str(number), row[0], "_", row[1], "_", "_", "0", "root", "_", "_"])

    texts = [
        "# text\n1-2\tan\t" + "\t".join("_" * 8) + "\n" + "\n".join(map(line, range(1, 9), rows)) for rows in SENTENCES
    ]
    return "\n\n".join(texts).encode() + b"\n"


def _table(delimiter: str) -> bytes:
    lines = [
        delimiter.join([str(number), *(f'"{cell}"' for cell in row)])
        for number, rows in enumerate(SENTENCES)
        for row in rows
    ]
    return "\n".join([delimiter.join(["sequence", "token", "pos", "weight", "label"]), *lines]).encode()


def _jsonl() -> bytes:
    def record(rows: list[tuple]) -> dict:
        tokens, pos, _, labels = map(list, zip(*rows))
        return {"tokens": tokens, "labels": labels, "pos": pos, "weight": [1.5] * len(rows), "source": "none"}

    return "\n".join(json.dumps(record(rows), ensure_ascii=False) for rows in SENTENCES).encode()


SOUND = {
    "a.conll": _conll(" "), "b.txt": _conll("\t"), "c.conllu": _conllu(), "d.csv": _table(","), "e.tsv": _table("\t"),
    "f.jsonl": _jsonl(),
}  # fmt: skip
# Bytes that mean something to one of the readers, and such that no encoding has.
ODD = [
    b"\0", b"\n", b"\r", b"\r\n", b"\t", b" ", b'"', b'""', b"'", b",", b";", b"{", b"}", b"[" * 300, b"]", b"\\u0000",
    b"\\ud800", b"\xff", b"\xfe\xff", b"\xef\xbb\xbf", b"\x1f\x8b", b"\xc3", "\u202e".encode(), "\u2028".encode(),
    b"-DOCSTART-", b"#", b"1e999", b"-1e308", b"9" * 5000, b"NaN", b"Infinity", b"null", b"nan", b"=cmd()", b"w" * 120_000,
    b"\n" * 5000, b" " * 3000,
]  # fmt: skip


def mutated(chance: Random) -> tuple[str, bytes]:
    """The name and the contents of one altered file; now and then it has another name, or is packed."""
    name, data = chance.choice(list(SOUND.items()))
    for _ in range(chance.choice([0, 1, 1, 2, 5, 20])):
        data = chance.choice(CHANGES)(data, chance)
    if chance.random() < 0.1:
        name = chance.choice(list(SOUND))
    if chance.random() < 0.15:
        name, data = f"{name}.gz", gzip.compress(data, mtime=0)
        if chance.random() < 0.5:
            data = chance.choice(CHANGES)(data, chance)
    return name, data


def _flip(data: bytes, chance: Random) -> bytes:
    place = chance.randrange(len(data) + 1)
    return data[:place] + bytes([chance.randrange(256)]) + data[place + 1 :]


def _cut(data: bytes, chance: Random) -> bytes:
    begin, end = sorted(chance.randrange(len(data) + 1) for _ in range(2))
    return data[begin:end] if chance.random() < 0.2 else data[:begin] + data[end:]


def _double(data: bytes, chance: Random) -> bytes:
    begin, end = sorted(chance.randrange(len(data) + 1) for _ in range(2))
    return data[:end] + data[begin:end] * chance.choice([1, 1, 3, 50]) + data[end:] if len(data) < 20_000 else data


def _insert(data: bytes, chance: Random) -> bytes:
    place = chance.randrange(len(data) + 1)
    return data[:place] + chance.choice(ODD) + data[place:]


def _swap_lines(data: bytes, chance: Random) -> bytes:
    lines = data.split(b"\n")
    chance.shuffle(lines)
    return b"\n".join(lines)


def _recode(data: bytes, chance: Random) -> bytes:
    return data.decode("utf-8", "replace").encode(
        chance.choice(["utf-16", "latin-1", "utf-32-le", "utf-8-sig"]), "replace"
    )


CHANGES = [_flip, _flip, _cut, _double, _insert, _insert, _swap_lines, _recode]
