"""A server that has nothing compiled, as at the very first start."""

from __future__ import annotations

import os
import re
import shutil
import signal
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from labseq_core.compiling import code_cache
from labseq_core.warm_up import ahead
from tests.browser.conftest import new_profile
from tests.browser.elements import Element
from tests.browser.server import Dashboard

pytestmark = pytest.mark.browser

MILLISECONDS = 60_000  # a loaded machine
BOUNDS = "/inside?tab=Boosting&boosting=Bounds"
LINE = re.compile("Compiling .* of .* ready .*first start only")


@pytest.fixture
def server(tmp_path) -> Iterator[Dashboard]:
    ahead.prepare()
    found = Dashboard(tmp_path, {"LABSEQ_CACHE_DIR": str(tmp_path / "cache")})
    try:
        found.start()
        yield found
    finally:
        found.stop()


@pytest.fixture
def newcomer(browser: Browser) -> Iterator[BrowserContext]:
    with closing(new_profile(browser)) as context:
        yield context


def opened(newcomer: BrowserContext, address: str) -> Page:
    page = newcomer.new_page()
    page.goto(address)
    return page


def give_code(cache: Path) -> None:
    """What the process beside the server would make within a minute, from the cache of the tests; marks come last."""
    (there,) = cache.glob("compiled-*")
    for ending in ("code", "ready"):
        for path in code_cache.code_directory().glob(f"*.{ending}"):
            shutil.copy(path, there)


def kill_compiling(server: Dashboard) -> None:
    """In the middle. The server starts another one, which finds that everything is there."""
    for children in Path(f"/proc/{server.process.pid}/task").glob("*/children"):
        for process in map(int, children.read_text().split()):
            with suppress(FileNotFoundError):  # one that has just ended
                if b"labseq_core.warm_up.ahead" in Path(f"/proc/{process}/cmdline").read_bytes():
                    os.kill(process, signal.SIGKILL)


def test_the_first_chart_is_there_at_once_and_other_parts_appear_by_themselves(newcomer, server):
    start = opened(newcomer, server.address)
    start.locator(".js-plotly-plot .bars").first.wait_for()
    being_prepared = re.compile("Preparing this part")
    expect(start.get_by_text(being_prepared)).to_be_visible(timeout=MILLISECONDS)
    expect(start.get_by_test_id(Element.SIDEBAR).get_by_text(LINE)).to_be_visible(timeout=MILLISECONDS)
    bounds = opened(newcomer, server.address + BOUNDS)
    expect(bounds.get_by_text(being_prepared)).to_be_visible(timeout=MILLISECONDS)
    assert not bounds.locator(".js-plotly-plot").count()

    give_code(Path(server.environment["LABSEQ_CACHE_DIR"]))
    kill_compiling(server)
    for page in (start, bounds):
        expect(page.get_by_text(being_prepared)).to_have_count(0, timeout=MILLISECONDS)
        expect(page.get_by_test_id(Element.SIDEBAR).get_by_text(LINE)).to_have_count(0, timeout=MILLISECONDS)
        assert not page.get_by_role("alert").count()
    bounds.locator(".js-plotly-plot").first.wait_for()
    assert "boosting=Bounds" in bounds.url
    expect(start.get_by_role("button", name="Look into this sentence")).to_be_visible(timeout=MILLISECONDS)
