"""`help(CRF)`: the docstring of a learner with a section made from its options, and the fitted attributes of its bases."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Sequence

from labseq_core.learners.options import Option

WIDTH = 100
PARAMETERS, ATTRIBUTES, EXAMPLES = "Parameters", "Attributes", "Examples"
TYPES = {"float": "float", "int": "int", "bool": "bool", "kernel": "Kernel"}


def complete_docstring(learner: type, options: Sequence[Option]) -> str:
    """Its summary, what the class says of itself, its options, its fitted attributes with those of its bases, its examples.

    A class writes its text and the sections "Attributes" and "Examples"; what it writes of an attribute goes before what a
    base writes of the same one.
    """
    sections = _sections(learner)
    attributes: dict[str, list[str]] = {}
    for each in learner.__mro__:
        for name, lines in _entries(_sections(each).get(ATTRIBUTES, [])).items():
            attributes.setdefault(name, lines)
    parts = [
        *([vars(learner)["summary"]] if "summary" in vars(learner) else []),
        "\n".join(sections[""]).strip(),
        _section(PARAMETERS, [line for option in options for line in _parameter(option)]),
        _section(ATTRIBUTES, [line for lines in attributes.values() for line in lines]),
    ]
    if EXAMPLES in sections:
        parts.append(_section(EXAMPLES, sections[EXAMPLES]))
    return "\n\n".join(parts) + "\n"


def _parameter(option: Option) -> list[str]:
    if option.kind == "choice":
        kind = "{" + ", ".join(map(repr, option.choices)) + "}"
    else:
        kind = TYPES[option.kind] + (" or None" if option.may_be_none else "")
    about = option.about
    if option.low is not None:
        about += f" Allowed: {option.allowed}."
    return [f"{option.name} : {kind}, default={option.default!r}", *_indented(about)]


def _indented(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)


def _section(title: str, lines: list[str]) -> str:
    return "\n".join([title, "-" * len(title), *lines]).rstrip()


def _sections(cls: type) -> dict[str, list[str]]:
    """The lines of a class's own docstring by section; those before the first section under ""."""
    lines = inspect.cleandoc(vars(cls).get("__doc__") or "").splitlines()
    sections: dict[str, list[str]] = {"": []}
    title = ""
    for number, line in enumerate(lines):
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if line and following == "-" * len(line):
            title = line
            sections[title] = []
        elif title and not sections[title] and line == "-" * len(title):
            continue
        else:
            sections[title].append(line)
    return sections


def _entries(lines: list[str]) -> dict[str, list[str]]:
    """A list of `name : type` lines, each followed by indented ones, by name."""
    entries: dict[str, list[str]] = {}
    for line in lines:
        if line and not line.startswith(" "):
            name = line.partition(" :")[0]
            entries[name] = []
        if line:
            entries[name].append(line)
    return entries
