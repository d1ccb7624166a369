"""What visitors of the dashboard wait for: the first chart, clicks, the start of a training, other visitors.

    labseq bench dashboard                       # all parts; some minutes
    labseq bench dashboard --part clicks --json
    labseq bench dashboard --part users --users 30 --seconds 60
    labseq bench dashboard --part first --part views --cold

first: from `make run` to the first chart in a new browser profile. clicks: a tour of fifty clicks, by two visitors one after
the other, from the press to the frame in which the last change on the screen is painted, and on the whole page. train: from
the click to "running", the age of what is shown, and cancelling. users: visitors who click every three seconds, with and
without a training beside them. views: the first visit of every view, in the order of the pages, until it is drawn or says
that it is being prepared, and until nothing on it is being prepared any more. --cold: first and views with nothing compiled.
Needs the test tools (Playwright) and Chromium.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Browser, Page

from benchmarks.clicks import take_tour
from benchmarks.measuring import at_least_one, megabytes_of, print_report, say
from benchmarks.visitors import browse
from labseq_core.checks import LabSeqError
from labseq_core.cli import OneLineParser
from tests.app.views import VIEWS
from tests.browser.server import REPOSITORY, Dashboard, chromium, running_dashboard, settle, wait_until_it_answers

PARTS = ("first", "clicks", "train", "users", "views")
BEING_PREPARED, PATIENCE = re.compile("Preparing .*first start only"), 600  # seconds
CHART = ".js-plotly-plot .bars"
# Minutes of work on a corpus that comes with LabSeq.
LONG_TRAINING = "/train?dataset=spanish-ner&variant=crf&variant=perceptron:epochs=10000&folds=10"


def spread(values: Iterable[float]) -> dict:
    ordered = sorted(values)
    last = max(0, round(0.95 * len(ordered)) - 1)
    return {"n": len(ordered), "median": statistics.median(ordered), "p95": ordered[last], "worst": ordered[-1]}


def new_page(browser: Browser) -> Page:
    context = browser.new_context(viewport={"width": 1440, "height": 1000})
    context.set_default_timeout(60_000)
    return context.new_page()


def first_chart(browser: Browser, repeats: int, cold: bool) -> dict:
    """Seconds from the command to the chart; everything is installed and, unless `cold`, compiled."""
    found = []
    for turn in range(repeats):
        say(f"make run, turn {turn + 1} of {repeats}")
        page = new_page(browser)
        with _folder() as folder:
            environment = {**os.environ, "LABSEQ_STORE": str(Path(folder) / "runs.sqlite"), "DISPLAY": ""}
            if cold:
                environment["LABSEQ_CACHE_DIR"] = str(Path(folder) / "cache")
            began = time.perf_counter()
            server = subprocess.Popen(
                ["make", "run"], cwd=REPOSITORY, env=environment, text=True, start_new_session=True,
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            )  # fmt: skip
            try:
                line = next((line for line in server.stdout if "LabSeq is at" in line), None)
                if line is None:
                    raise LabSeqError("'make run' did not start the dashboard; run it by hand to see why")
                wait_until_it_answers(server, line.split()[3])  # a browser is opened then
                page.goto(line.split()[3])
                page.locator(CHART).first.wait_for()
                found.append(time.perf_counter() - began)
            finally:
                page.context.close()  # a server that is asked to end may wait for its visitors
                os.killpg(server.pid, signal.SIGTERM)
                server.wait()
    return {"seconds": found}


def clicks(browser: Browser, server: Dashboard) -> dict:
    visitors = []
    for _ in range(2):
        page = new_page(browser)
        visitors.append(take_tour(page, server.address))
        page.context.close()
    every = {what: spread(row[what] for rows in visitors for row in rows) for what in ("seen", "whole")}
    return {"visitors": visitors, "all": every, "megabytes": megabytes_of(server.process.pid)}


def times_of_messages(page: Page) -> list[float]:
    """When the server said something, from now on."""
    heard = []
    page.on("websocket", lambda line: line.on("framereceived", lambda _: heard.append(time.perf_counter())))
    return heard


def train(browser: Browser, server: Dashboard) -> dict:
    """Seconds to "running", between two looks at the run, and to "cancelled"; another seed each time."""
    found = {"running": [], "gaps": [], "cancelled": []}
    for seed in range(5):
        say(f"training and cancelling, turn {seed + 1} of 5")
        page = new_page(browser)
        heard = times_of_messages(page)
        page.goto(f"{server.address}{LONG_TRAINING}&seed={seed}")
        settle(page)
        began = time.perf_counter()
        page.get_by_role("button", name="Start training").click()
        page.get_by_role("progressbar").first.wait_for()
        found["running"].append(time.perf_counter() - began)
        page.wait_for_timeout(20_000 if seed == 0 else 3_000)
        looks = [moment for moment in heard if moment > began]
        found["gaps"].append(max(b - a for a, b in pairwise(looks)))
        began = time.perf_counter()
        page.get_by_role("button", name="Cancel").click()
        page.get_by_text("cancelled", exact=False).first.wait_for()
        found["cancelled"].append(time.perf_counter() - began)
        page.context.close()
    return found


def users(n_users: int, seconds: float) -> list[dict]:
    """Waits of visitors and the memory of the server: alone, then half of them beside a training."""
    with running_dashboard() as server:
        browse(server.address, 1, 5.0)  # somebody is always first: the server has loaded by then
        rows = [_users(server, n_users, seconds, "nothing")]
        with chromium() as browser:
            page = new_page(browser)
            page.goto(f"{server.address}{LONG_TRAINING}")
            settle(page)
            page.get_by_role("button", name="Start training").click()
            page.get_by_role("progressbar").first.wait_for()
        rows.append(_users(server, max(1, n_users // 2), seconds, "a training"))
    return rows


def _users(server: Dashboard, n_users: int, seconds: float, beside: str) -> dict:
    say(f"{n_users} visitors for {seconds:.0f} s beside {beside}")
    most, over = [0.0], threading.Event()

    def watch() -> None:
        while not over.wait(0.5):
            most[0] = max(most[0], megabytes_of(server.process.pid) or 0.0)

    threading.Thread(target=watch, daemon=True).start()
    waits = browse(server.address, n_users, seconds)
    over.set()
    return {
        "users": n_users, "beside": beside, "first": spread(waits.first), "later": spread(waits.later),
        "errors": waits.errors, "megabytes": most[0],
    }  # fmt: skip


def views(cold: bool) -> list[dict]:
    """First visits, each in a new tab; then, where a part is being prepared, the time until it is there."""
    rows, waiting = [], []
    with _folder() as folder, chromium() as browser:
        server = Dashboard(Path(folder), {"LABSEQ_CACHE_DIR": str(Path(folder) / "cache")} if cold else {})
        context = new_page(browser).context
        try:
            server.start()
            for page_name, choices in VIEWS:
                view = f"{page_name}?{urlencode(choices)}"
                say(view)
                page = context.new_page()
                began = time.perf_counter()
                page.goto(f"{server.address}/{view}")
                settle(page)
                row = {"view": view, "shown": time.perf_counter() - began, "complete": None}
                rows.append(row)
                if page.get_by_text(BEING_PREPARED).count():
                    waiting.append((row, page, began))
                else:
                    row["complete"] = row["shown"]
                    page.close()
                waiting = _still_waiting(waiting)
            give_up = time.perf_counter() + PATIENCE
            while waiting and time.perf_counter() < give_up:
                time.sleep(0.2)
                waiting = _still_waiting(waiting)
        finally:
            context.close()  # a server that is asked to end may wait for its visitors
            server.stop()
    return rows


def _still_waiting(waiting: list[tuple[dict, Page, float]]) -> list[tuple[dict, Page, float]]:
    """Note the time for those that have become complete."""
    left = []
    for row, page, began in waiting:
        if page.get_by_text(BEING_PREPARED).count():
            left.append((row, page, began))
        else:
            row["complete"] = time.perf_counter() - began
            page.close()
    return left


def _folder() -> tempfile.TemporaryDirectory:
    """A process that compiles may still write when its server has ended."""
    return tempfile.TemporaryDirectory(ignore_cleanup_errors=True)


def run(options: argparse.Namespace) -> dict:
    parts, report = options.part or PARTS, {"cores": os.cpu_count(), "cold": options.cold}
    if "first" in parts:
        with chromium() as browser:
            report["first"] = first_chart(browser, options.repeats, options.cold)
    if "views" in parts:
        report["views"] = views(options.cold)
    if "clicks" in parts or "train" in parts:
        with running_dashboard() as server, chromium() as browser:
            if "clicks" in parts:
                report["clicks"] = clicks(browser, server)
            if "train" in parts:
                report["train"] = train(browser, server)
    if "users" in parts:
        report["users"] = users(options.users, options.seconds)
    return report


def show(report: dict) -> None:
    if "first" in report:
        compiled = "nothing compiled" if report["cold"] else "everything compiled"
        print(
            f"make run to the first chart ({compiled}), s:",
            " ".join(f"{value:.2f}" for value in report["first"]["seconds"]),
        )
    if "views" in report:
        _show_views(report["views"], report["cold"])
    if "clicks" in report:
        print("| click | first visitor: screen, ms | page | second: screen | page |\n|---|---|---|---|---|")
        for both in zip(*report["clicks"]["visitors"]):
            times = " | ".join(f"{one['seen']:.0f} | {one['whole']:.0f}" for one in both)
            print(f"| {both[0]['click']} | {times} |")
        for what, title in (
            ("seen", "what is on the screen"),
            ("whole", "the whole page, what is below the screen too"),
        ):
            print(f"{title}: {_line(report['clicks']['all'][what], 1)} ms")
        print(f"server {report['clicks']['megabytes']:.0f} MB")
    if "train" in report:
        titles = {"running": 'click to "running"', "gaps": "longest between two looks", "cancelled": "cancel"}
        for name, title in titles.items():
            print(f"{title}, s:", " ".join(f"{value:.2f}" for value in report["train"][name]))
    for row in report.get("users", ()):
        print(f"{row['users']} users beside {row['beside']}: {_line(row['later'], 1000)} ms; opening links "
              f"{_line(row['first'], 1000)} ms; {row['errors']} errors; server {row['megabytes']:.0f} MB")  # fmt: skip


def _show_views(rows: list[dict], cold: bool) -> None:
    print("First visits in a server with nothing compiled" if cold else "First visits")
    print("| view | drawn or being prepared, s | complete, s |\n|---|---|---|")
    for row in rows:
        complete = "never" if row["complete"] is None else f"{row['complete']:.2f}"
        print(f"| {row['view']} | {row['shown']:.2f} | {complete} |")
    slowest = max(rows, key=lambda row: row["shown"])
    print(f"slowest: {slowest['view']}, {slowest['shown']:.2f} s")


def _line(found: dict, factor: float) -> str:
    times = (
        f"{title} {factor * found[name]:.0f}"
        for title, name in (("median", "median"), ("95 %", "p95"), ("worst", "worst"))
    )
    return f"{found['n']} times, " + ", ".join(times)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = OneLineParser(prog="labseq bench dashboard", description="What visitors of the dashboard wait for.")
    parser.add_argument("--part", action="append", choices=PARTS, help="only this part; may be given again")
    parser.add_argument("--repeats", type=at_least_one, default=3, help="of part first (default 3)")
    parser.add_argument(
        "--users", type=at_least_one, default=30, help="of part users (default 30; half beside training)"
    )
    parser.add_argument("--seconds", type=at_least_one, default=60, help="of each half of part users (default 60)")
    parser.add_argument("--cold", action="store_true", help="parts first and views with an empty cache directory")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(arguments)
    print_report(run(options), show, options.json)


if __name__ == "__main__":
    main()
