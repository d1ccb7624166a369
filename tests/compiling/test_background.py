"""Compiling beside a server, in real processes, on the smallest part that there is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from labseq_core.compiling import ahead, background, kept
from labseq_core.compiling.background import Background

SECONDS = 120  # a loaded machine
SMALL = "features"
# What the server starts, with the smallest part only.
RUN = f"""
from labseq_core.compiling import ahead
ahead.PARTS, ahead.NICENESS = {{{SMALL!r}: ahead.PARTS[{SMALL!r}]}}, 0
ahead.main()
"""
COMMAND = [sys.executable, "-c", RUN, ahead.WHILE_INPUT_IS_OPEN]


@pytest.fixture
def cache(tmp_path, monkeypatch) -> Path:
    """An empty cache directory for this process and those that it starts, and the smallest part only."""
    monkeypatch.setenv("LABSEQ_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv(kept.PRIVATE_VARIABLE, raising=False)
    monkeypatch.setattr(ahead, "PARTS", {SMALL: ahead.PARTS[SMALL]})
    monkeypatch.setattr(ahead, "NICENESS", 0)  # the other tests do not come first
    monkeypatch.setattr(background, "COMMAND", COMMAND)
    monkeypatch.setattr(background, "AFTER_VISIT", 0.01)
    monkeypatch.setattr(background, "WITHOUT_VISIT", 1000.0)
    before = kept.on_miss
    kept.code_directory.cache_clear()
    yield tmp_path / "cache"
    kept.on_miss = before
    kept.code_directory.cache_clear()


def wait(reached: Callable[[], object]) -> None:
    give_up = time.monotonic() + SECONDS
    while not reached():
        assert time.monotonic() < give_up, f"not reached in {SECONDS} s"
        time.sleep(0.05)


def code_files(cache: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in cache.rglob("*.code")}


def leftovers(cache: Path) -> list[str]:
    return [
        path.name for path in cache.rglob("*") if path.is_file() and path.suffix not in (".code", ".ready", ".lock")
    ]


def by_another(code: str, **environment: str) -> subprocess.CompletedProcess:
    own = {name: value for name, value in os.environ.items() if name != kept.PRIVATE_VARIABLE} | environment
    return subprocess.run([sys.executable, "-c", code], env=own, capture_output=True, text=True, timeout=SECONDS)


def test_everything_is_made_once_and_what_vanishes_is_made_again(cache):
    server = Background()
    server.take_over()
    assert server.progress() == (ahead.PARTS[SMALL].title, 0, 1)
    with pytest.raises(kept.NotCompiledYet):
        kept.on_miss("features.columns.some_routine")
    assert server.passes == 0  # nothing begins before the first page
    for _ in range(3):
        server.visited()
    wait(lambda: server.process)
    with pytest.raises(kept.NotCompiledYet):
        kept.on_miss("features.columns.some_routine")
    wait(lambda: server.progress() is None)
    made = code_files(cache)
    assert (server.passes, bool(made), leftovers(cache)) == (1, True, [])

    # Another server finds everything there, and starts nothing.
    second = Background()
    second.take_over()
    second._begin()
    assert (second.progress(), second.process) == (None, None)

    # A damaged file: the mark says ready, the routine is missing all the same. It alone is made again.
    damaged = next(path for path in cache.rglob("*.code") if path.stem.startswith("features"))
    damaged.write_bytes(damaged.read_bytes()[:100])
    routine = damaged.name.split("-")[0]
    kept.on_miss = server._missed
    with pytest.raises(kept.NotCompiledYet):
        kept.on_miss(routine)
    wait(lambda: server.progress() is None)
    again = code_files(cache)
    assert [name for name in made if again[name] != made[name]] == [damaged.name]
    assert damaged.stat().st_size > 100

    # Still missing after that: a page must not wait for ever, so the server compiles it.
    kept.on_miss(routine)
    assert (server.passes, server.trouble) == (2, None)


def test_a_directory_that_was_deleted_is_made_again(cache):
    server = Background()
    server.take_over()
    server._complete = True
    kept.code_directory().rmdir()
    with pytest.raises(kept.NotCompiledYet):
        kept.on_miss("features.columns.some_routine")
    wait(lambda: server.progress() is None)
    assert code_files(cache)


def test_a_process_that_is_killed_leaves_nothing_half_made_and_the_next_one_completes(cache):
    server = Background()
    server.take_over()
    server.visited()
    wait(lambda: server.process and any(cache.rglob("*.lock")))
    first = server.process
    first.send_signal(signal.SIGKILL)
    wait(lambda: server.passes == 2)
    wait(lambda: server.progress() is None)
    assert first.returncode == -signal.SIGKILL
    assert (server.passes, server.trouble, leftovers(cache)) == (2, None, [])
    loaded = by_another(
        "from labseq_core.compiling import ahead, kept; kept.refuse_to_compile(); ahead.PARTS['features'].make()"
    )
    assert loaded.returncode == 0, loaded.stderr


def test_after_two_failures_the_server_compiles_itself_and_says_so(cache, monkeypatch, capfd):
    monkeypatch.setattr(background, "COMMAND", [sys.executable, "-c", "raise SystemExit(3)"])
    server = Background()
    server.take_over()
    server.visited()
    wait(lambda: server.trouble)
    kept.on_miss("features.columns.some_routine")
    assert (server.passes, server.progress()) == (2, None)
    assert background.TROUBLE in capfd.readouterr().err


def test_two_servers_at_once_compile_once(cache):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL}
    both = [subprocess.Popen(COMMAND, **pipes) for _ in range(2)]
    try:
        wait(lambda: any(process.poll() is not None for process in both))
        made = code_files(cache)
        assert [process.wait(timeout=SECONDS) for process in both] == [0, 0]
    finally:
        for process in both:
            process.kill()
            process.stdin.close()
            process.wait()
    assert made == code_files(cache)  # nothing was written twice
    assert leftovers(cache) == []


def test_the_process_ends_with_the_server(cache):
    server = subprocess.Popen(
        [sys.executable, "-c", f"""
import subprocess, time
process = subprocess.Popen({[*COMMAND[:2], 'import time; from labseq_core.compiling import ahead; '
                             'ahead.prepare = lambda: time.sleep(600); ahead.main()', COMMAND[-1]]!r}, stdin=subprocess.PIPE)
print(process.pid, flush=True)
time.sleep(600)"""],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    compiling = int(server.stdout.readline())
    wait(lambda: any(cache.rglob("everything.lock")))
    assert not has_ended(compiling)
    server.kill()
    server.wait()
    server.stdout.close()
    wait(lambda: has_ended(compiling))


def has_ended(process: int) -> bool:
    """A process whose parent has died may stay as a zombie where nobody collects it."""
    status = Path(f"/proc/{process}/stat")
    try:
        return status.read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True
