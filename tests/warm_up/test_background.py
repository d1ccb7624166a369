"""Compiling beside a server, in real processes, on the smallest part that there is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from labseq_core.compiling import code_cache
from labseq_core.warm_up import ahead, background
from labseq_core.warm_up.background import Background

SECONDS = 120  # a loaded machine
SMALL = "features"
# What the server starts, with the smallest part only.
RUN = f"""
from labseq_core.warm_up import ahead
ahead.PARTS, ahead.NICENESS = {{{SMALL!r}: ahead.PARTS[{SMALL!r}]}}, 0
ahead.main()
"""
COMMAND = [sys.executable, "-c", RUN]


@pytest.fixture
def cache(tmp_path) -> Iterator[Path]:
    """An empty cache directory for this process and those that it starts, and the smallest part only."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LABSEQ_CACHE_DIR", str(tmp_path / "cache"))
        patch.delenv(code_cache.PRIVATE_VARIABLE, raising=False)
        patch.setattr(ahead, "PARTS", {SMALL: ahead.PARTS[SMALL]})
        patch.setattr(ahead, "NICENESS", 0)  # the other tests do not come first
        patch.setattr(background, "COMMAND", COMMAND)
        patch.setattr(background, "AFTER_VISIT", 0.01)
        patch.setattr(background, "WITHOUT_VISIT", 1000.0)
        patch.setattr(code_cache, "on_miss", code_cache.on_miss)
        code_cache.code_directory.cache_clear()
        yield tmp_path / "cache"
    code_cache.code_directory.cache_clear()


@pytest.fixture
def server(cache) -> Iterator[Background]:
    """What a server has of it; its process ends with the test."""
    started = Background()
    started.take_over()
    yield started
    started.passes = background.PASSES  # no further one
    if started.process is not None:
        started.process.kill()
        started.process.wait()


def wait(reached: Callable[[], object]) -> None:
    give_up = time.monotonic() + SECONDS
    while not reached():
        assert time.monotonic() < give_up, f"not reached in {SECONDS} s"
        time.sleep(0.05)


def code_files(cache: Path) -> dict[str, int]:
    """By name; a file that is written again has another number."""
    return {path.name: path.stat().st_ino for path in cache.rglob("*.code")}


def leftovers(cache: Path) -> list[str]:
    return [
        path.name for path in cache.rglob("*") if path.is_file() and path.suffix not in (".code", ".ready", ".lock")
    ]


def by_another(code: str, **environment: str) -> subprocess.CompletedProcess:
    own = {name: value for name, value in os.environ.items() if name != code_cache.PRIVATE_VARIABLE} | environment
    return subprocess.run([sys.executable, "-c", code], env=own, capture_output=True, text=True, timeout=SECONDS)


def test_everything_is_made_once_and_what_vanishes_is_made_again(cache, server):
    assert server.progress() == (ahead.PARTS[SMALL].title, 0, 1)
    with pytest.raises(code_cache.NotCompiledYet):
        code_cache.on_miss("features.columns.some_routine-0123")
    assert server.passes == 0  # nothing begins before the first page
    for _ in range(3):
        server.visited()
    wait(lambda: server.process)
    with pytest.raises(code_cache.NotCompiledYet):
        code_cache.on_miss("features.columns.some_routine-0123")
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
    routine = damaged.name.rpartition("-")[0]
    code_cache.on_miss = server._missed
    with pytest.raises(code_cache.NotCompiledYet):
        code_cache.on_miss(routine)
    wait(lambda: server.progress() is None)
    again = code_files(cache)
    assert [name for name in made if again[name] != made[name]] == [damaged.name]
    assert damaged.stat().st_size > 100

    # Still missing after that: a page must not wait for ever, so the server compiles it.
    code_cache.on_miss(routine)
    assert (server.passes, server.trouble) == (2, None)


def test_a_directory_that_was_deleted_is_made_again(cache, server):
    server._complete = True
    code_cache.code_directory().rmdir()
    with pytest.raises(code_cache.NotCompiledYet):
        code_cache.on_miss("features.columns.some_routine-0123")
    wait(lambda: server.progress() is None)
    assert code_files(cache)


def test_a_process_that_is_killed_leaves_nothing_half_made_and_the_next_one_completes(cache, server, monkeypatch):
    """It is killed when it has written a file that it has not yet put in place."""
    stops = "import os, time\nos.replace = lambda *names: time.sleep(600)\n"
    monkeypatch.setattr(background, "COMMAND", [*COMMAND[:2], stops + RUN])
    server.visited()
    wait(lambda: leftovers(cache))
    first = server.process
    assert code_files(cache) == {}
    monkeypatch.setattr(background, "COMMAND", COMMAND)
    first.send_signal(signal.SIGKILL)
    wait(lambda: server.passes == 2)
    wait(lambda: server.progress() is None)
    assert first.returncode == -signal.SIGKILL
    assert (server.passes, server.trouble) == (2, None)
    loaded = by_another(
        "from labseq_core.compiling import code_cache; from labseq_core.warm_up import ahead\n"
        "code_cache.on_miss = exit; ahead.PARTS['features'].make()"
    )
    assert loaded.returncode == 0, loaded.stderr


def test_after_two_failures_the_server_compiles_itself_and_says_so(server, monkeypatch, capfd):
    monkeypatch.setattr(background, "COMMAND", [sys.executable, "-c", "raise SystemExit(3)"])
    server.visited()
    wait(lambda: server.trouble)
    code_cache.on_miss("features.columns.some_routine-0123")
    assert (server.passes, server.progress()) == (2, None)
    assert background.TROUBLE in capfd.readouterr().err


def test_a_server_of_low_priority_compiles_too(server, monkeypatch):
    def may_not(*arguments) -> None:
        raise PermissionError("only lower")

    monkeypatch.setattr(background.os, "setpriority", may_not)
    server.visited()
    wait(lambda: server.passes and server.progress() is None)
    assert server.trouble is None


def test_two_servers_and_a_command_at_once_compile_once(cache):
    """Each says what it compiles; none says what another has said."""
    tell = "lambda routine: print(routine, flush=True)"
    say = f"from labseq_core.compiling import code_cache\ncode_cache.say_nothing = code_cache.tell_once = {tell}\n"
    quietly = "code_cache.on_miss = code_cache.say_nothing\nfrom labseq_core.warm_up import ahead\n"
    command = f"{say}{quietly}ahead.prepare([{SMALL!r}])"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with ExitStack() as afterwards:
        every = [subprocess.Popen([sys.executable, "-c", code], **pipes) for code in (say + RUN, say + RUN, command)]
        for process in every:
            afterwards.enter_context(process)
            afterwards.callback(process.kill)
        compiled = [line for process in every for line in process.stdout]  # its input stays open until it ends
        assert [process.wait(timeout=SECONDS) for process in every] == [0, 0, 0]
    assert len(compiled) == len(set(compiled)) == len(code_files(cache)) > 0
    assert leftovers(cache) == []


def test_the_process_ends_with_the_server(cache):
    server = subprocess.Popen(
        [sys.executable, "-c", f"""
import subprocess, time
process = subprocess.Popen({[*COMMAND[:2], 'import time; from labseq_core.warm_up import ahead; '
                             'ahead.prepare = lambda: time.sleep(600); ahead.main()']!r}, stdin=subprocess.PIPE)
print(process.pid, flush=True)
time.sleep(600)"""],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        compiling = int(server.stdout.readline())
        wait(lambda: any(cache.rglob("everything.lock")))
        assert not has_ended(compiling)
    finally:
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
