"""What a model file says beside its arrays, read as if a stranger had written it: plain values of the expected kind only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from labseq_core.checks import require

_PLAIN = (bool, int, float, str, type(None))


def names_in(meta: dict, key: str) -> list[str]:
    """A list of texts, each once."""
    names = meta[key]
    fits = isinstance(names, list) and all(isinstance(name, str) for name in names)
    require(fits and len(set(names)) == len(names), f"{key} is no list of different texts")
    return names


def facts_in(meta: dict, declared: Sequence[str]) -> dict[str, Any]:
    """The fitted numbers and texts that a method has declared, all of them and no other; counts are whole numbers."""
    facts = meta["facts"]
    require(isinstance(facts, dict) and set(facts) == set(declared), f"facts are not {', '.join(declared) or 'empty'}")
    for name, value in facts.items():
        require(isinstance(value, _PLAIN), f"{name} is no number or text")
        is_count = name.startswith("n_") or name == "best_round_"
        fits = value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 0)
        require(not is_count or fits, f"{name} is no whole number")
        require(name not in ("route_", "stop_reason_") or isinstance(value, str), f"{name} is no text")
    return facts


def history_in(meta: dict) -> list[dict]:
    """A row per iteration."""
    rows = meta["history"]
    require(isinstance(rows, list) and all(isinstance(row, dict) for row in rows), "history is no list of rows")
    plain = all(isinstance(key, str) and isinstance(value, _PLAIN) for row in rows for key, value in row.items())
    require(plain, "history has what is no number")
    return rows
