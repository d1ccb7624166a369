"""The weights of a model, the rounds of boosting, support sequences and margins, in a real browser."""

from __future__ import annotations

import csv
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page

from labseq_core.experiments import model, result
from labseq_core.experiments.bundled.default_margins import default_margins
from labseq_core.explain import label_weights, round_rows, support_examples, support_figure, training_rows, weights_csv
from tests.browser.elements import Element
from tests.browser.screen import differences, shown
from tests.browser.server import settle

pytestmark = pytest.mark.browser

CRF = "CRF (tuned)"
RUN, BOOSTED, MARGINS = "default:spanish-ner", "default:boosting", "default:margins"


def names_from_the_top(page: Page) -> list[str]:
    """The names beside the bars as they are seen; in the document they stand in any order."""
    names = page.locator(".js-plotly-plot").first.locator(".ytick text").all()
    return [name.text_content() for name in sorted(names, key=lambda name: name.bounding_box()["y"])]


def test_weights_are_drawn_filtered_and_downloaded(visit):
    watched = visit(f"/inside?run={RUN}&label=B-PER")
    page, learner = watched.page, model(RUN, CRF)
    highest = label_weights(learner, "B-PER")[0]
    page.locator(".js-plotly-plot").first.get_by_text(highest["attribute"], exact=True).wait_for()
    page.get_by_role("textbox", name="Attributes with").fill("cap_ini")
    page.keyboard.press("Enter")
    page.wait_for_url("**attribute=cap_ini**")
    settle(page)
    assert names_from_the_top(page) == [row["attribute"] for row in label_weights(learner, "B-PER", contains="cap_ini")]
    with page.expect_download() as waiting:
        page.get_by_role("button", name="All weights as CSV").click()
    about = {name: str(value) for name, value in result(RUN).about().items()}
    assert Path(waiting.value.path()).read_text(encoding="utf-8") == weights_csv(learner, **about, model=CRF)
    watched.expect_clean()


def drawn_rounds(page: Page) -> int:
    """How many rounds the chart of steps shows as done."""
    script = "plot => plot.data.filter(t => t.marker.opacity === 1).flatMap(t => t.x.filter(x => x !== null)).length"
    return page.locator(".js-plotly-plot").first.evaluate(script)


def charts_drawn(page: Page) -> int:
    return page.locator(".js-plotly-plot").count()


def show(page: Page, view: str) -> None:
    page.get_by_role("radio", name=view, exact=True).click()
    settle(page)


def downloaded_rows(page: Page, button: str) -> list[dict]:
    with page.expect_download() as waiting:
        page.get_by_role("button", name=button).click()
    with open(waiting.value.path(), encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_rounds_are_replayed_and_downloaded(visit):
    watched = visit("/inside")
    page, label = watched.page, result(BOOSTED).config.methods[1].label
    page.get_by_role("tab", name="Boosting").click()
    page.get_by_role("heading", name="Round by round").wait_for()
    settle(page)
    page.get_by_role("radio", name="tight").click()
    page.wait_for_url("**boosted=tight**")
    settle(page)
    before = drawn_rounds(page)
    page.get_by_role("slider", name="Round").focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    page.wait_for_url(f"**round={before + 3}**")
    settle(page)
    rows = round_rows(model(BOOSTED, label))
    page.get_by_text(f"Round {before + 3} of {len(rows)} moved the weight of {rows[before + 2]['feature']}").wait_for()
    page.get_by_role("heading", name=f"Chosen until round {before + 3}").wait_for()
    assert drawn_rounds(page) == before + 3

    written = downloaded_rows(page, "All rounds as CSV")
    assert [row["feature"] for row in written] == [row["feature"] for row in rows]
    assert [float(row["step"]) for row in written] == [row["step"] for row in rows]
    assert {(row["run_id"], row["model"]) for row in written} == {(BOOSTED, label)}
    show(page, "Bounds")
    page.get_by_text(f"Round {before + 3} of {len(rows)} moved the weight of {rows[before + 2]['feature']}").wait_for()
    assert charts_drawn(page) == 1
    bounds = downloaded_rows(page, "These bounds as CSV")
    assert list(bounds[0])[-4:] == ["step", "loose bound", "tight bound", "the loss itself (Z)"]
    assert {row["round"] for row in bounds} == {str(before + 3)}
    show(page, "Losses")
    assert charts_drawn(page) == 3
    curves = downloaded_rows(page, "These curves as CSV")
    assert [float(row["log_loss"]) for row in curves if row["model"] == label] == [row["log_loss"] for row in rows]
    show(page, "Chosen again")
    assert charts_drawn(page) == 0
    assert list(downloaded_rows(page, "This table as CSV")[0])[-4:] == ["feature", "loose", "tight", "exact"]
    show(page, "Round by round")

    chosen = parse_qs(urlsplit(page.url).query)
    assert chosen == {"tab": ["Boosting"], "run": [BOOSTED], "boosted": ["tight"], "round": [str(before + 3)]}
    again = visit(f"/inside?{urlsplit(page.url).query}").page
    again.get_by_role("heading", name=f"Chosen until round {before + 3}").wait_for()
    assert drawn_rounds(again) == before + 3
    page.get_by_role("tab", name="Weights").click()
    page.get_by_role("heading", name="What speaks for a label").wait_for()
    page.get_by_role("tab", name="Boosting").click()
    page.get_by_role("heading", name=f"Chosen until round {before + 3}").wait_for()
    watched.expect_clean()


@pytest.mark.slow
def test_choices_of_a_view_are_there_again_when_one_comes_back(visit):
    watched = visit("/inside?tab=GPSC&gpsc=Who+decides")
    page = watched.page
    page.get_by_role("spinbutton", name="Sentence").fill("7")
    page.keyboard.press("Enter")
    page.wait_for_url("**text=7**")
    settle(page)
    page.get_by_text("Against an average word", exact=True).click()
    page.wait_for_url("**against=false**")
    settle(page)
    before = shown(page)
    show(page, "Gram matrix")
    assert charts_drawn(page) == 2
    page.get_by_role("slider", name="Observations").press("ArrowLeft")
    page.wait_for_url("**sample=59**")
    show(page, "Fit")
    assert charts_drawn(page) == 1
    show(page, "Who decides")
    assert differences(before, shown(page)) == []
    show(page, "Gram matrix")
    page.wait_for_url("**sample=59**")
    watched.expect_clean()


def test_support_sequences_are_chosen_and_downloaded(visit):
    watched = visit("/inside?tab=HM-SVM")
    page, label = watched.page, result(MARGINS).config.methods[0].label
    page.get_by_role("heading", name="Support sequences of a sentence").wait_for()
    settle(page)
    page.get_by_role("radio", name="rescale=none, linear").click()
    page.wait_for_url("**svm=**")
    settle(page)
    learner = model(MARGINS, label)
    page.get_by_text(f"{learner.n_support_sequences_:,} support sequences of").wait_for()
    # The sentence stays when the model changes: the first of the model that was shown first.
    shown = support_examples(model(MARGINS, result(MARGINS).config.methods[-1].label))[0]["sequence"]
    rows = page.get_by_role("region", name="Support sequences of one sentence").locator("tbody tr")
    assert rows.count() == len(support_figure(learner, shown, 10)) > 1
    written = downloaded_rows(page, "All support sequences as CSV")
    assert len(written) == len(learner.support_sequences_)
    assert {(row["run_id"], row["model"]) for row in written} == {(MARGINS, label)}
    history = downloaded_rows(page, "These numbers as CSV")
    assert [float(row["dual"]) for row in history] == [row["dual"] for row in training_rows(learner)]
    watched.expect_clean()


def test_margins_are_drawn_on_another_scale_and_downloaded(visit):
    watched = visit("/inside?tab=Margins")
    page, known = watched.page, default_margins("margin-distribution")
    page.get_by_role("heading", name="How wide the margins are").wait_for()
    settle(page)
    page.get_by_role("radio", name="sum of weights").click()
    page.wait_for_url("**scale=sum**")
    page.get_by_role("spinbutton", name="θ").fill("0.001")
    page.keyboard.press("Enter")
    page.wait_for_url("**theta=0.001**")
    settle(page)
    ends = page.locator(".js-plotly-plot").first.evaluate("plot => plot.data.map(t => Math.max(...t.x))")
    assert ends == [float(own.on("sum").max()) for own in known.values()]
    written = downloaded_rows(page, "All margins as CSV")
    values = [value for own in known.values() for value in own.on("sum").tolist()]
    assert [float(row["margin_by_sum"]) for row in written] == values
    table = downloaded_rows(page, "This table as CSV")
    assert [float(row["at_most_theta"]) for row in table] == [
        float((own.on("sum") <= 0.001).mean()) for own in known.values()
    ]
    chosen = parse_qs(urlsplit(page.url).query)
    run = "default:margin-distribution"
    assert chosen == {"tab": ["Margins"], "run": [run], "scale": ["sum of weights"], "theta": ["0.001"]}
    again = visit(f"/inside?{urlsplit(page.url).query}").page
    assert again.get_by_role("radio", name="sum of weights").get_attribute("aria-checked") == "true"
    watched.expect_clean()


def test_a_replay_goes_on_by_itself_until_it_is_stopped(visit):
    watched = visit("/inside?tab=Boosting&round=2")
    page = watched.page
    page.get_by_test_id(Element.CHECKBOX).filter(has_text="Replay").locator("label").first.click()
    page.wait_for_url("**round=4**")
    page.get_by_test_id(Element.CHECKBOX).filter(has_text="Replay").locator("label").first.click()
    settle(page)
    stopped = page.url
    page.wait_for_timeout(2500)
    assert page.url == stopped
    watched.expect_clean()
