"""Files that want to do harm or cannot be read: shown as text wherever their words appear, or refused with a reason."""

from __future__ import annotations

import gzip
import re
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, TimeoutError, expect

from labseq_core.data.limits import MAX_UPLOAD_MEGABYTES
from labseq_core.data.uploads import store_upload
from labseq_core.experiments import MethodChoice
from labseq_core.experiments.store.run_store import RunStore
from pages.ui.frame.errors import UNEXPECTED
from tests.browser import hostile
from tests.browser.conftest import Watched
from tests.browser.elements import Element
from tests.browser.server import Dashboard, settle
from tests.experiments.runs import finished_run, quick

pytestmark = pytest.mark.browser

WIDTHS = (1440, 420)
MILLISECONDS, MILLISECONDS_TO_FIT = 60_000, 3_000
_TOO_WIDE = f"""() => [document.documentElement, document.querySelector('{Element.MAIN.css}')]
    .map(box => box.scrollWidth - box.clientWidth)"""
PLACES = {
    "data": "data?dataset={upload}", "train": "train?dataset={upload}&job={run}", "compare": "compare?run={run}",
    "compare, labels": "compare?run={run}&view=Labels", "compare, sentences": "compare?run={run}&view=Sentences&differ=false",
    "abstain": "abstain?run={run}&threshold=0.95", "inside": "inside?run={run}",
    "inside, boosting": "inside?run={run}&tab=Boosting", "inside, bounds": "inside?run={run}&tab=Boosting&boosting=Bounds",
    "inside, chosen again": "inside?run={run}&tab=Boosting&boosting=Chosen+again&first=10",
    "inside, support": "inside?run={run}&tab=HM-SVM", "inside, margins": "inside?run={run}&tab=Margins",
    "inside, gpsc": "inside?run={run}&tab=GPSC", "inside, who decides": "inside?run={run}&tab=GPSC&gpsc=Who+decides",
    "inside, Gram matrix": "inside?run={run}&tab=GPSC&gpsc=Gram+matrix", "sequence": "sequence?run={run}&n=2&step=3",
    "sequence, steps": "sequence?run={run}&n=2&step=3&show=Step+by+step",
    "sequence, why": "sequence?run={run}&n=2&step=3&show=Why+this+label",
    "sequence, force": "sequence?run={run}&n=2&step=3&show=What+if", "history": "history?runs={run}",
}  # fmt: skip
# Views beside others that show the same words: with the full suite.
SELDOM = {
    "inside, bounds", "inside, chosen again", "inside, gpsc", "inside, Gram matrix", "sequence, steps", "sequence, force",
    "sequence, why", "inside, who decides", "inside, margins", "compare, sentences",
}  # fmt: skip
# What none of the words may become. Formulas of our own stand in the text of the margins.
ELEMENTS = (
    "script, img[src=x], img[src*=foreign], svg[onload], a[href^=javascript], a[href*=foreign], iframe, strong > em"
)


@dataclass
class Served:
    """A dashboard whose store has the corpus and a run on it."""

    server: Dashboard
    upload: str
    run: str


@pytest.fixture(scope="module")
def hostile_run(running_server: Dashboard) -> tuple[str, tuple]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LABSEQ_STORE", str(running_server.store))
        upload = store_upload(hostile.conll(), hostile.NAME)
        methods = (
            MethodChoice("crf", {"max_iter": 5}), MethodChoice("hmsvm", {"max_iter": 3}),
            MethodChoice("gps", {"max_iter": 3}), MethodChoice("boost", {"rounds": 10}),
        )  # fmt: skip
        return upload, finished_run(quick(dataset=upload, methods=methods, folds=0))


@pytest.fixture
def served(server: Dashboard, hostile_run: tuple[str, tuple]) -> Served:
    upload, run = hostile_run
    RunStore(server.store).insert(*run)
    return Served(server, upload, run[0]["id"])


@pytest.fixture
def watched(new_tab: Callable[[], Watched]) -> Watched:
    watched = new_tab()
    watched.page.set_default_timeout(MILLISECONDS)
    return watched


def expect_harmless(watched: Watched) -> None:
    page = watched.page
    assert page.evaluate("window.pwned") is None
    assert page.get_by_test_id(Element.EXCEPTION).count() == page.get_by_text(UNEXPECTED).count() == 0
    main = page.get_by_test_id(Element.MAIN)
    assert main.locator(ELEMENTS).count() == 0, main.locator(ELEMENTS).first.evaluate("element => element.outerHTML")
    with suppress(TimeoutError):  # tables follow a narrower window a little later
        page.wait_for_function(f"({_TOO_WIDE})().every(excess => excess === 0)", timeout=MILLISECONDS_TO_FIT)
    assert page.evaluate(_TOO_WIDE) == [0, 0], "the page scrolls sideways"
    watched.expect_clean()


@pytest.mark.parametrize(
    "place", [pytest.param(place, marks=pytest.mark.slow) if place in SELDOM else place for place in PLACES]
)
def test_words_and_labels_stay_text_everywhere(watched, served, place):
    page = watched.page
    page.goto(f"{served.server.address}/{PLACES[place].format(upload=served.upload, run=served.run)}")
    settle(page)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 1000})
        settle(page)
        expect_harmless(watched)
    shown = page.get_by_test_id(Element.MAIN).inner_text()
    assert hostile.LONG[:200] not in shown, "a word as long as a page"
    assert not re.search("[\u202a-\u202e\u2066-\u2069]", shown), "a mark that turns the line around"
    if place == "data":
        assert all(word in shown for word in hostile.WORDS[:8])
        assert "⟨U+202E⟩tfel" in shown
        assert "(10,000 letters)" in shown


def test_a_hostile_file_comes_in_by_the_page(watched, served):
    page = watched.page
    before = files_in(served.server.place)
    upload(page, served.server.address, hostile.NAME, hostile.conll().replace(b"_i_", b"_j_"))
    expect(chosen_corpus(page)).to_have_value(
        "<img src=x onerror=window.pwned=1> $x$ **b** :red[c] conll.conll (your file)", timeout=MILLISECONDS
    )
    page.get_by_text("_j_", exact=True).first.wait_for()
    expect_harmless(watched)
    new = files_in(served.server.place) - before
    assert {path.parts[0] for path in new} == {"uploads"}
    assert {path.name for path in new} == {"data", "about.json", "parsed.npz"}


def test_tables_are_saved_by_our_buttons_only(watched, server):
    """What Streamlit itself saves of a table may have formulas in it."""
    page = watched.page
    page.goto(f"{server.address}/data?dataset=pitch-accent")
    settle(page)
    page.get_by_test_id(Element.DATA_FRAME).hover()
    toolbar = page.get_by_test_id(Element.TOOLBAR)
    toolbar.get_by_role("button", name="Search").wait_for()
    assert toolbar.get_by_role("button", name="Download as CSV").count() == 0


def upload(page: Page, address: str, name: str, contents: bytes) -> None:
    """Open the Data page and have a file read."""
    open_uploader(page, address)
    choose_file(page, name, contents)


def open_uploader(page: Page, address: str) -> None:
    page.goto(f"{address}/data")
    settle(page)
    page.get_by_text("Use a file of your own").click()


def choose_file(page: Page, name: str, contents: bytes) -> None:
    page.locator("input[type=file]").set_input_files([{"name": name, "mimeType": "text/plain", "buffer": contents}])
    button = page.get_by_role("button", name="Read the file")
    expect(button).to_be_enabled()
    settle(page)
    button.click()


def chosen_corpus(page: Page) -> Locator:
    return page.get_by_role("combobox", name="Corpus")


def files_in(place: Path) -> set[Path]:
    return {
        path.relative_to(place)
        for path in place.rglob("*")
        if path.is_file() and not path.name.startswith("runs.sqlite")
    }


UNREADABLE = [
    ("../../../etc/up.conll", b"a O\nb O\nc\n", "up.conll, line 3: 1 column where 2 were expected; give every token line"),
    ("/absolute/**b** :red[x] $y$.conll", b"a O\n\nb O\n", "**b** :red[x] $y$.conll: 2 sequences, too few"),
    (":material/delete: [l](http://foreign.invalid).csv", b"a,b\n1,2\n", "foreign.invalid).csv, line 1: no column 'token'"),
    ("<b>bold.conll", b"a O\nb O\n<script>window.pwned=1</script>\n", "<b>bold.conll, line 3: 1 column"),
    ("zip.conll", b"PK\x03\x04\x14\0\0\0" + bytes(range(256)), "zip.conll, line 1: a NUL byte; save the file as plain"),
    ("picture.conll", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "picture.conll, line 3: a NUL byte; save the file as plain"),
    ("latin.conll", "a O\naño O\n".encode("latin-1"), "latin.conll, line 2: the byte 0xf1 is not UTF-8; read it with"),
    ("empty.conll", b"", "empty.conll: the file is empty; give a file"),
    ("long.jsonl", b'{"tokens": ["' + b"w" * 10_000 + b'"]}\n', "long.jsonl"),
]  # fmt: skip


def test_a_file_that_cannot_be_read_is_told_with_line_cause_and_fix(watched, served):
    """One file after another in the same box: each message takes the place of the one before."""
    before = files_in(served.server.place)
    open_uploader(watched.page, served.server.address)
    for name, contents, message in UNREADABLE:
        choose_file(watched.page, name, contents)
        alert = watched.page.get_by_test_id(Element.ALERT).filter(has_text=message)
        alert.wait_for()
        said = alert.inner_text()
        assert "; " in said, "the fix"
        assert len(said) < 1500
        assert not re.search(r"Traceback|/etc|/absolute|/tmp|site-packages", said)
        expect_harmless(watched)
        assert files_in(served.server.place) == before, "nothing was written"


def test_reading_shows_its_progress_and_can_be_cancelled(watched, served):
    """Very many empty gzip members take their time; the visitor takes it back."""
    page, before = watched.page, files_in(served.server.place)
    open_uploader(page, served.server.address)
    choose_file(page, "slow.conll.gz", gzip.compress(b"", mtime=0) * 600_000)
    bar = page.get_by_test_id(Element.PROGRESS)
    expect(bar).to_contain_text("Reading slow.conll.gz")
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text("Cancelled: the file was not stored.").wait_for()
    expect(bar).to_have_count(0)
    for _ in range(50):  # what was cancelled tidies up while the page says so already
        if files_in(served.server.place) == before:
            break
        time.sleep(0.1)
    assert files_in(served.server.place) == before
    choose_file(page, "bad.conll", b"a O\nb O\nc\n")
    page.get_by_test_id(Element.ALERT).filter(has_text="bad.conll, line 3: 1 column where 2 were expected").wait_for()
    expect(bar).to_have_count(0)
    assert page.get_by_text("Cancelled").count() == 0
    expect_harmless(watched)


def test_marks_and_line_ends_of_windows_are_read(watched, served):
    contents = b"\xef\xbb\xbfAna B-PER\r\n\r\nEva B-PER\r\n\r\nIda B-PER\r\n"
    upload(watched.page, served.server.address, "windows.conll", contents)
    expect(chosen_corpus(watched.page)).to_have_value("windows.conll (your file)", timeout=MILLISECONDS)
    watched.page.get_by_text("B-PER 1").wait_for()
    expect_harmless(watched)


def test_the_limit_is_said_and_kept(watched, served, tmp_path):
    page = watched.page
    large = tmp_path / "large.conll"
    with open(large, "wb") as file:
        file.truncate((MAX_UPLOAD_MEGABYTES << 20) + 1)
    page.goto(f"{served.server.address}/data")
    settle(page)
    page.get_by_text("Use a file of your own").click()
    expect(page.get_by_test_id(Element.FILE_UPLOADER)).to_contain_text(f"up to {MAX_UPLOAD_MEGABYTES} MB")
    page.locator("input[type=file]").set_input_files(large)
    expect(page.get_by_test_id(Element.FILE_UPLOADER)).to_contain_text(
        f"File must be {MAX_UPLOAD_MEGABYTES}.0MB or smaller"
    )
    expect(page.get_by_role("button", name="Read the file")).to_be_disabled()
