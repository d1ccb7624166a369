"""The Compare page in a real browser: cells that open, files that are saved, links that repeat what was seen."""

from __future__ import annotations

import csv
import io
import zipfile
from urllib.parse import parse_qs, quote_plus, urlsplit

import pytest
from playwright.sync_api import Page

from labseq_core.experiments import result
from labseq_core.experiments.service import comparisons
from labseq_core.experiments.store.run_archive import run_tables
from tests.browser.elements import Element
from tests.browser.server import settle

pytestmark = pytest.mark.browser

RUN, CRF = "default:spanish-ner", "CRF (tuned)"


def downloaded(page: Page, button: str) -> bytes:
    with page.expect_download() as waiting:
        page.get_by_role("button", name=button).click()
    with open(waiting.value.path(), "rb") as file:
        return file.read()


def rows(data: bytes) -> list[dict]:
    return list(csv.DictReader(io.StringIO(data.decode())))


def click_cell(page: Page, row: int, column: int) -> None:
    """Click the middle of a cell of the confusion matrix, where the axes say it is."""
    chart = page.locator(".js-plotly-plot").last
    chart.scroll_into_view_if_needed()
    settle(page)
    script = """(plot, [row, column]) => {
        const {xaxis, yaxis} = plot._fullLayout, box = plot.getBoundingClientRect();
        return [box.x + xaxis._offset + xaxis.d2p(xaxis._categories[column]),
                box.y + yaxis._offset + yaxis.d2p(yaxis._categories[row])];
    }"""
    x, y = chart.evaluate(script, [row, column])
    page.mouse.move(x - 2, y - 2)
    page.mouse.move(x, y)
    page.mouse.click(x, y)


def test_a_click_on_a_cell_opens_its_sentences_and_the_link_repeats_it(visit):
    watched = visit(f"/compare?view=Labels&method={quote_plus(CRF)}")
    page, matrix = watched.page, result(RUN).confusion[CRF]
    labels, counts = matrix["labels"], matrix["counts"]
    true, said = labels.index("B-PER"), labels.index("B-LOC")
    click_cell(page, true, said)
    page.get_by_text(f"{CRF} takes B-PER for B-LOC {counts[true][said]} times").wait_for()
    settle(page)
    chosen = urlsplit(page.url).query
    assert parse_qs(chosen)["cell"] == ["B-PER → B-LOC"]
    shown = page.locator(".ls-under").all_inner_texts()
    assert shown

    again = visit(f"/compare?{chosen}").page
    again.get_by_text(f"{CRF} takes B-PER for B-LOC {counts[true][said]} times").wait_for()
    assert again.locator(".ls-under").all_inner_texts() == shown
    watched.expect_clean()


def test_a_cell_is_chosen_by_keyboard(visit):
    watched = visit(f"/compare?view=Labels&method={quote_plus(CRF)}")
    page = watched.page
    page.get_by_role("combobox", name="Cell").focus()
    page.keyboard.type("B-ORG → B-PER")
    page.keyboard.press("Enter")
    page.get_by_text(f"{CRF} takes B-ORG for B-PER").wait_for()
    watched.expect_clean()


def test_everything_is_saved_as_one_file(visit):
    watched = visit(f"/compare?run={RUN}")
    with zipfile.ZipFile(io.BytesIO(downloaded(watched.page, "Everything as zip"))) as archive:
        files = {name: archive.read(name).decode() for name in archive.namelist() if name.endswith(".csv")}
    assert files == run_tables(RUN)
    watched.expect_clean()


def test_saved_tables_equal_the_screen(visit):
    watched = visit(f"/compare?run={RUN}&view=Measures&metric=train_seconds")
    page = watched.page
    shown = page.get_by_test_id(Element.TABLE).first.locator("tbody tr").first.locator("th, td").all_inner_texts()
    saved = rows(downloaded(page, "This measure as CSV"))
    assert [f"{float(row['mean']):.3f}\u00a0s" for row in saved] == shown[1:]
    page.get_by_role("tab", name="Significance").click()
    page.get_by_text("Is the difference more than luck?").wait_for()
    settle(page)
    pairs = rows(downloaded(page, "All pairs as CSV"))
    assert [float(row["p_holm"]) for row in pairs] == [row["p_holm"] for row in comparisons(RUN, "accuracy")]
    written = page.get_by_test_id(Element.TABLE).first.locator("tbody tr").all()
    for row, line in zip(pairs, written, strict=True):
        assert f"{float(row['difference']):+.4f}" in line.inner_text()
    page.get_by_role("tab", name="Learning curve").click()
    page.get_by_text("What more training data buys").wait_for()
    settle(page)
    curve = rows(downloaded(page, "The learning curve as CSV"))
    table = page.get_by_test_id(Element.TABLE).first.inner_text()
    assert all(f"{float(row['accuracy']):.4f}" in table for row in curve)
    for row in [*saved, *pairs, *curve]:
        assert (row["seed"], row["metric_mode"]) == ("0", "conlleval")
        assert row["run_id"].startswith("default:")
    watched.expect_clean()


@pytest.mark.slow  # links of every page are followed in test_permalinks
def test_a_link_repeats_the_view_the_score_and_the_page(visit):
    watched = visit("/compare")
    page = watched.page
    page.get_by_role("tab", name="Sentences").click()
    page.get_by_text("The methods disagree in").wait_for()
    page.get_by_text("Only where methods disagree").click()
    page.wait_for_url("**differ=false**")
    settle(page)
    page.get_by_role("spinbutton", name="Page").fill("7")
    page.keyboard.press("Enter")
    page.get_by_text("Fold 1, sentence 31").wait_for()
    shown = page.locator(".ls-under").all_inner_texts()
    chosen = urlsplit(page.url).query
    assert parse_qs(chosen) == {"run": [RUN], "view": ["Sentences"], "differ": ["false"], "page": ["7"]}
    again = visit(f"/compare?{chosen}").page
    again.get_by_text("Fold 1, sentence 31").wait_for()
    assert again.locator(".ls-under").all_inner_texts() == shown
    watched.expect_clean()
