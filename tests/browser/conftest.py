"""One server, one browser and one profile for all tests of a process; each test gets clean tabs that are watched."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from labseq_core.experiments.store.run_store import ACTIVE, RunStore
from tests.browser.server import Dashboard, chromium, chromium_path, running_dashboard, settle

MILLISECONDS = 60_000  # a machine that is busy with other tests may need long for a first page
WIDTH, HEIGHT = 1440, 1000
SECONDS_TO_STOP = 60.0  # what a run is busy with; a server looks every second whether to stop


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
def running_server() -> Iterator[Dashboard]:
    with running_dashboard() as server:
        yield server


@pytest.fixture
def server(running_server: Dashboard) -> Iterator[Dashboard]:
    """A server without any runs of its own, which may be killed; afterwards it is as it was."""
    yield running_server
    if not running_server.running:
        running_server.start()
    store = RunStore(running_server.store)
    for run in store.list():
        store.mark(run["id"], cancelling=1)
        give_up = time.monotonic() + SECONDS_TO_STOP
        while (store.get(run["id"]) or {}).get("state") in ACTIVE:
            assert time.monotonic() < give_up, f"run {run['id']} does not stop"
            time.sleep(0.05)
        store.delete(run["id"])


@pytest.fixture
def address(server: Dashboard) -> str:
    return server.address


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if chromium_path() is None:
        reason = "no chromium found: install Debian's chromium"
        pytest.fail(reason) if os.environ.get("LABSEQ_REQUIRE_BROWSER") == "1" else pytest.skip(reason)
    with chromium() as browser:
        yield browser


def new_profile(browser: Browser) -> BrowserContext:
    """One in which nobody was here before."""
    context = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT})
    context.set_default_timeout(MILLISECONDS)
    return context


class Tabs:
    """Tabs of one profile that are used again: one that has run a page has its scripts compiled, and the next page there
    comes in a third of the time."""

    def __init__(self, browser: Browser):
        self.context = new_profile(browser)
        self.free: list[Page] = []

    def take(self) -> Page:
        return self.free.pop(0) if self.free else self.context.new_page()

    def give_back(self, page: Page, address: str) -> None:
        """As it was: nothing shown, nothing remembered."""
        page.goto(f"{address}/_stcore/health")  # of the same host: another one would begin a new process
        page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
        self.context.clear_cookies()
        page.emulate_media(color_scheme="light")
        page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
        page.set_default_timeout(MILLISECONDS)
        self.free.append(page)


@pytest.fixture(scope="session")
def tabs(browser: Browser) -> Iterator[Tabs]:
    made = Tabs(browser)
    yield made
    made.context.close()


@pytest.fixture
def new_tab(tabs: Tabs, server: Dashboard) -> Iterator[Callable[[], Watched]]:
    """Tabs of one visitor, who has never been here before: nothing is left of the test before."""
    with ExitStack() as afterwards:

        def new() -> Watched:
            watched = Watched(tabs.take())
            afterwards.callback(tabs.give_back, watched.page, server.address)
            afterwards.callback(_watch(watched, server.address))
            return watched

        yield new
        if not server.running:
            server.start()


@pytest.fixture
def visit(new_tab: Callable[[], Watched], address: str) -> Callable[[str], Watched]:
    """Open a path of the dashboard in a tab of its own and wait until it is drawn."""

    def visited(path: str) -> Watched:
        watched = new_tab()
        watched.page.goto(address + path)
        settle(watched.page)
        return watched

    return visited


def _watch(watched: Watched, address: str) -> Callable[[], None]:
    """Write down what the page does that it should not; gives how to end that."""
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

    def dialog(dialog) -> None:
        watched.console_errors.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def error(error) -> None:
        watched.console_errors.append(str(error))

    heard = {"console": console, "pageerror": error, "request": request, "response": response, "dialog": dialog}
    for event, listener in heard.items():
        watched.page.on(event, listener)

    def end() -> None:
        for event, listener in heard.items():
            watched.page.remove_listener(event, listener)

    return end
