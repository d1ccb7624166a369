"""Pages run by AppTest: the real app.py, the real core, training in real processes."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from labseq_core._jit import warm_up
from labseq_core.dashboard_settings import app_path
from labseq_core.experiments import ExperimentConfig
from labseq_core.experiments.defaults import METHODS
from labseq_core.experiments.service import run_id_of, run_row
from labseq_core.experiments.store import RunStore
from labseq_core.experiments.tasks import tasks_of
from pages.ui import session
from tests.experiments.runs import quick

SECONDS_PER_RUN = 30
SHOW_UNEXPECTED = session.unexpected
SECONDS_TO_TRAIN = 180  # routines may have to be compiled first


@pytest.fixture(scope="session", autouse=True)
def first_page_compiled() -> None:
    """Every visit begins on Start, which asks three models; to compile is not what a page has its seconds for."""
    warm_up(methods=METHODS, parallel=False)


@pytest.fixture(autouse=True)
def nothing_unexpected(monkeypatch) -> None:
    """What nobody foresaw must not hide behind the message that a visitor gets."""

    def raise_it(problem: Exception) -> None:
        raise problem

    monkeypatch.setattr(session, "unexpected", raise_it)


@pytest.fixture
def open_page() -> Callable[..., AppTest]:
    """Open a page of the app with these parameters in the URL."""

    def opened(name: str = "start", **parameters: str) -> AppTest:
        app = AppTest.from_file(str(app_path()), default_timeout=SECONDS_PER_RUN)
        app.run()
        for key, value in parameters.items():
            app.query_params[key] = value
        app.switch_page(f"pages/{name}.py").run()
        return app

    return opened


def planted(state: str, config: ExperimentConfig | None = None, done: int = 0, **columns) -> str:
    """A run in some state that nobody works at, with so many of its trainings finished."""
    config = config or quick()
    tasks = [
        {"label": task.label, "fold": task.fold, "point": task.point, "state": "done" if number < done else "queued"}
        for number, task in enumerate(tasks_of(config))
    ]
    run_id = columns.pop("id", run_id_of(config))
    RunStore().insert({**run_row(config), "id": run_id, "state": state, **columns}, tasks, {})
    return run_id


def problems(app: AppTest) -> list[str]:
    """All error boxes and exceptions on the page."""
    shown = [
        re.sub(r"\\(?=[^\w\s]|_)", "", error.value) for error in app.error
    ]  # as read, without Markdown's backslashes
    return [*shown, *(exception.message for exception in app.exception)]


def text(app: AppTest) -> str:
    """All that is written on the page."""
    kinds = (app.title, app.header, app.markdown, app.caption, app.info, app.success, app.code, app.get("html"))
    return "\n".join(str(getattr(element, "value", None) or element.proto.body) for kind in kinds for element in kind)


def run_until(app: AppTest, reached: Callable[[AppTest], bool]) -> AppTest:
    """Run the page again and again, as the polling does in a browser."""
    give_up = time.monotonic() + SECONDS_TO_TRAIN
    while not reached(app):
        assert time.monotonic() < give_up, f"not reached in {SECONDS_TO_TRAIN} s; the page says {text(app)}"
        assert problems(app) == []
        time.sleep(0.2)
        app.run()
    return app
