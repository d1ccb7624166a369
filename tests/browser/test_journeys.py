"""Whole tasks of a visitor: with a file of his own, and without a mouse."""

from __future__ import annotations

import csv
import json
import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser.access import expect_accessible, serious
from tests.browser.elements import Element
from tests.browser.screen import pick
from tests.browser.server import settle

pytestmark = pytest.mark.browser

MILLISECONDS_TO_TRAIN = 180_000  # routines may have to be compiled first
MOST_TABS = 60  # until something has the focus
BROKEN = b"Ana\tB-PER\nsleeps\tO\n\nshe O O\nsleeps\tO\n"
GOOD = b"".join(
    b"%s\tB-PER\n%s\tO\n\n" % (name, verb) for name in (b"Ana", b"Eva", b"Leo") for verb in (b"eats", b"runs")
)


def test_a_broken_file_is_told_and_mended_and_trained_on(visit):
    watched = visit("/data")
    page = watched.page
    page.get_by_text("Use a file of your own").click()
    upload(page, "names.conll", BROKEN)
    told = page.get_by_role("alert").filter(has_text="names.conll, line 4")
    told.wait_for()
    assert re.search("columns|fields", told.inner_text()), "the cause"
    assert re.search("make|use|give|mend|put|write|every", told.inner_text()), "what to do"
    expect_accessible(page)

    upload(page, "names.conll", GOOD)
    told.wait_for(state="detached")
    expect(page.get_by_role("combobox", name="Corpus")).to_have_value(re.compile(r"names\.conll .*your file"))
    expect_accessible(page)
    page.get_by_role("button", name="Train on this corpus").click()
    page.get_by_role("heading", name="Train", exact=True).wait_for()
    settle(page)
    page.keyboard.press("Control+Enter")
    page.get_by_text("Finished.").wait_for(timeout=MILLISECONDS_TO_TRAIN)
    settle(page)
    assert parse_qs(urlsplit(page.url).query)["dataset"][0].startswith("upload:")
    assert len(page.get_by_test_id(Element.TABLE).first.locator("tbody tr").all()) == 3
    expect_accessible(page)
    watched.expect_clean()


def upload(page: Page, name: str, contents: bytes) -> None:
    file = {"name": name, "mimeType": "text/plain", "buffer": contents}
    page.locator("input[type=file]").first.set_input_files(file)
    button = page.get_by_role("button", name="Read the file")
    expect(button).to_be_enabled()
    settle(page)
    button.click()


def focus(page: Page) -> str:
    """What has the focus: its role and name, as they are read aloud."""
    return page.evaluate(
        r"""() => {
            const at = document.activeElement;
            const role = at.getAttribute('role') || {A: 'link', BUTTON: 'button', INPUT: 'box'}[at.tagName] || at.tagName;
            const name = at.getAttribute('aria-label') || at.innerText || at.id || '';
            return role + ': ' + name.trim().replace(/\s+/g, ' ').slice(0, 60);
        }"""
    )


def tab_to(page: Page, wanted: str, key: str = "Tab") -> None:
    """Press the key until something of this description has the focus, and is seen to have it."""
    passed = []
    for _ in range(MOST_TABS):
        page.keyboard.press(key)
        passed.append(focus(page))
        if re.search(wanted, passed[-1]):
            return
    raise AssertionError(f"{wanted} cannot be reached by {key}; what can: {passed}")


def chosen(page: Page, text: str) -> None:
    """Take the entry of the list at hand that has this text."""
    page.keyboard.type(text)
    page.get_by_role("option").first.wait_for()
    page.keyboard.press("Enter")
    settle(page)


def visible_focus(page: Page) -> bool:
    script = """() => { for (let at = document.activeElement, i = 0; at && i < 4; at = at.parentElement, i++) {
        const style = getComputedStyle(at);
        if (style.outlineStyle !== 'none' || style.boxShadow !== 'none') return true; } return false; }"""
    return page.evaluate(script)


def test_the_main_task_is_done_by_keyboard(visit):
    """Corpus, methods, start, compare, download: no click anywhere."""
    watched = visit("/")
    page = watched.page
    follow(page, "link: .*Train", "Train")
    tab_to(page, "box: .*Corpus")
    page.keyboard.press("ControlOrMeta+a")
    chosen(page, "toy-pos")
    tab_to(page, "button: .*Remove variant 1")
    for _ in range(3):  # the next one has come to its place
        page.keyboard.press("Enter")
        settle(page)
    page.get_by_text("No variants yet").wait_for()
    tab_to(page, "box: .*Add a variant")
    chosen(page, "Naive Bayes")
    tab_to(page, "box: .*Add a variant")
    chosen(page, "Averaged perceptron")
    tab_to(page, "button: .*Options of variant 1")
    page.keyboard.press("Enter")
    settle(page)
    tab_to(page, "box: .*smoothing")
    page.keyboard.press("ControlOrMeta+a")
    chosen(page, "0.01")
    page.keyboard.press("Escape")
    page.wait_for_url(
        lambda url: parse_qs(urlsplit(url).query).get("variant") == ["naive-bayes:smoothing=0.01", "perceptron"]
    )
    tab_to(page, "button: .*Start training")
    assert visible_focus(page)
    page.keyboard.press("Enter")
    page.get_by_text("Finished.").wait_for(timeout=MILLISECONDS_TO_TRAIN)
    settle(page)
    run_id = parse_qs(urlsplit(page.url).query)["job"][0]
    follow(page, "button: .*Compare in detail", "Compare")
    tab_to(page, "button: .*All numbers as CSV")
    assert visible_focus(page)
    with page.expect_download() as waiting:
        page.keyboard.press("Enter")
    with open(waiting.value.path(), encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["run_id"], row["dataset"], row["label"]) for row in rows] == [
        (run_id, "toy-pos", "Naive Bayes (smoothing=0.01)"),
        (run_id, "toy-pos", "Averaged perceptron"),
    ]
    watched.expect_clean()


def sweep(page: Page, option: str, values: tuple[str, ...]) -> None:
    """By clicks: the option, its values, and the button that makes the variants."""
    page.get_by_role("button", name="Sweep").click()
    settle(page)
    page.get_by_role("combobox", name="Option", exact=True).click()
    page.get_by_role("option", name=option, exact=True).click()
    settle(page)
    page.get_by_role("combobox", name="Values", exact=True).click()
    for value in values:
        page.get_by_role("option", name=value, exact=True).click()
    page.keyboard.press("Escape")  # the list, of which several may be taken, stays open
    settle(page)
    page.get_by_role("button", name=re.compile("Make [0-9]+ variants")).click()
    settle(page)


def test_a_student_asks_for_degrees_and_decodings_in_one_run(visit):
    """GP degree 1, 2 and 3, Viterbi or posterior, on pitch accents, within folds: by clicks, and the table at the end."""
    watched = visit("/train?sequences=60")
    page = watched.page
    pick(page, "Corpus", "pitch-accent")
    for _ in range(2):
        page.get_by_role("button", name="Remove variant 1").click()
        settle(page)
    pick(page, "Features", "prosody")
    pick(page, "Folds", "2")
    sweep(page, "kernel", ("linear", "poly:2", "poly:3"))
    sweep(page, "decoding", ("viterbi", "posterior"))
    assert page.get_by_role("button", name="Options of variant").count() == 6
    page.get_by_role("button", name="Options of variant 6").click()
    settle(page)
    assert serious(page) == []
    page.keyboard.press("Escape")
    settle(page)
    page.get_by_role("button", name="Start training").click()
    page.get_by_text("Finished.").wait_for(timeout=MILLISECONDS_TO_TRAIN)
    page.get_by_role("button", name="Compare in detail").click()
    page.get_by_role("heading", name="Compare", exact=True, level=1).wait_for()
    settle(page)
    with page.expect_download() as waiting:
        page.get_by_role("button", name="All numbers as CSV").click()
    with open(waiting.value.path(), encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    asked = [(kernel, decode) for kernel in ("linear", None, "poly:3") for decode in ("viterbi", "posterior")]
    assert {row["dataset"] for row in rows} == {"pitch-accent"}
    assert [(json.loads(row["options"]).get("kernel"), row["decode"], row["fold"]) for row in rows] == [
        (*variant, fold) for fold in ("0", "1") for variant in asked
    ]
    watched.expect_clean()


def follow(page: Page, wanted: str, heading: str) -> None:
    """By keys to a link or a button that leads to another page."""
    tab_to(page, wanted)
    page.keyboard.press("Enter")
    page.get_by_role("heading", name=heading, exact=True, level=1).wait_for()
    settle(page)
