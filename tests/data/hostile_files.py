"""Files that want to take all the time or memory of a server, each of about a given size, with what must come of them."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from dataclasses import dataclass

READS = ""  # it can be read


@dataclass(frozen=True)
class Hostile:
    make: Callable[[int], bytes]  # of bytes
    outcome: str  # a part of the error, or that there is none


def many(line: bytes, size: int) -> bytes:
    return line * (size // len(line))


def numbered(line: bytes, size: int) -> bytes:
    """Lines with a number each."""
    return b"".join(line % number for number in range(size // (len(line) + 5)))


THREE = b"a O\n\nb O\n\nc O\n"
WORD = b"1\ta\t_\tX\t_\t_\t_\t_\t_\t_\n\n"
RECORD = b'{"tokens": ["a"], "labels": ["O"], '

HOSTILE = {
    "short-lines.conll": Hostile(lambda size: many(b"a O\n" * 7 + b"\n", size), READS),
    "short-sequences.conll": Hostile(lambda size: many(b"a O\n\n", size), READS),
    "one-sequence.conll": Hostile(lambda size: THREE + b"\n" + numbered(b"w%d O\n", size), READS),
    "many-columns.conll": Hostile(lambda size: 3 * (b"a " * (size // 6) + b"O\n\n"), "characters|columns"),
    "60000-columns.conll": Hostile(lambda size: many(b"a " * 60_000 + b"O\n\n", size), "60,001 columns, more than 2,000"),
    "200-columns.conll": Hostile(lambda size: many(b"a1 " * 200 + b"O\n\n", size), READS),
    "long-token.conll": Hostile(lambda size: THREE + b"\n" + b"a" * size + b" O\n", "line 7: the line has"),
    "long-blank.conll": Hostile(lambda size: THREE + b"\na" + b" " * size + b" O\n", "line 7: the line has"),
    "blank-lines.conll": Hostile(lambda size: THREE + b"\n" * size, READS),
    "lines-of-blanks.conll": Hostile(lambda size: THREE + many(b" \t\n", size), READS),
    "many-labels.conll": Hostile(lambda size: numbered(b"a L%d\n\n", size), "line 4001: .*distinct labels"),
    "many-tokens.conll": Hostile(lambda size: numbered(b"w%d O\n\n", size), READS),
    "long-numbers.conll": Hostile(lambda size: many(b"a " + b"9" * 90_000 + b"x O\n\n", size), READS),
    "exponents.conll": Hostile(lambda size: numbered(b"a 1e%d O\n\n", size), READS),
    "document-starts.conll": Hostile(lambda size: many(b"-DOCSTART- O\n", size) + THREE, READS),
    "no-line-feed.conll": Hostile(lambda size: many(b"a O\r", size), "CR only"),
    "binary.conll": Hostile(lambda size: random.Random(0).randbytes(size), "a NUL byte|not UTF-8"),
    "comments.conllu": Hostile(lambda size: many(b"# x\n", size) + 3 * WORD, READS),
    "short.conllu": Hostile(lambda size: many(WORD, size), READS),
    "long-id.conllu": Hostile(lambda size: b"1" * 900_000 + b"-x" + WORD[1:], "the id '111"),
    "short.csv": Hostile(lambda size: b"token,label\n" + many(b"a,O\n\n", size), READS),
    "many-columns.csv": Hostile(
        lambda size: b"token,label" + numbered(b",c%d", 600_000) + b"\n" + many(b"a,O" + b",x" * 9 + b"\n", size),
        "line 1: .* columns, more than 2,000",
    ),
    "open-quote.csv": Hostile(lambda size: b'token,label\n"' + many(b"a,O\n\n", size), "line 2: a quoted cell goes on"),
    "quotes.csv": Hostile(lambda size: b"token,label\n" + many(b'"""",O\n\n', size), READS),
    "quotes-in-one-cell.csv": Hostile(
        lambda size: b'token,label\n"' + b'""' * 200_000 + b'",O\n', "line 2: a cell has too many characters"
    ),
    "blank-rows.csv": Hostile(lambda size: b"token,label\na,O\n\nb,O\n\nc,O\n" + many(b",\n", size), READS),
    "sequence-numbers.csv": Hostile(lambda size: b"sequence,token,label\n" + numbered(b"%d,a,O\n", size), READS),
    "nested.jsonl": Hostile(lambda size: b'{"tokens": ' + b"[" * 1_000_000 + b"\n", "line 1: not valid JSON"),
    "lists-in-lists.jsonl": Hostile(lambda size: RECORD + b'"x": ' + b"[" * 400 + b"]" * 400 + b"}\n", "lists inside"),
    "long-number.jsonl": Hostile(lambda size: RECORD + b'"x": [' + b"9" * 1_000_000 + b"]}\n", "too long a number"),
    "many-lists.jsonl": Hostile(
        lambda size: RECORD + json.dumps({f"k{number}": [1] for number in range(5000)}).encode()[1:] + b"\n",
        "line 1: 5,002 columns, more than 2,000",
    ),
    "long-line.jsonl": Hostile(lambda size: RECORD + b'"x": "' + b"x" * (11 << 20) + b'"}\n', "line 1: the line has"),
    "short.jsonl": Hostile(lambda size: many(RECORD + b'"x": [0.1]}\n', size), READS),
    "escapes.jsonl": Hostile(lambda size: b'{"tokens": ["' + b"\\u0041" * 200_000 + b'"]}\n', "200,000 characters"),
    "bomb.conll.gz": Hostile(lambda size: gzip.compress(many(b"a O\n\n", 60 << 20), 1), "unpacks to more than 50 MB"),
    "zeros.conll.gz": Hostile(lambda size: gzip.compress(bytes(60 << 20), 1), "unpacks to more than 50 MB"),
    "members.conll.gz": Hostile(lambda size: many(gzip.compress(b""), size), "the file is empty"),
}  # fmt: skip
