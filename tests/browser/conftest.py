"""One server and one browser for all tests; each test gets a fresh profile that is watched."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.server import chromium, chromium_path, dashboard, settle

MILLISECONDS = 20_000


@dataclass
class Watched:
    """A page and what it did that it should not do."""

    page: Page
    console_errors: list[str] = field(default_factory=list)
    foreign_requests: list[str] = field(default_factory=list)
    failed_requests: list[str] = field(default_factory=list)

    def expect_clean(self) -> None:
        assert self.console_errors == []
        assert self.foreign_requests == []
        assert self.failed_requests == []


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    with dashboard() as address:
        yield address


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if chromium_path() is None:
        reason = "no chromium found: install Debian's chromium"
        pytest.fail(reason) if os.environ.get("LABSEQ_REQUIRE_BROWSER") == "1" else pytest.skip(reason)
    with chromium() as browser:
        yield browser


@pytest.fixture
def visit(browser: Browser, address: str) -> Iterator[Callable[..., Watched]]:
    """Open a path of the dashboard in a profile of its own and wait until it is drawn."""
    contexts = []

    def visited(path: str, **options) -> Watched:
        context = browser.new_context(viewport={"width": 1440, "height": 1000}, **options)
        context.set_default_timeout(MILLISECONDS)
        contexts.append(context)
        watched = Watched(context.new_page())
        _watch(watched, address)
        watched.page.goto(address + path)
        settle(watched.page)
        return watched

    yield visited
    for context in contexts:
        context.close()


def _watch(watched: Watched, address: str) -> None:
    own = urlsplit(address).netloc

    def console(message) -> None:
        # What could not be loaded is judged by its address, below.
        if message.type == "error" and "Failed to load resource" not in message.text:
            watched.console_errors.append(message.text)

    def request(request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme in ("http", "https", "ws", "wss") and parts.netloc != own:
            watched.foreign_requests.append(request.url)

    def response(response) -> None:
        # On a page's own path Streamlit asks for its server below that path first, then above it.
        if response.status >= 400 and "/_stcore/" not in response.url:
            watched.failed_requests.append(f"{response.status} {response.url}")

    watched.page.on("console", console)
    watched.page.on("pageerror", lambda error: watched.console_errors.append(str(error)))
    watched.page.on("request", request)
    watched.page.on("response", response)
