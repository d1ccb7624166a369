"""Spelling attributes of one word: Tables B.2 and B.3 of the thesis."""

from __future__ import annotations

from functools import lru_cache

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


def spelling_attributes(word: str, sentence_initial: bool, joint: bool) -> tuple[str, ...]:
    """Table B.2 without the word itself; words that look alike share one tuple.

    A pair is present where both properties hold; with `joint` it is a code of both, present always, as Table 3.3 of the
    thesis reads: "cap_ini+dot_end=10".
    """
    first, last = word[:1], word[-1:]
    digit = not word.isalpha() and any(map(str.isdigit, word))
    properties = (sentence_initial, word.isupper(), first.isupper(), digit, "." in word, "-" in word, last == ".")
    return _look_attributes(_letter_class(first), last, properties, joint)


@lru_cache(maxsize=10_000)
def _look_attributes(first_class: str, last: str, properties: tuple[bool, ...], joint: bool) -> tuple[str, ...]:
    """The attributes of all words of one look; `properties` says which of PROPERTIES hold."""
    holds = dict(zip(PROPERTIES, properties))
    single = (f"first={first_class}", f"last={last}", *(name for name in SINGLE if holds[name]))
    if joint:
        return (*single, *(f"{a}+{b}={holds[a]:d}{holds[b]:d}" for a, b in PAIRS))
    return (*single, *(f"{a}+{b}" for a, b in PAIRS if holds[a] and holds[b]))


def affix_attributes(word: str) -> tuple[str, ...]:
    """Table B.3."""
    lower = word.lower()
    endings = (f"ends_with={ending}" for ending in ENDINGS if lower.endswith(ending))
    return (*endings, *(f"begins_with={beginning}" for beginning in BEGINNINGS if lower.startswith(beginning)))


def _letter_class(letter: str) -> str:
    if letter.isupper():
        return "upper"
    if letter.isalpha():
        return "lower"
    return "digit" if letter.isdigit() else "other"
