"""What is written along the axes of a chart stays within the chart, on wide and narrow screens."""

from __future__ import annotations

import pytest

from tests.browser.screenshots import PAGES, WIDTHS
from tests.browser.server import settle

pytestmark = pytest.mark.browser

HEIGHT = 1000
CHARTED = ("compare", "data", "inside", "sequence")
WITHOUT_CHARTS = {"compare-sentences", "inside-boosting-again", "sequence-force"}
OFTEN = {"sequence-short", "inside-gpsc-gram"}  # heat maps, which need most room: all others with the full suite
# By how many pixels names reach beyond the edge of their chart; one is allowed.
BEYOND = """plots => plots.flatMap(plot => {
    const edge = plot.querySelector('.main-svg').getBoundingClientRect();
    return [...plot.querySelectorAll('.xtick text, .ytick text')].map(name => {
        const box = name.getBoundingClientRect();
        const beyond = [edge.left - box.left, box.right - edge.right, edge.top - box.top, box.bottom - edge.bottom];
        return [name.textContent, Math.max(...beyond)];
    });
})"""


@pytest.mark.parametrize(
    "name",
    [
        name if name in OFTEN else pytest.param(name, marks=pytest.mark.slow)
        for name in PAGES if name.partition("-")[0] in CHARTED and name not in WITHOUT_CHARTS
    ],
)  # fmt: skip
def test_no_name_is_cut_off_at_the_edge_of_a_chart(visit, name):
    page = visit(PAGES[name]).page
    for width in WIDTHS.values():
        page.set_viewport_size({"width": width, "height": HEIGHT})
        settle(page)
        names = page.locator(".js-plotly-plot:visible").evaluate_all(BEYOND)
        assert names, "no chart is on the page"
        assert [each for each in names if each[1] > 1] == [], f"at {width} pixels"
