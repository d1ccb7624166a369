"""A visitor watches a training in a real browser: objective and accuracy get new points, and stay when it is over."""

from __future__ import annotations

import time

import pytest
from playwright.sync_api import Page

from tests.browser.server import settle

pytestmark = pytest.mark.browser

MILLISECONDS_TO_TRAIN = 240_000  # routines may have to be compiled first
SECONDS_TO_GROW = 60.0
TRAINING = "/train?dataset=spanish-ner&variant=boost:rounds=2000:patience=0&variant=crf"
# Of each of the two charts its y axis and the last iteration of all its lines together: a long curve is thinned, so the
# number of its points says little. What is being replaced may be there for a moment without any size.
LAST = """() => [...document.querySelectorAll('.js-plotly-plot')]
    .filter(plot => plot.clientHeight > 0 && plot.layout?.xaxis.type === 'log')
    .map(plot => [plot.layout.yaxis.title?.text === 'token accuracy' ? 'accuracy' : 'objective',
                  plot.data.reduce((sum, line) => sum + Math.max(...line.x), 0)])"""


def reached(page: Page) -> dict[str, int]:
    """How far the lines of objectives and of accuracies go."""
    return {"objective": 0, "accuracy": 0} | dict(page.evaluate(LAST))


def farther(page: Page, before: dict[str, int]) -> dict[str, int]:
    """Wait until both charts go on from there."""
    give_up = time.monotonic() + SECONDS_TO_GROW
    while time.monotonic() < give_up:
        now = reached(page)
        if all(now[chart] > before[chart] for chart in before):
            return now
        page.wait_for_timeout(100)
    raise AssertionError(f"the charts had reached {before}, now {reached(page)}")


def test_both_charts_get_new_points_and_stay(visit):
    watched = visit(TRAINING)
    page = watched.page
    page.keyboard.press("Control+Enter")
    page.locator(".js-plotly-plot").nth(1).wait_for(timeout=MILLISECONDS_TO_TRAIN)
    first = farther(page, {"objective": 0, "accuracy": 0})
    second = farther(page, first)
    assert page.get_by_role("button", name="Cancel").is_visible(), "it is still at work"
    third = farther(page, second)
    page.get_by_text("Finished.").wait_for(timeout=MILLISECONDS_TO_TRAIN)
    settle(page)
    page.reload()
    page.get_by_text("Finished.").wait_for()
    settle(page)
    in_the_end = reached(page)
    assert in_the_end["objective"] == in_the_end["accuracy"] >= max(third.values()), "the last point is the model"
    assert page.get_by_text("On a sample of the development part.").is_visible()
    for name in ("Sequence boosting", "CRF"):
        assert page.locator(".js-plotly-plot .annotation").filter(has_text=name).first.is_visible()
        assert page.locator(".js-plotly-plot .legendtext").filter(has_text=name).first.is_visible()
    watched.expect_clean()
