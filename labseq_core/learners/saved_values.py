"""What a model file says beside its arrays, read as if a stranger had written it: plain values of the expected kind only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from labseq_core.archives import TRAIN_AGAIN
from labseq_core.checks import LabSeqError, require
from labseq_core.features import TEMPLATES
from labseq_core.kernels import KERNELS
from labseq_core.losses import LOSSES
from labseq_core.registry import Source, from_outside

_REGISTRIES = (KERNELS, LOSSES, TEMPLATES)  # of what a model is made of, beside its learner
_LONGEST_IN_MESSAGE = 120  # characters
_KINDS = {str: "text", bool: "yes or no", int: "count", float: "number"}
_PLAIN = (bool, int, float, str, type(None))


def facts_in(meta: dict, kinds: Mapping[str, type]) -> dict[str, Any]:
    """The fitted values that a method has declared, all of them and no other, each of its kind; numbers may be None."""
    facts = meta["facts"]
    require(isinstance(facts, dict) and set(facts) == set(kinds), f"facts are not {', '.join(kinds) or 'empty'}")
    for name, value in facts.items():
        require(_is_of_kind(value, kinds[name]), f"{name} is {str(value)[:40]!r}, which is no {_KINDS[kinds[name]]}")
    return facts


def _is_of_kind(value: object, kind: type) -> bool:
    if kind in (str, bool):
        return isinstance(value, kind)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value is None or (is_number and (kind is float or (isinstance(value, int) and value >= 0)))


def history_in(meta: dict) -> list[dict]:
    """A row per iteration."""
    rows = meta["history"]
    require(isinstance(rows, list) and all(isinstance(row, dict) for row in rows), "history is no list of rows")
    plain = all(isinstance(key, str) and isinstance(value, _PLAIN) for row in rows for key, value in row.items())
    require(plain, "history has what is no number")
    return rows


def needs_of(meta: dict, learner_source: Source | None) -> dict[str, str]:
    """What a model cannot be loaded without that came from outside, as "kernel laplace", and the file of each."""
    template = meta["template"] and meta["template"]["name"]
    sources = from_outside([meta["params"], template], *_REGISTRIES)
    if learner_source is not None:
        sources[_learner_named(meta["learner"])] = learner_source
    return {thing: source.file for thing, source in sources.items()}


def require_needs(meta: dict, learners: Sequence[str]) -> None:
    """Say which file has to be loaded first. Model files of earlier versions do not say what they need."""
    needs = meta.get("outside", {})
    known = {f"{registry.noun} {name}" for registry in _REGISTRIES for name in registry} | set(
        map(_learner_named, learners)
    )
    plain = isinstance(needs, dict) and all(map(_is_name, (*needs.keys(), *needs.values())))
    require(plain, f"outside is no list of files; {TRAIN_AGAIN}")
    for thing, file in needs.items():
        if thing not in known:
            raise LabSeqError(f"it needs the {thing} of {file}; {Source(file, '').remedy}")


def _is_name(value: object) -> bool:
    """Fit to stand in a message."""
    return isinstance(value, str) and len(value) <= _LONGEST_IN_MESSAGE and value.isprintable()


def _learner_named(name: str) -> str:
    return f"method {name}"
