"""Text that comes from data or from visitors, where it has to stay text: seen, short, and no markup to what draws it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

LETTERS_SHOWN = 60
_CHART_LETTERS = 40
# What nobody sees or what turns a line around: control characters, marks of direction, blanks without width. Joiners are
# left alone: emoji and some scripts are written with them.
_UNSEEN = re.compile("[\0-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]")
# Signs of Markdown, beginnings of formulas, colours and lists, and what would become a link.
_SIGNS = re.compile(r"[\\`*\[\]<>#|$~@]|(?<!\w)_|_(?!\w)|:(?=[\w/])|(?<=www)\.|^(?=[-+=])")
_SHORTCODE = re.compile(r":(?=[^\s:]+:)")  # of an icon or an emoji, which a backslash does not stop
_NO_BREAK = "\u2060"  # has no width


def visible(text: str) -> str:
    """The text with its numbers in place of characters that nobody would see, or that would turn the line around."""
    return _UNSEEN.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text)


def shortened(text: str, letters: int = LETTERS_SHOWN) -> str:
    """A word that does not fill the page by itself, all of it to be seen."""
    seen = visible(text[: letters + 1])
    return seen if len(seen) <= letters else f"{seen[:letters]}… ({len(text):,} letters)"


def in_html(text: str) -> str:
    """A word or a label as HTML; its direction is its own."""
    return f"<bdi>{escape(shortened(text))}</bdi>"


def in_chart(text: str, letters: int = _CHART_LETTERS) -> str:
    """For plotly, which takes tags and templates: cut, and neither."""
    seen = visible(text[: letters + 1])
    cut = seen if len(seen) <= letters else f"{seen[: letters - 1]}…"
    return escape(cut, quote=False).replace("%{", "%&#123;")


def names_in_chart(texts: Iterable[str], letters: int = _CHART_LETTERS) -> list[str]:
    """Names along an axis: those that are cut to the same beginning are numbered, since an axis tells places by names."""
    names: dict[str, None] = {}
    for text in texts:
        name = in_chart(text, letters)
        number = 2
        while name in names:
            name, number = f"{in_chart(text, letters)} ({number})", number + 1
        names[name] = None
    return list(names)


def sentence(reason: str) -> str:
    """A reason that a file gives, such as that of a model for its end, as Markdown that begins a sentence."""
    return in_markdown(reason[:1].upper() + reason[1:])


def in_markdown(text: str) -> str:
    """For Markdown as Streamlit knows it, with formulas, colours and icons: none of them."""
    return _SIGNS.sub(r"\\\g<0>", _SHORTCODE.sub(f":{_NO_BREAK}", visible(text)))
