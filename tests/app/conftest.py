"""Pages run by AppTest: the real app.py, the real core, training in real processes."""

from __future__ import annotations

import secrets
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from labseq_core.dashboard_settings import app_path
from labseq_core.experiments import ExperimentConfig
from labseq_core.experiments.runner import collect, data_hash, run_task, tasks_of
from labseq_core.experiments.store import RunStore
from labseq_core.experiments.versions import versions

SECONDS_PER_RUN = 30
SECONDS_TO_TRAIN = 180  # routines may have to be compiled first


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


def problems(app: AppTest) -> list[str]:
    """All error boxes and exceptions on the page."""
    return [*(error.value for error in app.error), *(exception.message for exception in app.exception)]


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


def trained_here(config: ExperimentConfig) -> str:
    """The id of a finished run that was trained in this process: for pages, the same as one of a worker, and sooner there."""
    store, run_id = RunStore(), f"here-{secrets.token_hex(3)}"
    store.add(run_id, config.to_dict(), config.hash, versions())
    results = [run_task(config, task, lambda progress: True) for task in tasks_of(config)]
    with tempfile.TemporaryDirectory() as folder:
        for done in (done for done in results if done.row["fold"] == 0):
            done.learner.save(Path(folder) / "model.npz")
            store.keep_artefact(run_id, done.row["label"], (Path(folder) / "model.npz").read_bytes())
    store.update(run_id, state="done", result={**collect(results), "data_hash": data_hash(config.dataset)})
    return run_id
