"""Short names of variants beside one another: what they share need not be said."""

from __future__ import annotations

from collections.abc import Sequence

from labseq_core.experiments import MethodChoice
from labseq_core.experiments.plan.variant import shown_value
from labseq_core.learners.registry import find_method, method_options


def short_names(choices: Sequence[MethodChoice]) -> dict[str, str]:
    """By label: "loose", "tight" and "exact" for three models of one method that differ in their bound only."""
    said = {
        choice.label: _differences(choice, [other for other in choices if other.method == choice.method])
        for choice in choices
    }
    titles = {choice.label: find_method(choice.method).title for choice in choices}
    if len(set(titles.values())) == 1 and all(said.values()):
        return said
    return {label: f"{title} ({said[label]})" if said[label] else title for label, title in titles.items()}


def _differences(choice: MethodChoice, alike: list[MethodChoice]) -> str:
    """In what these differ: values of options, then what else makes a variant; nothing for what is as usual."""
    words = []
    for name, option in method_options(choice.method).items():
        usual = option.plain(option.default)
        if name not in choice.tried and len({other.options.get(name, usual) for other in alike}) > 1:
            shown = shown_value(choice.options.get(name, usual))
            speaks_for_itself = option.kind == "kernel" or (option.kind == "choice" and None not in option.choices)
            words.append(shown if speaks_for_itself else f"{name}={shown}")
    own, others = _further(choice), [_further(other) for other in alike]
    words += [said for name, said in own.items() if said and len({other.get(name) for other in others}) > 1]
    return ", ".join(words)


def _further(choice: MethodChoice) -> dict[str, str]:
    """What makes a variant beside its options, in words."""
    searched = "; ".join(f"{name} of {', '.join(map(shown_value, values))}" for name, values in choice.tried.items())
    return {
        "search": "tuned" if isinstance(choice.search, str) else searched,
        "decode": choice.decoding,
        "features": choice.features.label if choice.features else "",
        **{name: f"{name}={shown_value(value)}" for name, value in choice.conditions.items()},
    }
