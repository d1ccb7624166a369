"""Pages of a server that has nothing compiled yet."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest
import streamlit as st

from labseq_core.compiling import code_cache
from labseq_core.places import cache_root
from labseq_core.warm_up import background
from pages.ui.compare.tabs import COMPARE_TABS
from pages.ui.frame import errors, preparing
from pages.ui.inside.tabs import INSIDE_TABS
from pages.ui.learn.lessons import LESSONS
from pages.ui.sequence.page import SEQUENCE_VIEWS
from tests.app.views import VIEWS
from tests.conftest import REPOSITORY

BLOCKED = 2.0  # seconds that no page may wait for the compiler
# Need models: everything else is drawn from stored results.
NEED_MODELS = {("start", ()), ("sequence", ("Why this label",)), ("inside", ("Boosting", "Bounds"))}


@pytest.fixture(scope="module")
def visit(tmp_path_factory) -> dict:
    empty, at_hand = tmp_path_factory.mktemp("empty"), str(cache_root().absolute())
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.app.cold_visit", at_hand], cwd=REPOSITORY,
        env={**os.environ, "LABSEQ_CACHE_DIR": str(empty)}, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert not list(empty.rglob("*.code"))
    return json.loads(done.stdout)


def test_a_view_shows_itself_or_says_that_it_is_being_prepared_and_never_an_error(visit):
    assert [row["view"] for row in visit["cold"] if row["problems"]] == []
    assert all(row["title"] for row in visit["cold"])
    preparing_now = {(row["view"][0], tuple(row["view"][1].values())[-2:]) for row in visit["cold"] if row["preparing"]}
    for page, choices in NEED_MODELS:
        assert any(page == other and set(choices) <= set(shown) for other, shown in preparing_now)


def test_no_view_waits_for_the_compiler(visit):
    """A view that is drawn from what is stored may take its time; one that waits for a routine may not."""
    assert [row for row in visit["cold"] if row["preparing"] and row["seconds"] > BLOCKED] == []


def test_with_code_at_hand_the_part_is_there(visit):
    cold = {json.dumps(row["view"]): row for row in visit["cold"]}
    assert len(visit["warm"]) >= len(NEED_MODELS)
    for row in visit["warm"]:
        assert (row["preparing"], row["problems"]) == (0, [])
        assert row["elements"] >= cold[json.dumps(row["view"])]["elements"]


def test_the_list_of_views_is_complete():
    """Each page, and each tab and view of a page, by its name in the code."""
    named = {page for page, _ in VIEWS} | {value for _, choices in VIEWS for value in choices.values()}
    pages = {path.stem for path in (REPOSITORY / "pages").glob("*.py")} - {"__init__"}
    shown = {*COMPARE_TABS, *INSIDE_TABS, *SEQUENCE_VIEWS, *LESSONS}
    assert pages | shown <= named


class Reruns(Exception):
    pass


@pytest.fixture
def shown(monkeypatch) -> list[str]:
    """What is written in place of a part; a fragment is one call here, and the page that runs again is an exception."""
    texts: list[str] = []

    def rerun() -> None:
        raise Reruns

    monkeypatch.setattr(st, "info", lambda text, **more: texts.append(text))
    monkeypatch.setattr(st, "caption", texts.append)
    monkeypatch.setattr(st, "rerun", rerun)
    monkeypatch.setattr(st, "fragment", lambda function, run_every: function)
    return texts


def test_what_is_not_compiled_is_no_error_and_the_rest_of_the_page_goes_on(shown):
    with errors.shown_errors():
        raise code_cache.NotCompiledYet("chain.somewhere-0123")
    assert len(shown) == 1
    assert shown[0].startswith("Preparing")


@pytest.mark.parametrize(
    ("ready", "at_work", "has_come", "again"),
    [
        (3, True, True, False),  # nothing has been finished since: the routine's part is still being made
        (4, True, False, False),  # another part
        (4, True, True, True),
        (3, False, False, True),  # over, for better or worse: the page finds out
    ],
)  # fmt: skip
def test_the_page_runs_again_when_the_routine_and_its_part_are_there(
    shown, monkeypatch, ready, at_work, has_come, again
):
    monkeypatch.setattr(preparing, "_state", lambda: (at_work, ready))
    missing = SimpleNamespace(has_come=has_come)
    if again:
        with pytest.raises(Reruns):
            preparing._in_its_place(missing, (True, 3), None)
    else:
        preparing._in_its_place(missing, (True, 3), "the estimated time")
        assert "the estimated time" in shown[0]


def test_a_part_that_was_finished_while_the_page_tried_it_is_drawn(shown, monkeypatch):
    """Compiling ends between the look for a routine and the sentence in its place: nothing would change any more."""
    now = background.Progress("explanations", 19, 20)
    monkeypatch.setattr(background, "of_server", SimpleNamespace(progress=lambda: now))

    def tried() -> None:
        nonlocal now
        with preparing.part_of_page():
            now = None
            raise code_cache.NotCompiledYet("explain.somewhere-0123")

    with pytest.raises(Reruns):
        tried()
    assert shown == []


def test_the_side_bar_has_a_line_while_it_compiles_and_nothing_that_looks_again_afterwards(shown, monkeypatch):
    now = background.Progress("inference on chains", 2, 20)
    server = SimpleNamespace(trouble=None, progress=lambda: now)
    monkeypatch.setattr(background, "of_server", server)
    preparing.side_bar_line()
    assert "inference on chains: 2 of 20" in shown[0]
    monkeypatch.setattr(st, "fragment", None)
    now = None
    preparing.side_bar_line()
    assert len(shown) == 1
    server.trouble = background.TROUBLE
    preparing.side_bar_line()
    assert shown[1] == background.TROUBLE
