"""Many visitors of one server at once: they speak its protocol over web sockets, as browsers do, but draw nothing."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from random import Random

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

THINK_SECONDS = 3.0  # on average, between an answer and the next click
# Page and choices, as a link has them: each is a whole run of the page.
PLACES = (
    ("", ""), ("", "corpus=parity"), ("", "corpus=toy-pos"), ("data", ""), ("data", "dataset=parity"),
    ("data", "dataset=spanish-ner&part=dev"), ("train", ""), ("train", "dataset=toy-pos&seed=3"), ("compare", ""),
    ("compare", "view=Significance"), ("compare", "view=Labels"), ("compare", "view=Sentences"),
    ("compare", "view=Learning+curve"), ("abstain", ""), ("abstain", "threshold=0.8"), ("inside", ""),
    ("inside", "tab=Boosting"), ("inside", "tab=HM-SVM"), ("inside", "tab=Margins"), ("inside", "tab=GPSC"),
    ("sequence", ""), ("sequence", "step=3&recursion=Forward"), ("learn", ""), ("learn", "lesson=losses"), ("history", ""),
)  # fmt: skip


@dataclass
class Waits:
    """Seconds from a click to the end of the page's run; opening a link anew counts apart."""

    first: list[float] = field(default_factory=list)
    later: list[float] = field(default_factory=list)
    errors: int = 0


def browse(address: str, visitors: int, seconds: float, seed: int = 0) -> Waits:
    """So many visitors wander for so long."""
    return asyncio.run(_browse(address.replace("http", "ws", 1) + "/_stcore/stream", visitors, seconds, seed))


async def _browse(stream: str, visitors: int, seconds: float, seed: int) -> Waits:
    waits = Waits()
    until = time.monotonic() + seconds
    await asyncio.gather(*(_visit(stream, Random(f"{seed}-{n}"), until, waits) for n in range(visitors)))
    return waits


async def _visit(stream: str, random: Random, until: float, waits: Waits) -> None:
    """Half of the clicks are on the page that is open, a quarter lead to another one, a quarter are links to follow anew."""
    await asyncio.sleep(random.uniform(0, THINK_SECONDS))
    while time.monotonic() < until:
        page, choices = random.choice(PLACES)
        async with connect(stream, subprotocols=["streamlit"], max_size=None) as line:
            found = waits.first
            while time.monotonic() < until:
                began = time.monotonic()
                waits.errors += await _open(line, page, choices)
                found.append(time.monotonic() - began)
                found = waits.later
                await asyncio.sleep(random.uniform(0, 2 * THINK_SECONDS))
                kind = random.random()
                if kind < 0.25:
                    break
                if kind < 0.5:
                    page, choices = random.choice(PLACES)


async def _open(line: ClientConnection, page: str, choices: str) -> int:
    """Ask for a page and wait until it has run; how many error boxes it shows."""
    message = BackMsg()
    message.rerun_script.page_name, message.rerun_script.query_string = page, choices
    await line.send(message.SerializeToString())
    errors = 0
    while True:
        answer = ForwardMsg.FromString(await line.recv())
        kind = answer.WhichOneof("type")
        if kind == "delta":
            errors += answer.delta.new_element.WhichOneof("type") == "exception"
        elif kind == "script_finished" and answer.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
            return errors
