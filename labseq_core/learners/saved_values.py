"""What a model file says beside its arrays, read as if a stranger had written it: plain values of the expected kind only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

from labseq_core.archives import TRAIN_AGAIN
from labseq_core.checks import LabSeqError, brief, require
from labseq_core.features import TEMPLATES
from labseq_core.kernels import KERNELS
from labseq_core.losses import LOSSES
from labseq_core.registry import Source, from_outside

_REGISTRIES = (KERNELS, LOSSES, TEMPLATES)  # of what a model is made of, beside its learner
_LONGEST_IN_MESSAGE = 120  # characters
_KINDS = {str: "text", bool: "yes or no", int: "count", float: "number"}
_MOST = 2**63  # what counts are below; larger whole numbers are no floats, and in no data frame
_EVERY_ROW = ("iteration", "objective", "seconds")  # see `Recorder`


def facts_in(meta: dict, kinds: Mapping[str, type], unknown: Sequence[str] = ()) -> dict[str, Any]:
    """The fitted values that a method has declared, all of them and no other, each of its kind; unknown: those that may be
    None.
    """
    facts = meta["facts"]
    require(isinstance(facts, dict) and set(facts) == set(kinds), f"facts are not {', '.join(kinds) or 'empty'}")
    for name, value in facts.items():
        fits = _is_of_kind(value, kinds[name]) or (value is None and name in unknown)
        require(fits, f"{name} is {brief(value)}, which is no {_KINDS[kinds[name]]}")
    return facts


def _is_of_kind(value: object, kind: type) -> bool:
    if kind in (str, bool):
        return isinstance(value, kind)
    if not _is_number(value) or (isinstance(value, int) and abs(value) >= _MOST):
        return False
    return kind is float or (isinstance(value, int) and value >= 0)


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def history_in(meta: dict) -> list[dict]:
    """A row per iteration: numbers, or None where there was none."""
    rows = meta["history"]
    require(isinstance(rows, list) and all(isinstance(row, dict) for row in rows), "history is no list of rows")
    for row in rows:
        plain = all(value is None or _is_of_kind(value, bool) or _is_of_kind(value, float) for value in row.values())
        require(plain and all(isinstance(name, str) for name in row), "history has what is no number")
        require(all(_is_of_kind(row.get(name), float) for name in _EVERY_ROW), "history lacks iterations")
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
