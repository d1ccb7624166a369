"""What every request passes, HTTP and WebSocket alike, before Streamlit sees it."""

from __future__ import annotations

import sys
from collections.abc import Callable

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from labseq_core.serving.hosts import OwnHosts

MOST_TOLD = 50  # refusals in the log: whoever sends more names does not fill the disk
# Other sites get no frame around the dashboard and none of its files; it loads nothing from anywhere else; and browsers do not
# guess that a download is a page.
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self' data: blob: ws: wss: 'unsafe-inline' 'unsafe-eval'; "
        "base-uri 'self'; form-action 'self'; frame-ancestors 'self'; object-src 'none'"
    ),
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}


class Gate:
    """ASGI middleware that refuses requests from elsewhere."""

    def __init__(self, app: ASGIApp, own: OwnHosts, make_room: Callable[[], None]):
        self.app, self.own, self.make_room = app, own, make_room
        self._told: set[str] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        problem = self.own.problem(headers.getlist("host"), headers.getlist("origin"))
        if problem:
            self._tell(problem)
            await _refuse(problem, scope, receive, send)
            return
        if scope.get("method") == "PUT":  # a file
            self.make_room()
        # It is judged: Streamlit, which compares otherwise, would ask a server in the internet for the address of this machine.
        kept = [(name, value) for name, value in scope["headers"] if name != b"origin"]
        await self.app({**scope, "headers": kept}, receive, _with_headers(send))

    def _tell(self, problem: str) -> None:
        if problem not in self._told and len(self._told) < MOST_TOLD:
            self._told.add(problem)
            print(problem, file=sys.stderr, flush=True)


async def _refuse(problem: str, scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close"})  # before it is accepted: status 403; no page would be shown a text
    else:
        await PlainTextResponse(problem, 403, HEADERS)(scope, receive, send)


def _with_headers(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(HEADERS)
        await send(message)

    return sent
