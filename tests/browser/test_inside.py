"""The weights of a model, in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page

from labseq_core.experiments import model
from labseq_core.explain import label_weights, weights_csv
from tests.browser.server import settle

pytestmark = pytest.mark.browser

RUN = "default:spanish-ner"


def names_from_the_top(page: Page) -> list[str]:
    """The names beside the bars as they are seen; in the document they stand in any order."""
    names = page.locator(".js-plotly-plot").first.locator(".ytick text").all()
    return [name.text_content() for name in sorted(names, key=lambda name: name.bounding_box()["y"])]


def test_weights_are_drawn_filtered_and_downloaded(visit):
    watched = visit(f"/inside?run={RUN}&label=B-PER")
    page, learner = watched.page, model(RUN, "CRF")
    highest = label_weights(learner, "B-PER")[0]
    page.locator(".js-plotly-plot").first.get_by_text(highest["attribute"], exact=True).wait_for()
    page.get_by_role("textbox", name="Attributes with").fill("cap_ini")
    page.keyboard.press("Enter")
    page.wait_for_url("**attribute=cap_ini**")
    settle(page)
    assert names_from_the_top(page) == [row["attribute"] for row in label_weights(learner, "B-PER", contains="cap_ini")]
    with page.expect_download() as waiting:
        page.get_by_role("button", name="All weights as CSV").click()
    assert Path(waiting.value.path()).read_text(encoding="utf-8") == weights_csv(learner)
    watched.expect_clean()
