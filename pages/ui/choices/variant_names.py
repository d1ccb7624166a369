"""Names of variants beside one another: what they share, and what is usual, need not be said."""

from __future__ import annotations

from collections.abc import Sequence

from labseq_core.experiments import MethodChoice, RunResult
from labseq_core.experiments.plan.variant import TUNE, shown_value
from labseq_core.learners.options import Option
from labseq_core.learners.registry import find_method, method_options


def short_names(choices: Sequence[MethodChoice]) -> dict[str, str]:
    """By label: "loose", "tight" and "exact" for three models of one method that differ in their bound only."""
    said = {}
    for choice in choices:
        own = _aspects(choice, "=")
        beside = [_aspects(other, "=") for other in choices if other.method == choice.method]
        different = [own[name] for name in own if len({other[name] for other in beside}) > 1]
        said[choice.label] = ", ".join(filter(None, different))
    titles = {choice.label: find_method(choice.method).title for choice in choices}
    if len(set(titles.values())) == 1 and all(said.values()):
        return said
    return {label: f"{title} ({said[label]})" if said[label] else title for label, title in titles.items()}


def short_summary(run: RunResult) -> list[dict]:
    """The means of each variant of a run, by its short name."""
    names = short_names(run.config.methods)
    return [{**row, "label": names[row["label"]]} for row in run.summary()]


def card_name(choice: MethodChoice) -> str:
    """All that is not usual: "HM-SVM · poly:2 · C 1"."""
    own, usual = (_aspects(each, " ") for each in (choice, MethodChoice(choice.method)))
    return " · ".join(
        [find_method(choice.method).title, *(own[name] for name in own if own[name] not in ("", usual[name]))]
    )


def _aspects(choice: MethodChoice, sign: str) -> dict[str, str]:
    """Everything that a variant chooses, in words, by its name; nothing for what goes without saying. sign: between an option
    and its value.
    """
    own = {name: _option_words(choice, option, sign) for name, option in method_options(choice.method).items()}
    return own | {
        "search": "tuned" if choice.search == TUNE else "",
        "decode": choice.decoding,
        "features": choice.features.label if choice.features else "",
        "sequences": f"{choice.sequences} training sequences" if choice.sequences else "",
        "noise": f"label noise {shown_value(choice.noise)}" if choice.noise else "",
    }


def _option_words(choice: MethodChoice, option: Option, sign: str) -> str:
    listed = choice.search if isinstance(choice.search, dict) else {}
    if option.name in listed:
        return f"{option.name} of {', '.join(map(shown_value, listed[option.name]))}"
    if option.name in choice.tried:
        return ""
    value = shown_value(choice.options.get(option.name, option.plain(option.default)))
    speaks_for_itself = option.kind == "kernel" or (option.kind == "choice" and None not in option.choices)
    return value if speaks_for_itself else f"{option.name}{sign}{value}"
