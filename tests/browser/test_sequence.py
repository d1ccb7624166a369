"""One sequence in a real browser: stepping through a trellis, typing a sentence, forcing a label, sharing it all."""

from __future__ import annotations

import csv
from urllib.parse import parse_qs, quote_plus, urlsplit

import pytest
from playwright.sync_api import Page

from labseq_core.experiments import model, result
from labseq_core.experiments.run.one_task import scored_part
from labseq_core.explain import contributions, read_sequence, sentence_of
from pages.ui.sequence import words
from tests.browser.server import settle

pytestmark = pytest.mark.browser

CRF = "CRF (tuned)"
RUN, KERNELS = "default:spanish-ner", "default:abstention"


def read(number: int, typed: list[str] | None = None, force: dict | None = None, label: str = CRF):
    one = sentence_of(scored_part(result(RUN).config), number - 1, typed)
    return read_sequence(model(RUN, label), one, force), one


def nodes(page: Page) -> list[list]:
    """Position, label and shown value of each node of the trellis."""
    page.locator(".js-plotly-plot").locator(".scatterlayer").wait_for()
    script = "plot => { const t = plot.data.at(-1); return t.customdata.map((n, i) => [n[0], n[1], t.text[i]]); }"
    return page.locator(".js-plotly-plot").evaluate(script)


def click_node(page: Page, position: int, label: str) -> None:
    page.locator(".js-plotly-plot").scroll_into_view_if_needed()
    place = page.locator(".js-plotly-plot").evaluate(
        """(plot, [position, label]) => {
            const points = plot.data.at(-1).customdata, box = plot.getBoundingClientRect(), layout = plot._fullLayout;
            const i = points.findIndex(n => n[0] === position && n[1] === label);
            return [box.x + layout.xaxis._offset + layout.xaxis.d2p(plot.data.at(-1).x[i]),
                    box.y + layout.yaxis._offset + layout.yaxis.d2p(plot.data.at(-1).y[i])];
        }""",
        [position, label],
    )  # fmt: skip
    page.mouse.click(*place)


def cells(page: Page, region: str, row: str) -> list[str]:
    """The labels of one line of a table, without what stands under them."""
    own = page.get_by_role("region", name=region).locator("tbody tr").filter(has_text=row)
    return [cell.split("\n")[0].removeprefix("✗ ").removeprefix("→ ") for cell in own.locator("td").all_inner_texts()]


def everything(page: Page) -> dict:
    """All that is computed on the page."""
    tables = page.locator(".ls-scroll, .ls-formula, .ls-voices").all_inner_texts()
    script = "plots => plots.map(p => JSON.stringify(p.data.map(t => [t.x, t.y, t.z, t.text])))"
    return {"tables": tables, "charts": page.locator(".js-plotly-plot").evaluate_all(script)}


def downloaded_rows(page: Page, button: str) -> list[dict]:
    with page.expect_download() as waiting:
        page.get_by_role("button", name=button).click()
    with open(waiting.value.path(), encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def show(page: Page, view: str) -> None:
    page.get_by_role("radiogroup", name="Show").get_by_text(view, exact=True).click()
    page.wait_for_url(f"**show={quote_plus(view)}**")
    settle(page)


def choose(page: Page, box: str, option: str) -> None:
    found = page.get_by_role("combobox", name=box)
    found.scroll_into_view_if_needed()
    settle(page)  # a list closes when the page scrolls
    found.click()
    page.get_by_role("option", name=option, exact=True).click()


def test_the_trellis_is_stepped_through_by_button_click_and_key(visit):
    watched = visit(f"/sequence?run={RUN}&n=2&step=1&look=CRF&show=Step+by+step")
    page, (reading, _) = watched.page, read(2)
    values = reading.lattice.values("viterbi")
    for position in (1, 2, 3):
        for place, label, shown in nodes(page):
            reached = place <= position
            assert shown == (words.number(values[place - 1, reading.classes.index(label)]) if reached else "")
        page.get_by_text(f"δ{position}({reading.labels[position - 1]}) for").wait_for()
        page.get_by_role("button", name="Next").click()
        page.wait_for_url(f"**step={position + 1}**")
        settle(page)
    click_node(page, 3, "B-LOC")
    page.wait_for_url("**node=B-LOC**")
    settle(page)
    assert parse_qs(urlsplit(page.url).query)["step"] == ["3"]
    page.get_by_text("δ3(B-LOC) for").wait_for()
    click_node(page, 4, "B-LOC")
    page.wait_for_url("**step=4**")
    settle(page)
    page.get_by_text("δ4(B-LOC) for").wait_for()
    page.get_by_role("radio", name="Backward").click()
    page.wait_for_url("**recursion=Backward**")
    settle(page)
    page.get_by_text("β4(B-LOC) for").wait_for()
    page.get_by_role("slider", name="Position").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**step=5**")
    settle(page)
    assert {place for place, _, shown in nodes(page) if shown} == set(range(5, 1 + max(n[0] for n in nodes(page))))
    watched.expect_clean()


@pytest.mark.slow  # links of every page are followed in test_permalinks
def test_a_permalink_repeats_everything(visit):
    watched = visit(f"/sequence?run={KERNELS}")
    page = watched.page
    page.get_by_role("spinbutton", name="Sentence").fill("7")
    page.keyboard.press("Enter")
    page.wait_for_url("**n=7**")
    settle(page)
    page.get_by_role("radio", name="GP sequence classification", exact=True).click()
    page.wait_for_url("**look=**")
    settle(page)
    page.get_by_role("button", name="Previous").click()
    page.wait_for_url("**step=**")
    settle(page)
    show(page, "Step by step")
    page.get_by_role("radio", name="Forward").click()
    page.wait_for_url("**recursion=Forward**")
    settle(page)
    seen = {"Step by step": (page.url, everything(page))}
    show(page, "What if")
    (other,) = {"A", "N"} - {page.get_by_role("combobox", name="shall have the label").input_value()}
    choose(page, "shall have the label", other)
    page.wait_for_url(f"**force={other}**")
    settle(page)
    seen["What if"] = page.url, everything(page)
    for view in ("How sure", "Why this label"):
        show(page, view)
        seen[view] = page.url, everything(page)
    for view, (link, there) in seen.items():
        assert len(there["charts"]) == (view != "What if")
        again = visit(f"/sequence?{urlsplit(link).query}")
        assert everything(again.page) == there, view
        again.expect_clean()
    watched.expect_clean()


def test_a_typed_sentence_is_labelled_kept_in_the_url_and_taken_back(visit):
    watched = visit(f"/sequence?run={RUN}&n=4")
    page = watched.page
    typed = ["<b>Ana</b>", "vive", "en", "San", "Sebastián", "\u202e."]
    page.get_by_role("textbox", name="Its words").fill(" ".join(typed))
    page.keyboard.press("Enter")
    page.wait_for_url("**words=**")
    settle(page)
    reading, _ = read(4, typed)
    region = page.get_by_role("region", name="Labels of one sentence")
    assert region.locator("thead th").all_inner_texts()[1:6] == typed[:5]
    assert cells(page, "Labels of one sentence", "CRF") == reading.labels
    assert region.get_by_text("truth").count() == 0
    page.reload()
    settle(page)
    assert cells(page, "Labels of one sentence", "CRF") == reading.labels
    page.get_by_role("button", name="Back to its own words").click()
    page.wait_for_url(lambda url: "words=" not in url)
    settle(page)
    assert cells(page, "Labels of one sentence", "CRF") == read(4)[0].labels
    assert region.get_by_text("truth").count() == 1
    watched.expect_clean()


def test_a_forced_label_changes_the_rest(visit):
    watched = visit(f"/sequence?run={RUN}&look=CRF&show=What+if")
    page = watched.page
    number = int(page.get_by_role("spinbutton", name="Sentence").input_value())
    free, _ = read(number)
    position = free.least_sure
    # A choice that is none would not be in the URL.
    other = next(label for label in ("B-PER", "B-MISC") if label != free.rival_at(position))
    choose(page, "shall have the label", other)
    page.wait_for_url(f"**force={other}**")
    settle(page)
    for label in ("HM-SVM (rescale=margin, tuned)", CRF):
        after, _ = read(number, force={position: other}, label=label)
        assert after.labels[position] == other
        assert cells(page, "Labels after one was forced", label.partition(" (")[0]) == after.labels
    rows = [row for row in downloaded_rows(page, "The changed labels as CSV") if row["method"] == CRF]
    after, _ = read(number, force={position: other})
    assert [row["label"] for row in rows] == after.labels
    assert [float(row["confidence"]) for row in rows] == pytest.approx(after.confidence, rel=1e-12)
    assert {row["run_id"] for row in rows} == {RUN}
    watched.expect_clean()


@pytest.mark.slow
def test_choices_of_a_view_come_back_with_it(visit):
    watched = visit(f"/sequence?run={RUN}&n=2&step=3&look=CRF")
    page = watched.page
    show(page, "Step by step")
    page.get_by_role("radio", name="Forward").click()
    page.wait_for_url("**recursion=Forward**")
    settle(page)
    click_node(page, 3, "B-LOC")
    page.wait_for_url("**node=B-LOC**")
    settle(page)
    there = everything(page)
    show(page, "What if")
    choose(page, "shall have the label", "B-MISC")
    page.wait_for_url("**force=B-MISC**")
    settle(page)
    assert not {"recursion", "node"} & set(parse_qs(urlsplit(page.url).query)), "the link is one to this view"
    show(page, "How sure")
    assert not {"recursion", "node", "force"} & set(parse_qs(urlsplit(page.url).query))
    show(page, "Step by step")
    assert everything(page) == there
    chosen = parse_qs(urlsplit(page.url).query)
    assert (chosen["recursion"], chosen["node"]) == (["Forward"], ["B-LOC"])
    show(page, "What if")
    assert page.get_by_role("combobox", name="shall have the label").input_value() == "B-MISC"
    watched.expect_clean()


def test_every_table_is_downloaded_as_it_is_shown(visit):
    watched = visit(f"/sequence?run={RUN}&n=3&step=2&look=CRF")
    page, (reading, one) = watched.page, read(3)
    labels = [row for row in downloaded_rows(page, "These labels as CSV") if row["method"] == CRF]
    assert [(row["token"], row["truth"], row["label"]) for row in labels] == list(
        zip(one.flat_tokens, one.flat_labels, reading.labels)
    )
    best = downloaded_rows(page, "These labellings as CSV")
    assert [row["labels"].split(" ") for row in best] == [row["labels"] for row in reading.k_best(5)]
    assert [float(row["probability"]) for row in best] == pytest.approx([r["probability"] for r in reading.k_best(5)])
    show(page, "Step by step")
    trellis = downloaded_rows(page, "All nodes as CSV")
    assert [float(row["forward"]) for row in trellis] == pytest.approx(reading.lattice.forward.ravel().tolist())
    assert {(row["model"], row["sentence"], row["words_changed"]) for row in trellis} == {(CRF, "3", "False")}
    show(page, "Why this label")
    rival = reading.labels_through(1, reading.rival_at(1))
    parts = downloaded_rows(page, "All parts as CSV")
    expected = contributions(model(RUN, CRF), one, reading.labels, rival)
    assert sum(float(row["difference"]) for row in parts) == pytest.approx(expected.difference)
    assert [row["name"] for row in parts] == [row["name"] for row in expected.rows]
    watched.expect_clean()
