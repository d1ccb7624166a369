"""The real server and a real Chromium, for tests and for screenshots."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from labseq_core.experiments import default_results, model
from labseq_core.experiments.run.one_task import scored_part
from labseq_core.warm_up import ahead
from tests.browser.elements import AT_REST, SCRIPT_STATE, Element

REPOSITORY = Path(__file__).resolve().parents[2]
SECONDS_TO_ANSWER = 60
SECONDS_TO_STOP = 10
QUIET_MILLISECONDS = 100  # the script has ended and nothing has changed for so long: drawn
SLIDER_MILLISECONDS = 300  # a slider tells its value when its handle has rested for 200
_AT_REST = f"""() => document.querySelector('{Element.APP.css}').getAttribute('{SCRIPT_STATE}') === '{AT_REST}'
    && !window.unanswered && !document.querySelector('{Element.SKELETON.css}')
    && !document.getAnimations().some(each => each instanceof CSSTransition && each.playState === 'running')"""
# Streamlit calls a script running when its server has said so: between a click and that the page looks at rest.
_NOTE_WHAT_IS_UNANSWERED = """() => {
    if ('unanswered' in window) return;
    window.unanswered = false;
    const send = WebSocket.prototype.send;
    WebSocket.prototype.send = function (message) {
        window.unanswered = true;
        this.addEventListener('message', () => { window.unanswered = false; }, {once: true});
        send.call(this, message);
    };
}"""
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome")
FOREIGN_NAME = "evil.test"  # of a page that leads its own name to this machine
CHROMIUM_FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", f"--host-resolver-rules=MAP {FOREIGN_NAME} 127.0.0.1",
]  # fmt: skip


def chromium_path() -> str | None:
    """Where Chromium is; None if there is none."""
    return next((path for path in map(shutil.which, CHROMIUM_NAMES) if path), None)


@contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_FLAGS)
        try:
            yield browser
        finally:
            browser.close()


class Dashboard:
    """`labseq app` on a port and a run store that stay the same when it is started again."""

    def __init__(self, place: Path, environment: dict[str, str] | None = None):
        self.place, self.port, self.environment = place, _free_port(), environment or {}
        self.address = f"http://127.0.0.1:{self.port}"
        self.store = place / "runs.sqlite"
        self.process: subprocess.Popen | None = None

    def start(self) -> None:
        environment = {**os.environ, "LABSEQ_STORE": str(self.store), "PYTHONPATH": str(REPOSITORY)} | self.environment
        command = [sys.executable, "-m", "labseq_core.cli", "app", "--port", str(self.port), "--no-browser"]
        with open(self.place / "log.txt", "a+") as log:
            self.process = subprocess.Popen(
                command, cwd=self.place, env=environment, stdout=log, stderr=log, start_new_session=True
            )
            try:
                wait_until_it_answers(self.process, self.address)
            except RuntimeError:
                log.seek(0)
                raise RuntimeError(f"the dashboard did not start:\n{log.read()}") from None

    @property
    def running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def kill(self) -> None:
        """At once, as by a crash: the server itself, not the processes that it has started."""
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait(timeout=SECONDS_TO_STOP)

    def stop(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=SECONDS_TO_STOP)
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(timeout=SECONDS_TO_STOP)


@contextmanager
def running_dashboard() -> Iterator[Dashboard]:
    """A dashboard with a run store of its own."""
    _compile()
    with tempfile.TemporaryDirectory(prefix="labseq-dashboard-") as place:
        server = Dashboard(Path(place))
        try:
            server.start()
            yield server
        finally:
            server.stop()


@contextmanager
def dashboard() -> Iterator[str]:
    """The address of one."""
    with running_dashboard() as server:
        yield server.address


def _compile() -> None:
    """What pages compute themselves: nobody here has the time to compile it."""
    ahead.load("boost")
    for name in ("spanish-ner", "abstention"):
        found = default_results()[name]
        one = scored_part(found.config).select([0])
        for choice in found.config.methods:
            model(found.run_id, choice.label).potentials(one)


def settle(page: Page, quiet: int = QUIET_MILLISECONDS) -> None:
    """Wait until the page has run, all that it needs has arrived, and nothing on it changes any more.

    After a click, the server is waited for if the page was settled before the click too.
    """
    page.get_by_role("heading", level=1).wait_for()
    page.evaluate(_NOTE_WHAT_IS_UNANSWERED)
    page.wait_for_function(f"({_AT_REST})()")
    page.evaluate(
        f"""quiet => new Promise(done => {{
            let since = performance.now();
            const observer = new MutationObserver(() => {{ since = performance.now(); }});
            observer.observe(document.body, {{subtree: true, childList: true, characterData: true}});
            const timer = setInterval(() => {{
                if (!({_AT_REST})()) since = performance.now();
                if (performance.now() - since < quiet) return;
                clearInterval(timer);
                observer.disconnect();
                done();
            }}, quiet / 4);
        }})""",
        quiet,
    )


def wait_until_it_answers(process: subprocess.Popen, address: str) -> None:
    give_up = time.monotonic() + SECONDS_TO_ANSWER
    while time.monotonic() < give_up and process.poll() is None:
        with suppress(OSError), urllib.request.urlopen(f"{address}/_stcore/health", timeout=5) as answer:
            if answer.status == 200:
                return
        time.sleep(0.05)
    raise RuntimeError("the dashboard did not start")


def _free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
