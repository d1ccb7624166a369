"""Pages run by AppTest: the real app.py, the real core, training in real processes."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import AppTest

from labseq_core.compiling import code_cache
from labseq_core.experiments import ExperimentConfig
from labseq_core.experiments.plan.tasks import tasks_of
from labseq_core.experiments.service import run_row
from labseq_core.experiments.store.run_ids import run_id_of
from labseq_core.experiments.store.run_store import RunStore
from labseq_core.serving.settings import app_path
from labseq_core.warm_up import ahead
from pages.ui.frame import errors
from pages.ui.frame.navigation import _IN_APP as IN_APP
from tests.experiments.runs import quick

SECONDS_PER_RUN = 30
SHOW_UNEXPECTED = errors.unexpected
SECONDS_TO_TRAIN = 180  # routines may have to be compiled first
# Choices of the form that train for minutes, on whatever machine: what must be seen while it trains is seen.
LONG = {"dataset": "pitch-accent", "variant": "boost:rounds=1000000:patience=1000000"}


@pytest.fixture(scope="session", autouse=True)
def everything_compiled() -> None:
    ahead.prepare()


@pytest.fixture(autouse=True)
def nothing_is_compiled(monkeypatch) -> Iterator[None]:
    """No view compiles anything after everything was compiled ahead: a server would show it as not ready for ever."""
    missing: list[str] = []
    monkeypatch.setattr(code_cache, "on_miss", missing.append)
    yield
    assert not missing, "compiled for a page, and not ahead"


@pytest.fixture(scope="session", autouse=True)
def read_once() -> Iterator[None]:
    """What a server reads once and AppTest for every visit: the code of pages, and which packages bring components."""
    scripts, components = ScriptCache(), manifest_scanner.scan_component_manifests()
    with pytest.MonkeyPatch.context() as patch:
        for module in ("app_test", "local_script_runner"):
            patch.setattr(f"streamlit.testing.v1.{module}.ScriptCache", lambda: scripts)
        patch.setattr(manifest_scanner, "scan_component_manifests", lambda: components)
        yield


@pytest.fixture(autouse=True)
def nothing_unexpected(monkeypatch) -> None:
    """What nobody foresaw must not hide behind the message that a visitor gets."""

    def raise_it(problem: Exception) -> None:
        raise problem

    monkeypatch.setattr(errors, "unexpected", raise_it)


@pytest.fixture
def open_page() -> Callable[..., AppTest]:
    """Open a page of the app with these parameters in the URL."""

    def opened(name: str = "start", **parameters: str) -> AppTest:
        app = AppTest.from_file(str(app_path()), default_timeout=SECONDS_PER_RUN)
        for key, value in parameters.items():
            app.query_params[key] = value
        app.session_state[IN_APP] = True  # as for a visitor who has come by the navigation
        return app.switch_page(f"pages/{name}.py").run()

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
