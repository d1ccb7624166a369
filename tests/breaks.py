"""Whether the quick tests notice faults: each break of `breaks_list` is made in a copy of the tree, and its tests are run.

    python -m tests.breaks [NAME ...] [--jobs N] [--limit SECONDS] [--list]

Noticed means that a test fails with the break and passes without. Ends with 1 if any break is not noticed.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from labseq_core.compiling.code_cache import code_directory
from tests.breaks_list import BREAKS, Break

ROOT = Path(__file__).resolve().parent.parent
QUICK = "not slow and not packaging"
LIMIT = 600.0  # seconds for the tests of one break
NOTICED, STALE = "noticed", "stale"
_NOTHING_COLLECTED = 5  # pytest says


@dataclass(frozen=True)
class Outcome:
    broken: Break
    state: str  # noticed, NOT noticed, timed out, stale, fails anyway, no tests, or how pytest itself ended
    seconds: float = 0.0
    by: str = ""  # the test that noticed

    @property
    def line(self) -> str:
        return f"{self.broken.name:30} {self.state:12} {self.seconds:5.0f} s  {self.by}"


class Copy:
    """A tree of its own, in which one break at a time is made and taken back."""

    def __init__(self, place: Path):
        self.tree, self.scratch = place / "tree", place / "pytest"
        names = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        for name in subprocess.run(names, cwd=ROOT, capture_output=True, check=True, text=True).stdout.split("\0"):
            source, target = ROOT / name, self.tree / name
            if name and source.is_file():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, target)
        # Machine code of the whole tree, and none of a broken one in the user's own cache.
        self.cache = place / "cache"
        if (code := code_directory()) is not None:
            shutil.copytree(code, self.cache / code.name, copy_function=os.link)

    def attempt(self, broken: Break, limit: float) -> Outcome:
        """Make a break and run its tests. The one that fails has to fail again, when the compiler is done, and to pass when the
        break is taken back.
        """
        file, begin = self.tree / broken.file, time.monotonic()
        if occurrences(broken, self.tree) != 1:
            return Outcome(broken, STALE)
        whole = file.read_text(encoding="utf-8")
        file.write_text(whole.replace(broken.old, broken.new), encoding="utf-8")
        try:
            state, by = self._tested([f"tests/{path}" for path in broken.tests.split()], limit)
            if state == NOTICED:
                state, by = self._tested([by], limit)
        finally:
            file.write_text(whole, encoding="utf-8")
        if state == NOTICED and self._tested([by], limit)[0] != "NOT noticed":
            state = "fails anyway"
        return Outcome(broken, state, time.monotonic() - begin, by)

    def _tested(self, paths: list[str], limit: float) -> tuple[str, str]:
        shutil.rmtree(self.scratch, ignore_errors=True)
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:xdist", "--tb=no", "-m", QUICK]
        command += ["-o", f"cache_dir={self.scratch}", *paths]
        # Processes that tests start must not find the tree that is installed in this environment.
        environment = os.environ | {"PYTHONPATH": str(self.tree), "CI": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        environment["LABSEQ_CACHE_DIR"] = str(self.cache)
        mirror = ROOT.parent / "shared" / "data"
        if mirror.is_dir():
            environment.setdefault("LABSEQ_DATA_MIRROR", str(mirror))
        process = subprocess.Popen(
            command, cwd=self.tree, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
        try:
            code = process.wait(limit)
        except subprocess.TimeoutExpired:
            return "timed out", ""
        finally:
            _end(process)
        if code == 0:
            return "NOT noticed", ""
        failed = self.scratch / "v" / "cache" / "lastfailed"
        found = list(json.loads(failed.read_text(encoding="utf-8"))) if failed.is_file() else []
        if found:
            return NOTICED, found[0]
        return "no tests" if code == _NOTHING_COLLECTED else f"pytest {code}", ""


def _end(process: subprocess.Popen) -> None:
    """All that is left of a test process and of those that it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def occurrences(broken: Break, root: Path = ROOT) -> int:
    """How often the text that a break replaces stands in its file."""
    file = root / broken.file
    return file.read_text(encoding="utf-8").count(broken.old) if file.is_file() else 0


def run(chosen: list[Break], jobs: int, limit: float) -> list[Outcome]:
    with tempfile.TemporaryDirectory(prefix="labseq-breaks-") as place, ThreadPoolExecutor(jobs) as pool:
        copies: queue.SimpleQueue[Copy] = queue.SimpleQueue()
        for number in range(jobs):
            copies.put(Copy(Path(place) / str(number)))

        def attempt(broken: Break) -> Outcome:
            copy = copies.get()
            try:
                outcome = copy.attempt(broken, limit)
            finally:
                copies.put(copy)
            print(outcome.line, file=sys.stderr, flush=True)
            return outcome

        return list(pool.map(attempt, chosen))


def table(outcomes: list[Outcome]) -> str:
    """As Markdown, with a count below."""
    lines = ["| break | was once fixed by | outcome | by | seconds |", "|---|---|---|---|---|"]
    for outcome in outcomes:
        broken = outcome.broken
        lines.append(f"| {broken.name} | {broken.fixed_by} | {outcome.state} | {outcome.by} | {outcome.seconds:.0f} |")
    counts = Counter(outcome.state for outcome in outcomes)
    said = ", ".join(f"{number} {state}" for state, number in counts.most_common())
    return "\n".join([*lines, "", f"{len(outcomes)} breaks: {said}."])


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.breaks", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these breaks, or all of a file or folder")
    parser.add_argument("--jobs", type=int, default=1, help="so many at a time")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds for the tests of one break")
    parser.add_argument("--list", action="store_true", help="say what there is, and do nothing")
    options = parser.parse_args()
    chosen = [
        broken
        for broken in BREAKS
        if not options.names or broken.name in options.names or broken.file.startswith(tuple(options.names))
    ]
    if not chosen:
        parser.error(f"no break is called or touches {' '.join(options.names)}; --list names them")
    if options.list:
        for broken in chosen:
            print(f"{broken.name:30} {broken.file}: {broken.harm}")
        return 0
    outcomes = run(chosen, options.jobs, options.limit)
    print(table(outcomes))
    return int(any(outcome.state != NOTICED for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
