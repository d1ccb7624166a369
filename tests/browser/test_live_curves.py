"""A visitor watches a training in a real browser: objective and accuracy get new points, and stay when it is over."""

from __future__ import annotations

import time

import pytest
from playwright.sync_api import Page

from tests.browser.server import settle

pytestmark = pytest.mark.browser

MILLISECONDS_TO_TRAIN = 240_000  # routines may have to be compiled first
SECONDS_TO_GROW = 60.0
TRAINING = "/train?dataset=spanish-ner&methods=Sequence+boosting&methods=CRF&boost.rounds=2000&boost.patience=0"
# What is being replaced may be there for a moment without any size.
POINTS = """() => [...document.querySelectorAll('.js-plotly-plot')].filter(plot => plot.clientHeight > 0 && plot.data)
    .map(plot => [plot.layout.yaxis.title?.text ?? '', plot.data.reduce((sum, line) => sum + (line.x?.length ?? 0), 0)])"""


def points(page: Page) -> tuple[int, int]:
    """How many are drawn of objectives and of accuracies."""
    counts = page.evaluate(POINTS)
    accuracies = sum(count for title, count in counts if title == "token accuracy")
    return sum(count for _, count in counts) - accuracies, accuracies


def grown(page: Page, before: tuple[int, int]) -> tuple[int, int]:
    """Wait until both charts have more points than before."""
    give_up = time.monotonic() + SECONDS_TO_GROW
    while time.monotonic() < give_up:
        now = points(page)
        if now[0] > before[0] and now[1] > before[1]:
            return now
        page.wait_for_timeout(100)
    raise AssertionError(f"both charts had {before} points, now {points(page)}")


def test_both_charts_get_new_points_and_stay(visit):
    watched = visit(TRAINING)
    page = watched.page
    page.keyboard.press("Control+Enter")
    page.get_by_text("token accuracy").first.wait_for(timeout=MILLISECONDS_TO_TRAIN)
    first = grown(page, (0, 0))
    second = grown(page, first)
    assert page.get_by_role("button", name="Cancel").is_visible(), "it is still at work"
    grown(page, second)
    page.get_by_text("Finished.").wait_for(timeout=MILLISECONDS_TO_TRAIN)
    settle(page)
    page.reload()
    page.get_by_text("Finished.").wait_for()
    settle(page)
    assert page.locator(".js-plotly-plot").filter(has_text="token accuracy").count() == 1
    assert page.get_by_text("On a sample of the development part.").is_visible()
    for name in ("Sequence boosting", "CRF"):
        assert page.locator(".js-plotly-plot .annotation").filter(has_text=name).first.is_visible()
        assert page.locator(".js-plotly-plot .legendtext").filter(has_text=name).first.is_visible()
    watched.expect_clean()
