"""Withholding tokens, and how sparse a Gaussian process may be, in a real browser."""

from __future__ import annotations

import csv
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page

from labseq_core.evaluation import abstention_curve
from labseq_core.experiments import model, result
from labseq_core.experiments.run.one_task import scored_part
from labseq_core.explain import certificate_rows, sparse_path, withheld_rows
from pages.ui.choices.variant_names import short_names
from tests.browser.elements import Element
from tests.browser.server import settle
from tests.experiments.runs import answers_of

pytestmark = pytest.mark.browser

RUN, SPARSE = "default:abstention", "default:sparseness"
KEY_PRESSES = 5  # of the slider, 0.01 each
# A small mark of a method that no other covers: its method, its threshold, and where it is on the screen.
PLACE_OF_A_MARK = """(plot, name) => {
    const trace = plot.data.find(t => t.mode === 'markers' && t.name === name), layout = plot._fullLayout;
    const box = plot.getBoundingClientRect(), place = trace.customdata.findIndex(point => point[1] === 0.9);
    const [method, at] = trace.customdata[place];
    return [method, at, box.x + layout.xaxis._offset + layout.xaxis.d2p(trace.x[place]),
            box.y + layout.yaxis._offset + layout.yaxis.d2p(trace.y[place])];
}"""


def downloaded_rows(page: Page, button: str) -> list[dict]:
    with page.expect_download() as waiting:
        page.get_by_role("button", name=button).click()
    with open(waiting.value.path(), encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def marks(page: Page, chart: int) -> dict[str, list[float]]:
    """The large marks of a chart by method: where the threshold is."""
    page.locator(".js-plotly-plot").nth(chart).locator(".scatterlayer").wait_for()
    script = "plot => plot.data.filter(t => t.mode === 'lines+markers').map(t => [t.name, [t.x[0], t.y[0]]])"
    return dict(page.locator(".js-plotly-plot").nth(chart).evaluate(script))


def given_by(name: str):
    """What a method said, by its short name."""
    config = result(RUN).config
    label = {short: label for label, short in short_names(config.methods).items()}[name]
    test, given = scored_part(config), answers_of(RUN, label)
    return test, given, abstention_curve(test.labels, given.predicted, given.confidence)


def test_the_threshold_moves_charts_table_sentences_and_url(visit):
    watched = visit("/abstain")
    page, label = watched.page, "CRF"
    page.get_by_role("radio", name="CRF").click()
    page.wait_for_url("**model=CRF**")
    settle(page)
    page.get_by_role("slider", name="Threshold").focus()
    for _ in range(KEY_PRESSES):
        page.keyboard.press("ArrowRight")
    page.wait_for_url("**threshold=0.75**")
    settle(page)
    test, given, curve = given_by(label)
    point = curve.at(0.75)
    assert marks(page, 0)[label] == [point.recall, point.precision]
    assert marks(page, 1)[label] == [point.coverage, point.risk]
    row = page.get_by_test_id(Element.TABLE).first.locator("tbody tr").first.locator("th, td").all_inner_texts()
    assert row[:3] == [label, f"{point.coverage:.1%}", f"{point.precision:.1%}"]
    rows = withheld_rows(test.tokens, test.labels, given, 0.75)
    page.get_by_text(f"{len(rows)} of {test.n_tokens:,} tokens are withheld").wait_for()
    shown = sorted({row["sequence"] for row in rows})[:10]
    assert page.locator(".ls-withheld").count() == sum(row["sequence"] in shown for row in rows)

    chosen = urlsplit(page.url).query
    assert parse_qs(chosen) == {"run": [RUN], "model": ["CRF"], "threshold": ["0.75"]}
    again = visit(f"/abstain?{chosen}").page
    assert marks(again, 0) == marks(page, 0)
    watched.expect_clean()


def test_a_click_on_a_mark_shows_what_is_withheld_there(visit):
    watched = visit("/abstain")
    page = watched.page
    marks(page, 0)
    name, at, across, up = page.locator(".js-plotly-plot").first.evaluate(PLACE_OF_A_MARK, "CRF")
    page.mouse.click(across, up)
    page.wait_for_url(f"**threshold={at}**")
    settle(page)
    assert parse_qs(urlsplit(page.url).query) == {"run": [RUN], "model": [name], "threshold": [str(at)]}
    test, given, curve = given_by(name)
    assert marks(page, 0)[name] == [curve.at(at).recall, curve.at(at).precision]
    rows = withheld_rows(test.tokens, test.labels, given, at)
    page.get_by_text(f"{len(rows)} of {test.n_tokens:,} tokens are withheld").wait_for()
    watched.expect_clean()


def test_curves_thresholds_and_withheld_tokens_are_downloaded(visit):
    watched = visit("/abstain?gaps=true&model=CRF&threshold=0.6")
    page = watched.page
    test, given, curve = given_by("CRF")
    written = downloaded_rows(page, "All curves as CSV")
    assert {row["run_id"] for row in written} == {RUN}
    assert {row["method"] for row in written if row["probability"] == "False"} == {
        "HM-SVM · score gap, not a probability"
    }
    own = [row for row in written if row["method"] == "CRF"]
    assert [float(row["precision"]) for row in own] == curve.precision.tolist()
    thresholds = [row for row in downloaded_rows(page, "Table of thresholds as CSV") if row["method"] == "CRF"]
    assert [float(row["coverage"]) for row in thresholds] == [curve.at(float(row["at"])).coverage for row in thresholds]
    withheld = downloaded_rows(page, "Withheld tokens as CSV")
    expected = withheld_rows(test.tokens, test.labels, given, 0.6)
    assert [(row["token"], row["true"], float(row["confidence"])) for row in withheld] == [
        (row["token"], row["true"], row["confidence"]) for row in expected
    ]
    assert {(row["model"], row["threshold"]) for row in withheld} == {("CRF (tuned)", "0.6")}
    page.get_by_role("radio", name="Reliability").click()
    page.get_by_text("Do the probabilities keep their word?").wait_for()
    assert downloaded_rows(page, "These points as CSV")
    watched.expect_clean()


def test_methods_without_probabilities_are_added_by_hand(visit):
    watched = visit("/abstain")
    page = watched.page
    assert len(marks(page, 0)) == 3
    page.get_by_text("Add methods without probabilities").click()
    page.wait_for_url("**gaps=true**")
    settle(page)
    assert list(marks(page, 0))[-1] == "HM-SVM · score gap, not a probability"
    watched.expect_clean()


def test_sparseness_is_drawn_and_downloaded(visit):
    watched = visit("/inside?tab=GPSC")
    page, (dense, *sparse) = watched.page, result(SPARSE).config.methods
    page.get_by_role("heading", name="Accuracy against sparseness").wait_for()
    settle(page)
    page.get_by_role("radio", name="observations touched").click()
    page.wait_for_url("**across=observations**")
    settle(page)
    drawn = page.locator(".js-plotly-plot").first.evaluate("plot => plot.data.map(t => Array.from(t.x))")
    path = sparse_path(model(SPARSE, sparse[0].label))
    assert drawn[0] == [row["observations"] for row in path]
    written = downloaded_rows(page, "The whole way as CSV")
    assert {row["run_id"] for row in written} == {SPARSE}
    assert [float(row["dev_accuracy"]) for row in written][: len(path)] == [row["dev_accuracy"] for row in path]
    page.get_by_role("radio", name="Fit", exact=True).click()
    settle(page)
    certificate = downloaded_rows(page, "These numbers as CSV")
    assert [float(row["gap"]) for row in certificate] == [
        row["gap"] for row in certificate_rows(model(SPARSE, dense.label))
    ]
    watched.expect_clean()


def test_a_chart_is_named_by_what_it_shows(visit):
    page = visit("/abstain").page
    page.locator(".js-plotly-plot").first.hover()
    with page.expect_download() as download:
        page.locator(".modebar-btn[data-title*='ownload']").first.click()
    assert Path(download.value.suggested_filename).name == "labseq-abstention.png"
