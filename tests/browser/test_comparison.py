"""A visitor trains, compares and takes the numbers home, in a real browser."""

from __future__ import annotations

import csv
import re
from statistics import fmean
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page

from pages.ui.frame.preload import part_files
from tests.browser.elements import Element
from tests.browser.server import settle

pytestmark = pytest.mark.browser

MILLISECONDS_TO_TRAIN = 180_000  # routines may have to be compiled first
TOLERANCE = 1e-12  # sums of the same numbers in another order


def bars(page: Page) -> dict[str, list[float]]:
    """What the first chart on the page draws: per method its values."""
    page.locator(".js-plotly-plot .bars").first.wait_for()
    script = "plot => plot.data.filter(t => t.type === 'bar').map(t => [t.name, Array.from(t.y)])"
    return dict(page.locator(".js-plotly-plot").first.evaluate(script))


def table(page: Page) -> list[list[str]]:
    rows = page.get_by_test_id(Element.TABLE).first.locator("tbody tr")
    return [row.locator("th, td").all_inner_texts() for row in rows.all()]


def test_from_the_form_to_the_csv(visit):
    watched = visit("/train?dataset=toy-pos")
    page = watched.page
    page.keyboard.press("Control+Enter")
    page.get_by_text("Finished.").wait_for(timeout=MILLISECONDS_TO_TRAIN)
    run_id = parse_qs(urlsplit(page.url).query)["job"][0]

    page.reload()
    page.get_by_text("Finished.").wait_for()
    page.get_by_role("button", name="Compare in detail").click()
    page.get_by_role("heading", name="Compare").wait_for()
    settle(page)
    assert parse_qs(urlsplit(page.url).query)["run"] == [run_id]

    with page.expect_download() as download:
        page.get_by_role("button", name="All numbers as CSV").click()
    with open(download.value.path(), encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["run_id"] for row in rows} == {run_id}
    assert {row["label"] for row in rows} == {"CRF", "HM-SVM", "GP sequence classification"}

    drawn, written = bars(page), {row[0]: row[1] for row in table(page)}
    for label in drawn:
        accuracy = fmean(float(row["accuracy"]) for row in rows if row["label"] == label)
        assert drawn[label][0] == pytest.approx(accuracy, abs=TOLERANCE)
        assert written[label] == f"{accuracy:.4f}"
    watched.expect_clean()


@pytest.mark.slow  # links of every page are followed in test_permalinks
def test_a_link_repeats_every_choice_in_another_browser(visit):
    watched = visit("/train?dataset=toy-pos")
    page = watched.page
    page.get_by_role("combobox", name=re.compile("Features")).click()
    page.get_by_role("option", name="S2").click()
    settle(page)
    page.get_by_role("spinbutton", name="Seed").fill("7")
    page.keyboard.press("Enter")
    settle(page)
    open_recipe(page)
    link = page.get_by_test_id(Element.CODE).first.inner_text().strip()
    assert link == page.url
    command = shown_command(page)
    assert "--features S2" in command
    assert "--seed 7" in command

    path = link.removeprefix(link.split("/train")[0])
    other = visit(path).page
    open_recipe(other)
    assert shown_command(other) == command
    watched.expect_clean()


def open_recipe(page: Page) -> None:
    page.get_by_role("button", name="Link, file, command and script").click()


def shown_command(page: Page) -> str:
    page.get_by_role("tab", name="Command").click()
    return page.get_by_test_id(Element.CODE).filter(visible=True).inner_text()


def test_what_other_pages_need_comes_while_the_first_is_read(visit):
    watched = visit("/")
    page, files = watched.page, part_files()
    script = "files => files.every(name => performance.getEntriesByType('resource').some(r => r.name.endsWith(name)))"
    page.wait_for_function(script, arg=files)
    assert page.get_by_test_id(Element.SELECTBOX).count() == 0, "the page itself has no use for them"
    watched.expect_clean()


def test_a_chart_is_saved_in_the_chosen_format(visit):
    page = visit("/?figures=SVG").page
    page.locator(".js-plotly-plot").first.hover()
    with page.expect_download() as download:
        page.locator(".modebar-btn[data-title*='ownload']").first.click()
    assert download.value.suggested_filename == "labseq-start.svg"
