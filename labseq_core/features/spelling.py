"""Spelling attributes of words: Tables B.2 and B.3 of the thesis, for many words at once.

All of Table B.2 but the word itself follows from the word's look: the class of its first letter, its last letter, and what
kinds of letters it has. Looks are few, so they are found as numbers by array code and spelled out as names once each.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

# Table B.2: single properties, and pairs of properties.
PROPERTIES = ("sent_ini", "all_caps", "cap_ini", "contains_digit", "contains_dot", "contains_hyphen", "dot_end")
SINGLE = ("sent_ini", "all_caps", "cap_ini", "contains_digit", "dot_end")
PAIRS = (
    ("cap_ini", "sent_ini"),
    ("cap_ini", "dot_end"),
    ("cap_ini", "contains_dot"),
    ("cap_ini", "contains_hyphen"),
    ("cap_ini", "contains_digit"),
    ("contains_dot", "contains_digit"),
    ("contains_dot", "contains_hyphen"),
    ("contains_digit", "contains_hyphen"),
)
# Table B.3: what POS tagging adds.
ENDINGS = ("ing", "ed", "en", "ly", "er", "est", "th")
BEGINNINGS = ("wh",)

# A look is a number: LAST_AT and above the last letter's code point, below it these bits and the class of the first letter.
ALL_CAPS, DIGIT, DOT, HYPHEN = 4, 8, 16, 32
LAST_AT = 6
NO_LETTER = 0x110000  # stands for the last letter of an empty word
LETTER_CLASSES = ("upper", "lower", "digit", "other")
# Bits of letters: a word is all capitals if it has a capital and nothing that is not, such as a small letter.
_CAPITAL, _NOT_CAPITAL = 1, 2


def looks_of(words: list[str]) -> np.ndarray:
    """The look of each word, int64."""
    lengths = np.fromiter(map(len, words), np.int64, len(words))
    looks = np.full(len(words), NO_LETTER << LAST_AT | LETTER_CLASSES.index("other"))
    some = np.flatnonzero(lengths)
    if some.size == 0:
        return looks
    letters = np.frombuffer("".join(words).encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.int64)
    classes, bits = _kinds_of(letters)
    ends = np.cumsum(lengths)[some]
    begins = ends - lengths[some]
    found = np.bitwise_or.reduceat(bits[letters], begins)  # empty words are left out: they have no bounds of their own
    all_caps = (found & (_CAPITAL | _NOT_CAPITAL)) == _CAPITAL
    properties = (found & (DIGIT | DOT | HYPHEN)) | np.where(all_caps, ALL_CAPS, 0)
    looks[some] = letters[ends - 1] << LAST_AT | properties | classes[letters[begins]]
    return looks


def _kinds_of(letters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """By code point: the letter's class, and its bits; only for the code points that occur."""
    classes, bits = np.zeros((2, int(letters.max()) + 1), dtype=np.uint8)
    classes[letters] = 1
    for point in np.flatnonzero(classes).tolist():
        letter = chr(point)
        classes[point] = LETTER_CLASSES.index(_letter_class(letter))
        bits[point] = (
            _CAPITAL * letter.isupper()
            | _NOT_CAPITAL * (not f"A{letter}".isupper())
            | DIGIT * letter.isdigit()
            | DOT * (letter == ".")
            | HYPHEN * (letter == "-")
        )
    return classes, bits


def _letter_class(letter: str) -> str:
    if letter.isupper():
        return "upper"
    if letter.isalpha():
        return "lower"
    return "digit" if letter.isdigit() else "other"


@lru_cache(maxsize=10_000)
def look_attributes(look: int, sentence_initial: bool, joint: bool) -> tuple[str, ...]:
    """Table B.2 without the word itself.

    A pair is present where both properties hold; with `joint` it is a code of both, present always, as Table 3.3 of the
    thesis reads: "cap_ini+dot_end=10".
    """
    first = LETTER_CLASSES[look & 3]
    last = "" if look >> LAST_AT == NO_LETTER else chr(look >> LAST_AT)
    bits = (look & bit > 0 for bit in (DIGIT, DOT, HYPHEN))
    holds = dict(zip(PROPERTIES, (sentence_initial, look & ALL_CAPS > 0, first == "upper", *bits, last == ".")))
    single = (f"first={first}", f"last={last}", *(name for name in SINGLE if holds[name]))
    if joint:
        return (*single, *(f"{a}+{b}={holds[a]:d}{holds[b]:d}" for a, b in PAIRS))
    return (*single, *(f"{a}+{b}" for a, b in PAIRS if holds[a] and holds[b]))


def affix_attributes(word: str) -> tuple[str, ...]:
    """Table B.3."""
    lower = word.lower()
    if not lower.endswith(ENDINGS) and not lower.startswith(BEGINNINGS):
        return ()
    endings = (f"ends_with={ending}" for ending in ENDINGS if lower.endswith(ending))
    return (*endings, *(f"begins_with={beginning}" for beginning in BEGINNINGS if lower.startswith(beginning)))
