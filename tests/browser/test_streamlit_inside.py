"""The Streamlit that is installed has all that `streamlit_inside`, the style sheet and the tests use of its inside."""

from __future__ import annotations

import inspect
import re
from pathlib import PurePosixPath

import pytest

from labseq_core.serving import streamlit_inside as inside
from labseq_core.serving.settings import STREAMLIT_SETTINGS
from pages.ui.frame.navigation import _HERE
from tests.browser.elements import AT_REST, SCRIPT_STATE, Element

SCRIPTS = inside.static_folder() / "static" / "js"
STYLE = re.sub(r"/\*.*?\*/", "", (_HERE / "style.css").read_text(encoding="utf-8"), flags=re.DOTALL)
QUOTED = "[`\"']{}[`\"']"


@pytest.fixture(scope="module")
def scripts() -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(SCRIPTS.glob("*.js")))


def test_settings():
    from streamlit import config

    known = config.get_config_options()
    assert [name for name in STREAMLIT_SETTINGS if name not in known] == []
    hidden = {name for name in STREAMLIT_SETTINGS if known[name].visibility == "hidden"}
    assert hidden == inside.HIDDEN_SETTINGS.keys(), "declared in the wrong place"


def test_functions():
    import streamlit
    from streamlit import runtime

    inspect.signature(runtime.exists).bind()
    inspect.signature(streamlit.App).bind("app.py", middleware=[])
    inspect.signature(streamlit.App.run).bind(None, config={})


def test_uploads_are_kept_within_bounds():
    from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
    from streamlit.runtime.uploaded_file_manager import UploadedFileRec

    files = MemoryUploadedFileManager("/upload")
    for number, visitor in enumerate(["modest", "greedy", "greedy", "greedy", "greedy"]):
        files.add_file(visitor, UploadedFileRec(str(number), "name", "text/plain", bytes(100)))
    inside.keep_uploads_within(500, files)
    assert len(files.file_storage["greedy"]) == 4
    inside.keep_uploads_within(300, files)
    assert {visitor: list(own) for visitor, own in files.file_storage.items()} == {
        "modest": ["0"],
        "greedy": ["3", "4"],
    }


def test_each_part_is_one_file_beside_the_first_script():
    assert [name.split(".")[0] for name in inside.part_files()] == list(inside.PARTS)
    page = (inside.static_folder() / "index.html").read_text(encoding="utf-8")
    (first,) = re.findall(r'<script type="module"[^>]* src="([^"]+)"', page)
    assert PurePosixPath(first).parent == PurePosixPath("static/js")
    assert (inside.static_folder() / first).is_file()


@pytest.mark.parametrize("name", sorted({*Element, *re.findall('"(.+?)"', str(list(inside.ELEMENTS.values())))}))
def test_ids(scripts, name):
    """A part of one may be put in where it is used, such as the kind of a button."""
    element, _, kind = name.partition("-")
    in_parts = f"`{element}-${{" in scripts and re.search(QUOTED.format(kind), scripts)
    assert re.search(QUOTED.format(name), scripts) or in_parts


def test_state_of_the_script(scripts):
    assert re.search(QUOTED.format(SCRIPT_STATE), scripts)
    assert re.search(QUOTED.format(AT_REST), scripts)


def test_clickable_charts_are_set_as_it_would():
    (chart,) = SCRIPTS.glob("PlotlyChart.*.js")
    set_there = re.findall(r"layout\.(\w+)\|\|\(\w+=[^)]*?`([^`]+)`", chart.read_text(encoding="utf-8"))
    assert dict(set_there) == inside.CLICKABLE_CHART


def test_the_style_sheet_uses_every_selector():
    assert set(re.findall(r"\$(\w+)", STYLE)) == inside.ELEMENTS.keys()


@pytest.mark.browser
def test_each_rule_of_the_style_sheet_finds_an_element(visit):
    lists = re.findall(r"([^{}]*\$[^{}]*){", STYLE)
    left = {inside.with_selectors(selector.strip()) for each in lists for selector in each.split(",")}
    assert len(left) > len(inside.ELEMENTS)
    paths = ("/train?metrics=accuracy", "/learn?lesson=properties", "/inside?tab=HM-SVM", "/data?dataset=pitch-accent")
    for path in paths:
        page = visit(path).page
        left = {selector for selector in left if page.locator(selector).count() == 0}
    assert left == set()
