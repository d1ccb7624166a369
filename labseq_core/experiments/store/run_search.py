"""Which runs a search finds, as a condition of SQL: by text, corpus, method, state, and whether they are pinned."""

from __future__ import annotations

import json

from labseq_core.experiments.store.rows import DAMAGED

ACTIVE = ("queued", "running")
# States that are known only when a row has been read, and when it is known which processes live.
TOLD_BY_ROWS = (*ACTIVE, "dead", DAMAGED)


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
    if state in (*ACTIVE, "dead"):
        given["state IN (?, ?)"] = list(ACTIVE)
    elif state and state != DAMAGED:
        given["state = ?"] = [state]
    values = [value for several in given.values() for value in several]
    return f"WHERE {' AND '.join(given)}" if given else "", values
