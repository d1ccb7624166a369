"""Which runs a search finds, as a condition of SQL: by text, corpus, method, state, and whether they are pinned."""

from __future__ import annotations

import json

ACTIVE = ("queued", "running")
TOLD_BY_OWNERS = (*ACTIVE, "dead")  # states that are known only when it is known which processes live


def condition(
    dataset: str | None = None, method: str | None = None, state: str | None = None, pinned: bool = False,
    text: str | None = None,
) -> tuple[str, list]:  # fmt: skip
    """The condition of a query and its values. A dead run is one of those that say that they are at work."""
    given = {
        "dataset = ?": dataset,
        "instr(methods, ?)": method and json.dumps(method),
        "pinned = ?": 1 if pinned else None,
        "instr(lower(id || ' ' || dataset || ' ' || features || ' ' || labels), ?)": text and text.lower(),
    }
    given = {condition: [value] for condition, value in given.items() if value}
    if state in TOLD_BY_OWNERS:
        given["state IN (?, ?)"] = list(ACTIVE)
    elif state:
        given["state = ?"] = [state]
    values = [value for several in given.values() for value in several]
    return f"WHERE {' AND '.join(given)}" if given else "", values
