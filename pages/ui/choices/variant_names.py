"""Short names of methods beside one another: what they share need not be said."""

from __future__ import annotations

from collections.abc import Sequence

from labseq_core.experiments import MethodChoice
from labseq_core.learners.registry import find_method, method_options


def short_names(choices: Sequence[MethodChoice]) -> dict[str, str]:
    """By label: "loose", "tight" and "exact" for three models of one method that differ in their bound only."""
    several = len({choice.method for choice in choices}) > 1
    names = {}
    for choice in choices:
        title = find_method(choice.method).title
        differences = _differences(choice, [other for other in choices if other.method == choice.method])
        names[choice.label] = f"{title} ({differences})" if several and differences else differences or title
    return names


def _differences(choice: MethodChoice, alike: list[MethodChoice]) -> str:
    """The values of the options in which these differ."""
    words = []
    for name, option in method_options(choice.method).items():
        usual = option.plain(option.default)
        if len({other.options.get(name, usual) for other in alike}) > 1:
            value = choice.options.get(name, usual)
            shown = (
                f"{value:g}" if isinstance(value, float) else value if isinstance(value, str) else str(value).lower()
            )
            speaks_for_itself = option.kind == "kernel" or (option.kind == "choice" and None not in option.choices)
            words.append(shown if speaks_for_itself else f"{name}={shown}")
    return ", ".join(words)
