"""Compiling beside a server: a process of low priority makes what is missing, and the server itself refuses to compile, since
all its visitors would wait. Where no process can do it, the server does it after all, and says so.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from typing import NamedTuple

from labseq_core.compiling import code_cache
from labseq_core.places import private_directory
from labseq_core.warm_up import ahead

AFTER_VISIT = 1.5  # seconds for the first visitor's browser to draw the first page before compiling takes a core
WITHOUT_VISIT = 10.0
FAILURES = 2  # processes that may fail
PASSES = 6  # processes in all, even if files keep disappearing
COMMAND = [sys.executable, "-m", "labseq_core.warm_up.ahead"]
TROUBLE = (
    "LabSeq could not compile in the background, so a view may take up to a minute when it is first opened. The server log "
    "says why; LABSEQ_CACHE_DIR may name another directory for compiled code."
)


class Progress(NamedTuple):
    title: str  # of the part that is being made
    done: int  # parts that are there
    total: int


class Background:
    """One for a server. `take_over` comes before the first page; `visited` may be called after every page."""

    def __init__(self) -> None:
        self.trouble: str | None = None  # why the server compiles itself
        self.process: subprocess.Popen | None = None
        self.passes = 0
        self._failures = 0
        self._asked: set[str] = set()  # routines that were missing after everything had been made
        self._complete = False  # everything was there
        self._lock = threading.RLock()
        self._was_visited = False

    def take_over(self) -> None:
        """From now on this process compiles nothing; the other begins soon, whether anybody visits or not."""
        if code_cache.code_directory() is None:
            self._give_up()
            return
        code_cache.on_miss = self._missed
        self._begin_after(WITHOUT_VISIT)

    def visited(self) -> None:
        """A page has been delivered. Only the first counts."""
        if self._was_visited or self.trouble is not None:
            return
        with self._lock:
            if not self._was_visited:
                self._was_visited = True
                self._begin_after(AFTER_VISIT)

    def progress(self) -> Progress | None:
        """None: there is nothing to wait for. Costs nothing once everything is there."""
        if self._complete or self.trouble is not None:
            return None
        with self._lock:
            ready = ahead.ready_parts()
            missing = [name for name in ahead.PARTS if name not in ready]
            if self._has_ended_well() or not (missing or self._is_at_work()):
                self._complete = True
                return None
        title = ahead.PARTS[missing[0]].title if missing else "the last routines"
        return Progress(title, len(ready), len(ahead.PARTS))

    def _begin_after(self, seconds: float) -> None:
        timer = threading.Timer(seconds, self._begin)
        timer.daemon = True
        timer.start()

    def _begin(self) -> None:
        with self._lock:
            if self.passes == 0 and self.progress() is not None:
                self._launch()

    def _launch(self) -> None:
        self.passes += 1
        self._complete = False
        try:
            private_directory(code_cache.code_directory())  # it may have been deleted
            # Its input closes when this process ends, however that happens: it ends too. Ctrl+C is not for it.
            self.process = subprocess.Popen(
                COMMAND, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True
            )
        except OSError as problem:
            print(f"labseq: no process can be started to compile: {problem}", file=sys.stderr, flush=True)
            self._give_up()
            return
        if hasattr(os, "setpriority"):  # before it loads anything
            with contextlib.suppress(OSError):  # the server itself may have less priority than that
                os.setpriority(os.PRIO_PROCESS, self.process.pid, ahead.NICENESS)
        threading.Thread(target=self._wait, args=(self.process,), name="labseq-compiling", daemon=True).start()

    def _wait(self, process: subprocess.Popen) -> None:
        code = process.wait()
        process.stdin.close()
        with self._lock:
            if code == 0:
                return
            self._failures += 1
            print(f"labseq: the process that compiles ended with {code}", file=sys.stderr, flush=True)
            if self._failures < FAILURES and self.passes < PASSES:
                self._launch()
            else:
                self._give_up()

    def _is_at_work(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def _has_ended_well(self) -> bool:
        return self.process is not None and self.process.poll() == 0

    def _give_up(self) -> None:
        code_cache.on_miss = code_cache.tell_once
        print(f"labseq: {TROUBLE}", file=sys.stderr, flush=True)
        self.trouble = TROUBLE

    def _missed(self, routine: str) -> None:
        """What `code_cache` calls: a page needs a routine without machine code."""
        with self._lock:
            if self._complete or self._has_ended_well():
                # Files have vanished, are damaged, or could not be written; or this one came just now, then the pass is short.
                if routine in self._asked or self.passes >= PASSES:
                    print(f"labseq: the server compiles {routine} itself", file=sys.stderr, flush=True)
                    return
                self._asked.add(routine)
                ahead.forget()
                self._launch()
            if self.trouble is not None:
                return
        raise code_cache.NotCompiledYet(routine)


of_server: Background | None = None  # in a server that `labseq app` has started
