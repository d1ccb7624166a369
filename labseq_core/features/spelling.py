"""Spelling attributes of one word: Tables B.2 and B.3 of the thesis."""

from __future__ import annotations

# Table B.2: single properties, and pairs of properties.
SINGLE = ("all_caps", "cap_ini", "contains_digit", "dot_end")
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


def spelling_attributes(word: str, sentence_initial: bool, joint: bool) -> list[str]:
    """Table B.2 without the word itself.

    A pair is present where both properties hold; with `joint` it is a code of both, present always, as Table 3.3 of the
    thesis reads: "cap_ini+dot_end=10".
    """
    first = word[:1]
    holds = {
        "sent_ini": sentence_initial,
        "all_caps": word.isupper(),
        "cap_ini": first.isupper(),
        "contains_digit": any(map(str.isdigit, word)),
        "contains_dot": "." in word,
        "contains_hyphen": "-" in word,
        "dot_end": word.endswith("."),
    }
    attributes = [f"first={_letter_class(first)}", f"last={word[-1:]}"]
    if sentence_initial:
        attributes.append("sent_ini")
    attributes += [name for name in SINGLE if holds[name]]
    if joint:
        attributes += [f"{a}+{b}={holds[a]:d}{holds[b]:d}" for a, b in PAIRS]
    else:
        attributes += [f"{a}+{b}" for a, b in PAIRS if holds[a] and holds[b]]
    return attributes


def affix_attributes(word: str) -> list[str]:
    """Table B.3."""
    lower = word.lower()
    endings = [f"ends_with={ending}" for ending in ENDINGS if lower.endswith(ending)]
    return endings + [f"begins_with={beginning}" for beginning in BEGINNINGS if lower.startswith(beginning)]


def _letter_class(letter: str) -> str:
    if letter.isupper():
        return "upper"
    if letter.isalpha():
        return "lower"
    return "digit" if letter.isdigit() else "other"
