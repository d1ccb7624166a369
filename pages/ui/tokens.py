"""Sentences with coloured labels, as HTML for style.css. Labels are always written out; all that comes from data is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import islice
from math import floor

from pages.ui.colours import OUTSIDE, label_styles

# A browser freezes over very long sentences and over files whose words were taken for labels.
TOKENS_SHOWN = 200
LABELS_SHOWN = 60


def legend(label_counts: dict[str, int], all_labels: list[str]) -> str:
    """Every label that occurs with its colour and how often it does."""
    styles = label_styles(all_labels)
    chips = "".join(
        f'<span style="{styles[label]}">{escape(label)} <small>{count:,}</small></span>'
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
    shown = "&nbsp;" if label == OUTSIDE else escape(label)
    return f'<span class="ls-token" style="{style}"><span>{escape(word)}</span><small>{shown}</small></span>'


def labellings(
    tokens: Sequence[str], truth: Sequence[str], predictions: dict[str, Sequence[str]], all_labels: list[str]
) -> str:
    """A sentence with the true labels and, under one another, those of each method; wrong ones are framed and crossed.

    `all_labels`: those of the whole run, so that a label has the same colour in every sentence.
    """
    styles = label_styles(all_labels)
    tokens, left_out = tokens[:TOKENS_SHOWN], len(tokens) - TOKENS_SHOWN
    head = "".join(f'<th scope="col">{escape(word)}</th>' for word in tokens)
    rows = [_row("truth", truth, truth, styles)]
    rows += [_row(name, given, truth, styles) for name, given in predictions.items()]
    return (
        f'<div class="ls-scroll" role="region" tabindex="0" aria-label="Labels of one sentence">'
        f'<table class="ls-under"><thead><tr><th scope="row">sentence</th>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>{_more(left_out, 'tokens')}"
    )


def _row(name: str, given: Sequence[str], truth: Sequence[str], styles: dict[str, str]) -> str:
    cells = "".join(
        _cell(label, label == true, styles[label]) for label, true in islice(zip(given, truth), TOKENS_SHOWN)
    )
    return f'<tr><th scope="row">{escape(name)}</th>{cells}</tr>'


def _cell(label: str, right: bool, style: str) -> str:
    mark = "" if right else ' class="ls-wrong"'
    return f'<td{mark} style="{style}">{"" if right else "✗ "}{escape(label)}</td>'


def rivals(tokens: Sequence[str], rows: Sequence[dict], all_labels: list[str]) -> str:
    """A sentence with its true labels and, under one another, its rivals: α, and the labels that differ from the truth.

    rows: dicts with `alpha` and `labels`, the true labelling first; None stands for a label as in the truth.
    """
    styles = label_styles(all_labels)
    tokens, left_out = tokens[:TOKENS_SHOWN], len(tokens) - TOKENS_SHOWN
    head = "".join(f'<th scope="col">{escape(word)}</th>' for word in tokens)
    lines = []
    for place, row in enumerate(rows):
        name = "truth" if place == 0 else f"α&nbsp;=&nbsp;{row['alpha']:.3g}"
        cells = "".join(
            "<td>·</td>" if label is None else f'<td style="{styles[label]}">{escape(label)}</td>'
            for label in islice(row["labels"], TOKENS_SHOWN)
        )
        lines.append(f'<tr><th scope="row">{name}</th>{cells}</tr>')
    return (
        f'<div class="ls-scroll" role="region" tabindex="0" aria-label="Support sequences of one sentence">'
        f'<table class="ls-under"><thead><tr><th scope="row">sentence</th>{head}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>{_more(left_out, 'tokens')}"
    )


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
        f'<span class="ls-token ls-withheld" style="{style}"><span>? {escape(word)}</span>'
        f"<small>{cross}{escape(label)} {confidence}</small><small>truth {escape(true)}</small></span>"
    )


def _sure(word: str, true: str, label: str, style: str) -> str:
    shown = "&nbsp;" if true == label == OUTSIDE else escape(label)
    if true != label:
        shown = f"✗ {shown}</small><small>truth {escape(true)}"
    return f'<span class="ls-token" style="{style}"><span>{escape(word)}</span><small>{shown}</small></span>'
