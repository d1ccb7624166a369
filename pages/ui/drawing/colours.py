"""One look per method and per label. Colour never stands alone: methods differ in pattern and marker, labels in text."""

from __future__ import annotations

import re
from dataclasses import dataclass

from labseq_core.serving.settings import COLOURS

_PATTERNS = ("", "/", ".", "x", "-", "\\", "+", "|")
_MARKERS = ("circle", "square", "diamond", "triangle-up", "x", "triangle-down", "cross", "star")
# The last two are patterns of their own: strokes and gaps.
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot", "2px,8px", "12px,3px,2px,3px,2px,3px")
_BORDERS = ("solid", "dashed", "dotted", "double")
_TEXT_ON = {"#0072B2": "#FFFFFF"}  # where white reads better than black
_SEGMENT_LABEL = re.compile(r"([BIESLUM])-(.+)")
OUTSIDE = "O"


@dataclass(frozen=True)
class Look:
    """How one method appears in every chart."""

    colour: str
    text: str  # on the colour
    pattern: str
    marker: str
    dash: str


def look(place: int) -> Look:
    """The look of the method at this place of a run."""
    number = place % len(COLOURS)
    colour = COLOURS[number]
    return Look(colour, _TEXT_ON.get(colour, "#000000"), _PATTERNS[number], _MARKERS[number], _DASHES[number])


def kind_of(label: str) -> str:
    """What a label is about: PER for B-PER and I-PER, the label itself elsewhere."""
    match = _SEGMENT_LABEL.fullmatch(label)
    return match[2] if match else label


def label_styles(labels: list[str]) -> dict[str, str]:
    """CSS of each label's chip. Labels of one kind share a colour; with many kinds the underline differs too."""
    kinds = sorted({kind_of(label) for label in labels} - {OUTSIDE})
    places = {kind: place for place, kind in enumerate(kinds)}
    styles = {}
    for label in labels:
        if label == OUTSIDE:
            styles[label] = "border-bottom:3px solid transparent"
            continue
        place = places[kind_of(label)]
        colour, border = COLOURS[place % len(COLOURS)], _BORDERS[place // len(COLOURS) % len(_BORDERS)]
        # A tint lets the text keep the colour of the theme, so it reads on light and on dark ground.
        styles[label] = f"background:{colour}30;border-bottom:3px {border} {colour}"
    return styles
