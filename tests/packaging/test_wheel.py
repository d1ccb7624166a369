"""A wheel built from the tree carries the dashboard and the bundled data, and works where nothing else is installed."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import venv
import zipfile
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

import labseq_core

pytestmark = [pytest.mark.packaging, pytest.mark.slow]

REPOSITORY = Path(__file__).resolve().parents[2]
DASHBOARD = "labseq_core/_dashboard/"
SECONDS_TO_INSTALL = 600
SECONDS_TO_ANSWER = 90
SECONDS_TO_STOP = 15


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    # Without isolation: the build tools of the test environment are used, so no pip is needed for this step.
    directory = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(directory), str(REPOSITORY)]
    run(command, cwd=directory)
    (built,) = directory.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def library(wheel, tmp_path_factory) -> Path:
    """The `labseq` command of a fresh environment that has the wheel and its dependencies, nothing else."""
    directory = tmp_path_factory.mktemp("environment")
    venv.create(directory, with_pip=False)  # also works where Debian's python3-venv is missing
    scripts = directory / ("Scripts" if os.name == "nt" else "bin")
    install(scripts, str(wheel))
    return scripts / "labseq"


@pytest.fixture(scope="module")
def library_alone(library, tmp_path_factory) -> subprocess.CompletedProcess:
    """`labseq app` before the dashboard is installed into that environment."""
    command = [str(library), "app", "--no-browser"]
    directory = tmp_path_factory.mktemp("alone")
    return subprocess.run(
        command, cwd=directory, env=clean_environment(), capture_output=True, text=True, timeout=SECONDS_TO_ANSWER
    )


@pytest.fixture(scope="module")
def labseq(library, library_alone, wheel) -> Path:
    """The same command once the dashboard is installed too."""
    install(library.parent, f"{wheel}[app]")
    return library


def test_the_dashboard_travels_inside_the_package(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert DASHBOARD + "app.py" in names
    assert any(name.startswith(DASHBOARD + "pages/") and name.endswith(".py") for name in names)
    assert any(name.startswith(DASHBOARD + "datasets/") for name in names)
    assert not [name for name in names if name.endswith(".pyc")]


def test_nothing_but_the_package_lands_in_site_packages(wheel):
    top_level = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert {name for name in top_level if not name.endswith(".dist-info")} == {"labseq_core"}


def test_it_carries_its_types_and_its_version(wheel):
    archive = zipfile.ZipFile(wheel)
    assert "labseq_core/py.typed" in archive.namelist()
    (metadata,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
    assert f"\nVersion: {labseq_core.__version__}\n" in archive.read(metadata).decode()


def test_without_the_dashboard_the_command_says_what_to_install(library_alone):
    assert library_alone.returncode == 2
    assert library_alone.stderr == (
        'labseq: the dashboard needs streamlit and plotly; install with: python -m pip install "labseq[app]"\n'
    )


def test_bundled_corpora_are_listed(library, tmp_path):
    listed = run([str(library), "datasets", "list"], cwd=tmp_path)
    bundled = [about.parent.name for about in (REPOSITORY / "datasets").glob("*/about.json")]
    assert bundled
    assert [name for name in (*bundled, "conll2002-es") if name not in listed] == []


def test_dashboard_answers_on_loopback_and_stops_when_told(labseq, tmp_path):
    port = free_port()
    with started([str(labseq), "app", "--port", str(port), "--no-browser"], tmp_path) as process:
        assert wait_for_answer(process, f"http://127.0.0.1:{port}/_stcore/health", tmp_path) == "ok"
        process.terminate()
        process.wait(timeout=SECONDS_TO_STOP)
        assert not is_listening(port), "the server outlived the command that started it"


def install(scripts: Path, what: str) -> None:
    run([*pip(), "--python", str(scripts / "python"), "install", "-qq", what], cwd=scripts)


def pip() -> list[str]:
    """A pip that can install into other environments: of this one or, where it has none, of the Python behind it."""
    for python in (sys.executable, sys._base_executable):
        if subprocess.run([python, "-m", "pip", "--version"], capture_output=True, check=False).returncode == 0:
            return [python, "-m", "pip", "--disable-pip-version-check"]
    pytest.fail("no pip found in this environment or in the Python behind it")


def clean_environment() -> dict[str, str]:
    """Without what could make the source tree importable."""
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}


def run(command: list[str], cwd: Path) -> str:
    done = subprocess.run(
        command,
        cwd=cwd,
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=SECONDS_TO_INSTALL,
        check=False,
    )
    assert done.returncode == 0, f"{command} failed:\n{done.stdout}\n{done.stderr}"
    return done.stdout


@contextmanager
def started(command: list[str], cwd: Path):
    """A process in a group of its own, all of which is gone afterwards."""
    with open(cwd / "log.txt", "w") as log:
        process = subprocess.Popen(
            command, cwd=cwd, env=clean_environment(), stdout=log, stderr=log, start_new_session=True
        )
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(timeout=SECONDS_TO_STOP)


def wait_for_answer(process: subprocess.Popen, url: str, cwd: Path) -> str:
    give_up = time.monotonic() + SECONDS_TO_ANSWER
    while time.monotonic() < give_up:
        assert process.poll() is None, f"the dashboard stopped by itself:\n{(cwd / 'log.txt').read_text()}"
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                return answer.read().decode().strip()
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.2)
    pytest.fail(f"no answer within {SECONDS_TO_ANSWER} s:\n{(cwd / 'log.txt').read_text()}")


def free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def is_listening(port: int) -> bool:
    with closing(socket.socket()) as probe:
        probe.settimeout(1.0)
        return probe.connect_ex(("127.0.0.1", port)) == 0
