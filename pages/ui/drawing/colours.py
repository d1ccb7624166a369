"""One look per method and per label. Colour never stands alone: methods differ in pattern and marker, labels in text."""

from __future__ import annotations

import re
from dataclasses import dataclass

from labseq_core.serving.palette import BACKGROUNDS, COLOURS

_PATTERNS = ("", "/", ".", "x", "-", "\\", "+", "|")
_MARKERS = ("circle", "square", "diamond", "triangle-up", "x", "triangle-down", "cross", "star")
# The last two are patterns of their own: strokes and gaps.
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot", "2px,8px", "12px,3px,2px,3px,2px,3px")
_NEXT_SHAPE = 3  # places that shapes move on with each turn of the colours
_BORDERS = ("solid", "dashed", "dotted", "double")
WHITE, BLACK = "#FFFFFF", "#000000"
GREY = "#8A94A0"  # for lines that must show on light and dark ground
_TEXT_ON = {COLOURS[0]: WHITE}  # where white reads better than black
_SEGMENT_LABEL = re.compile(r"([BIESLUM])-(.+)")
_LABEL_TINT, _TINT = "30", "40"  # how little of a colour covers the ground, in hexadecimal
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
    """The look of the variant at this place of a run. When all colours have been used they come again with other shapes: no
    two of the first 64 are the same.
    """
    number, turn = place % len(COLOURS), place // len(COLOURS)
    colour, shape = COLOURS[number], (number + _NEXT_SHAPE * turn) % len(COLOURS)
    return Look(colour, _TEXT_ON.get(colour, BLACK), _PATTERNS[shape], _MARKERS[shape], _DASHES[shape])


def style_variables() -> str:
    """CSS that gives the style sheet the colours of the theme and of the palette by name."""
    ground = f"light-dark({BACKGROUNDS['light']}, {BACKGROUNDS['dark']})"
    return f":root {{ --ls-ground: {ground}; --ls-speaks: {COLOURS[5]}; --ls-speaks-tint: {COLOURS[5]}{_TINT}; }}"


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
        styles[label] = f"background:{colour}{_LABEL_TINT};border-bottom:3px {border} {colour}"
    return styles
