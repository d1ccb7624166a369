"""Files from strangers are read in a process of its own, whose time and memory are watched: what goes wrong there, however
badly, costs nobody else anything.

The child reads one request as JSON from standard input and writes messages as JSON lines to standard output. Files are
passed by their paths. The child is ended when the caller is interrupted, and ends by itself when the caller dies.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from labseq_core.checks import LabSeqError

AT_ONCE = 2  # processes of this kind; further callers wait
_LOOK_EVERY = 0.1  # seconds between two looks at memory, time and the caller's wish to go on
_places = threading.BoundedSemaphore(AT_ONCE)

Tell = Callable[[float, str], object]  # how far it is (0 to 1) and what is being done; may raise to cancel


@dataclass(frozen=True)
class Limits:
    """What the process may take. what: what it reads, for messages; fix: what to do when it takes more."""

    seconds: float
    megabytes: int
    what: str = "the file"
    fix: str = "give a smaller file"


def call_guarded(function: Callable[..., Any], limits: Limits, tell: Tell | None = None, **arguments: Any) -> Any:
    """function(tell, **arguments) in a process of its own; arguments and result must be JSON.

    function: a module's own, found there by name. tell: is told ten times a second; what it raises ends the process.
    """
    tell = tell or (lambda fraction, text: None)
    with _place(tell), _started(function, limits, arguments) as (process, messages):
        until, now = time.monotonic() + limits.seconds, (0.0, f"Reading {limits.what}")
        while True:
            tell(*now)
            if time.monotonic() > until:
                raise LabSeqError(f"{limits.what} takes longer than {limits.seconds:g} s to read; {limits.fix}")
            if (taken := _resident_megabytes(process.pid)) > limits.megabytes:
                raise _too_much_memory(limits, taken)
            try:
                message = messages.get(timeout=_LOOK_EVERY)
            except queue.Empty:
                continue
            if "progress" in message:
                now = (float(message["progress"]), str(message["text"]))
            elif "error" in message:
                raise LabSeqError(str(message["error"]))
            elif message.get("memory"):
                raise _too_much_memory(limits, limits.megabytes)
            elif "result" in message:
                return message["result"]
            else:  # it ended without an answer
                raise LabSeqError(f"reading {limits.what} failed; it may be damaged. {limits.fix.capitalize()}")


def _too_much_memory(limits: Limits, taken: float) -> LabSeqError:
    return LabSeqError(
        f"{limits.what} takes more than {limits.megabytes:,} MB of memory to read ({taken:,.0f} MB); {limits.fix}"
    )


@contextlib.contextmanager
def _place(tell: Tell) -> Iterator[None]:
    while not _places.acquire(timeout=_LOOK_EVERY):
        tell(0.0, "Waiting for other files to be read")
    try:
        yield
    finally:
        _places.release()


@contextlib.contextmanager
def _started(
    function: Callable[..., Any], limits: Limits, arguments: dict[str, Any]
) -> Iterator[tuple[subprocess.Popen, queue.SimpleQueue[dict]]]:
    request = {
        "function": [function.__module__, function.__qualname__], "arguments": arguments, "limits": asdict(limits),
    }  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, "-m", __name__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    )
    assert process.stdin
    assert process.stdout
    messages: queue.SimpleQueue[dict] = queue.SimpleQueue()
    reader = threading.Thread(target=_read, args=(process.stdout, messages), daemon=True)
    reader.start()
    try:
        with contextlib.suppress(OSError):  # a child that has died already is noticed by its reader
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
        yield process, messages
    finally:
        process.kill()
        process.wait()
        reader.join()
        process.stdout.close()
        with contextlib.suppress(OSError):
            process.stdin.close()


def _read(stdout: IO[str], messages: queue.SimpleQueue[dict]) -> None:
    """What the child says, until it ends; a line that is cut off is none."""
    for line in stdout:
        with contextlib.suppress(ValueError):
            messages.put(json.loads(line))
    messages.put({})


def _resident_megabytes(process_id: int) -> float:
    """0 where the system does not say; there the child's own limit is all there is."""
    try:
        return int(Path(f"/proc/{process_id}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
    except (OSError, ValueError, IndexError, AttributeError):
        return 0.0


def main() -> None:
    """The child."""
    messages = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what libraries print must not get among the messages

    def send(**message: Any) -> None:
        messages.write(json.dumps(message) + "\n")
        messages.flush()

    if hasattr(os, "nice"):
        os.nice(10)  # the pages come first
    request = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_the_caller, daemon=True).start()
    module, name = request["function"]
    try:
        function = getattr(importlib.import_module(module), name)
        _limit_memory(request["limits"]["megabytes"])
        result = function(lambda fraction, text: send(progress=fraction, text=text), **request["arguments"])
        send(result=result)
    except LabSeqError as problem:
        send(error=str(problem))
    except MemoryError:
        send(memory=True)


def _end_with_the_caller() -> None:
    sys.stdin.read()
    os._exit(1)


def _limit_memory(megabytes: int) -> None:
    """Where the system can: more is refused to this process, from what it has now on."""
    try:
        import resource
    except ImportError:  # Windows
        return
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_DATA, (megabytes << 20, megabytes << 20))


if __name__ == "__main__":
    main()
