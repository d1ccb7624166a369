"""The frame around the pages."""

from __future__ import annotations

import subprocess
import sys
import threading

from streamlit.testing.v1 import AppTest

from labseq_core.experiments.service import take_over
from labseq_core.serving.settings import app_path
from pages.ui import cached as caching
from pages.ui.frame import errors
from tests.app.conftest import SECONDS_PER_RUN, SHOW_UNEXPECTED, problems


def test_a_first_visit_by_a_link_to_a_page_goes_through_the_app():
    # Until st.navigation has been called, Streamlit runs the files of a folder `pages` by themselves.
    app = AppTest.from_file(str(app_path()), default_timeout=SECONDS_PER_RUN)
    app.switch_page("pages/data.py").run()
    assert problems(app) == []
    assert app.title[0].value == "Data"
    assert "LabSeq" in app.sidebar.caption[0].value


def opened() -> AppTest:
    """The whole app. (`switch_page` runs a page without the frame around it.)"""
    return AppTest.from_file(str(app_path()), default_timeout=SECONDS_PER_RUN).run()


def test_what_an_operator_should_know_stands_above_the_page(tmp_path, monkeypatch):
    monkeypatch.setenv("LABSEQ_STORE", str(tmp_path / "runs.sqlite"))
    (tmp_path / "runs.sqlite").write_bytes(b"nonsense" * 1000)
    over = threading.Event()
    over.set()
    take_over(over)  # once, as the server does again and again
    for app in (opened(), opened()):
        assert app.title
        (warning,) = [each.value for each in app.warning]
        assert "A damaged run store was set aside as runs.sqlite.damaged-" in warning
    assert problems(app) == [], "a new store has been begun"


def test_what_nobody_foresaw_is_told_without_details(monkeypatch, capsys):
    def broken() -> None:
        raise KeyError("/secret/place")

    monkeypatch.setattr(errors, "unexpected", SHOW_UNEXPECTED)
    monkeypatch.setattr(caching, "corpus_defaults", broken)
    app = opened()
    assert problems(app) == [errors.UNEXPECTED]
    assert "/secret/place" in capsys.readouterr().err


def test_a_store_that_cannot_be_used_is_told_and_not_thrown(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LABSEQ_STORE", str(tmp_path / "file" / "runs.sqlite"))
    app = opened()
    assert app.title
    assert not app.exception
    assert "set LABSEQ_STORE" in problems(app)[0]


def test_settings_are_read_without_streamlit():
    code = "import sys, labseq_core.serving.settings; print('streamlit' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=app_path().parent
    )
    assert done.stdout.strip() == "False"
