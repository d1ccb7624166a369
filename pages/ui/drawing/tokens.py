"""Sentences with coloured labels, as HTML for style.css. Labels are always written out; all that comes from data is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import islice
from math import floor

from pages.ui.drawing.colours import OUTSIDE, label_styles
from pages.ui.drawing.plain_text import in_html, shortened

# A browser freezes over very long sentences and over files whose words were taken for labels.
TOKENS_SHOWN = 200
LABELS_SHOWN = 60
_HERE = ' class="ls-here" aria-current="true"'


def legend(label_counts: dict[str, int], all_labels: list[str]) -> str:
    """Every label that occurs with its colour and how often it does."""
    styles = label_styles(all_labels)
    chips = "".join(
        f'<span style="{styles[label]}">{in_html(label)} <small>{count:,}</small></span>'
        for label, count in islice(label_counts.items(), LABELS_SHOWN)
    )
    chips += _more(len(label_counts) - LABELS_SHOWN, "labels")
    return f'<div class="ls-legend">{chips}</div>'


def sentences(
    tokens: Iterable[Sequence[str]], labels: Iterable[Sequence[str]], all_labels: list[str], first_number: int = 1
) -> str:
    """One line per sentence, the label beneath each token."""
    styles = label_styles(all_labels)
    lines = []
    for number, (words, given) in enumerate(zip(tokens, labels), start=first_number):
        pairs = islice(zip(words, given), TOKENS_SHOWN)
        chips = "".join(_chip(word, label, styles[label]) for word, label in pairs)
        chips += _more(len(words) - TOKENS_SHOWN, "tokens")
        lines.append(
            f'<div class="ls-sentence"><span class="ls-number">{number}</span><div class="ls-words">{chips}</div></div>'
        )
    return "".join(lines)


def _more(number: int, what: str) -> str:
    return f"<span>… and {number:,} more {what}</span>" if number > 0 else ""


def _chip(word: str, label: str, style: str) -> str:
    shown = "&nbsp;" if label == OUTSIDE else escape(shortened(label))
    return f'<span class="ls-token" style="{style}"><span>{escape(shortened(word))}</span><small>{shown}</small></span>'


def labellings(
    tokens: Sequence[str],
    truth: Sequence[str] | None,
    predictions: Mapping[str, Sequence[str]],
    all_labels: list[str],
    notes: Mapping[str, Sequence[str]] | None = None,
    here: int | None = None,
) -> str:
    """A sentence with the true labels and, under one another, those of each method; wrong ones are framed and crossed.

    truth: None where nobody knows it. `all_labels`: those of the whole run, so that a label has the same colour in every
    sentence. notes: by method, a few words under each label. here: the position to point at.
    """
    styles = label_styles(all_labels)
    rows = [] if truth is None else [_row("truth", [_cell(label, styles[label]) for label in truth[:TOKENS_SHOWN]])]
    for name, given in predictions.items():
        wrong = [False] * len(given) if truth is None else [a != b for a, b in zip(given, truth)]
        under = notes[name] if notes and name in notes else [""] * len(given)
        cells = zip(given[:TOKENS_SHOWN], wrong, under)
        rows.append(_row(name, [_cell(label, styles[label], "✗ " if bad else "", note) for label, bad, note in cells]))
    return _under(tokens, rows, "Labels of one sentence", here)


def changes(
    tokens: Sequence[str],
    before: Mapping[str, Sequence[str]],
    after: Mapping[str, Sequence[str]],
    all_labels: list[str],
    notes: Mapping[str, Sequence[str]],
    here: int,
) -> str:
    """A sentence with labels of several methods; those that were others before are framed and have an arrow."""
    styles, rows = label_styles(all_labels), []
    for name, given in after.items():
        cells = islice(zip(given, before[name], notes[name]), TOKENS_SHOWN)
        rows.append(_row(name, [_cell(new, styles[new], "" if new == old else "→ ", note) for new, old, note in cells]))
    return _under(tokens, rows, "Labels after one was forced", here)


def _under(tokens: Sequence[str], rows: Iterable[str], what: str, here: int | None = None) -> str:
    """A table with a column for each word; the first column stays when the rest scrolls."""
    left_out = len(tokens) - TOKENS_SHOWN
    head = "".join(
        f'<th scope="col"{_HERE if place == here else ""}>{in_html(word)}</th>'
        for place, word in enumerate(tokens[:TOKENS_SHOWN])
    )
    return (
        f'<div class="ls-scroll" role="region" tabindex="0" aria-label="{what}">'
        f'<table class="ls-under"><thead><tr><th scope="row">sentence</th>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>{_more(left_out, 'tokens')}"
    )


def _row(name: str, cells: Iterable[str]) -> str:
    return f'<tr><th scope="row">{escape(name)}</th>{"".join(cells)}</tr>'


def _cell(label: str, style: str, mark: str = "", note: str = "") -> str:
    framed = ' class="ls-wrong"' if mark else ""
    under = f"<small>{escape(note)}</small>" if note else ""
    return f'<td{framed} style="{style}">{mark}{escape(shortened(label))}{under}</td>'


def rivals(tokens: Sequence[str], rows: Sequence[dict], all_labels: list[str]) -> str:
    """A sentence with its true labels and, under one another, its rivals: α, and the labels that differ from the truth.

    rows: dicts with `alpha` and `labels`, the true labelling first; None stands for a label as in the truth.
    """
    names = ["truth", *(f"α\u00a0=\u00a0{row['alpha']:.3g}" for row in rows[1:])]
    return differing(tokens, names, [row["labels"] for row in rows], all_labels, "Support sequences of one sentence")


def differing(
    tokens: Sequence[str],
    names: Sequence[str],
    labellings: Sequence[Sequence[str | None]],
    all_labels: list[str],
    what: str,
) -> str:
    """A sentence with several labellings under one another; None stands for a label as in the first, and is a dot."""
    styles, rows = label_styles(all_labels), []
    for name, labels in zip(names, labellings):
        given = islice(labels, TOKENS_SHOWN)
        rows.append(_row(name, ["<td>·</td>" if label is None else _cell(label, styles[label]) for label in given]))
    return _under(tokens, rows, what)


def withheld(
    numbers: Sequence[int],
    tokens: Sequence[Sequence[str]],
    truth: Sequence[Sequence[str]],
    predicted: Sequence[Sequence[str]],
    confidence: Sequence[Sequence[float]],
    threshold: float,
    probability: bool,
    all_labels: list[str],
) -> str:
    """Sentences with the label that a model gives each token. Tokens below the threshold are framed by dashes and have a
    question mark, how sure the model is, and the truth; wrong labels have a cross.

    probability: confidences are probabilities; otherwise they are score gaps, and said to be.
    """
    styles, lines = label_styles(all_labels), []
    for number, *columns in zip(numbers, tokens, truth, predicted, confidence):
        chips = "".join(
            _unsure(*cell[:3], _confidence(cell[3], probability), styles[cell[2]])
            if cell[3] < threshold
            else _sure(*cell[:3], styles[cell[2]])
            for cell in islice(zip(*columns), TOKENS_SHOWN)
        )
        chips += _more(len(columns[0]) - TOKENS_SHOWN, "tokens")
        lines.append(
            f'<div class="ls-sentence"><span class="ls-number">{number}</span><div class="ls-words">{chips}</div></div>'
        )
    return "".join(lines)


def _confidence(value: float, probability: bool) -> str:
    # Rounded down, so that what is below a threshold never looks as if it were not.
    return f"{floor(100 * value) / 100:.2f}" if probability else f"gap {value:.3g}"


def _unsure(word: str, true: str, label: str, confidence: str, style: str) -> str:
    cross = "" if true == label else "✗ "
    return (
        f'<span class="ls-token ls-withheld" style="{style}"><span>? {in_html(word)}</span>'
        f"<small>{cross}{in_html(label)} {confidence}</small><small>truth {in_html(true)}</small></span>"
    )


def _sure(word: str, true: str, label: str, style: str) -> str:
    shown = "&nbsp;" if true == label == OUTSIDE else in_html(label)
    if true != label:
        shown = f"✗ {shown}</small><small>truth {in_html(true)}"
    return f'<span class="ls-token" style="{style}"><span>{escape(shortened(word))}</span><small>{shown}</small></span>'
