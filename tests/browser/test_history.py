"""Runs outlive pages, visitors and servers; and the list of them, in a real browser."""

from __future__ import annotations

import csv
import re
import subprocess
import time
import zipfile
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from labseq_core.experiments import MethodChoice, export_run
from labseq_core.experiments.store.run_store import RunStore
from tests.browser.access import expect_accessible
from tests.browser.conftest import Watched
from tests.browser.elements import CELL, Element
from tests.browser.server import Dashboard, settle
from tests.experiments.runs import finished_run, quick, trained_here
from tests.experiments.zip_files import changed

pytestmark = pytest.mark.browser

SECONDS_TO_TRAIN = 60  # routines may have to be compiled first
MILLISECONDS_TO_DOWNLOAD = 60_000
# Bounds are generous, since tests run beside other work; what was measured is printed.
SECONDS_TO_RUNNING, SECONDS_TO_CANCEL = 10.0, 20.0
ENDLESS = "/train?dataset=spanish-ner&variant=crf:max_iter=100000:tol=0:l2=0.000001&folds=10"
LONG = "/train?dataset=pitch-accent&variant=crf&variant=perceptron:epochs={epochs}&folds=3"


@pytest.fixture
def page(new_tab: Callable[[], Watched]) -> Page:
    page = new_tab().page
    page.set_default_timeout(1000 * SECONDS_TO_TRAIN)
    return page


def opened(page: Page, server: Dashboard, path: str) -> Page:
    page.goto(server.address + path)
    settle(page)
    return page


def started(page: Page) -> tuple[str, float]:
    """Press the button; gives the run's id, and the seconds until the page shows that it is on its way."""
    begin = time.monotonic()
    page.get_by_role("button", name="Start training").click()
    page.get_by_role("button", name="Cancel").wait_for()
    seconds = time.monotonic() - begin
    page.wait_for_url(re.compile("job="))
    return parse_qs(urlsplit(page.url).query)["job"][0], seconds


def finished_tasks(server: Dashboard, run_id: str) -> dict[int, dict]:
    tasks = RunStore(server.store).tasks(run_id, outcomes=True)
    return {task["number"]: task["outcome"] for task in tasks if task["state"] == "done"}


def wait_for(reached, what: str) -> None:
    give_up = time.monotonic() + SECONDS_TO_TRAIN
    while not reached():
        assert time.monotonic() < give_up, what
        time.sleep(0.05)


def test_a_run_is_found_after_a_reload_and_cancelled(page, server):
    opened(page, server, ENDLESS)
    run_id, seconds = started(page)
    print(f"click to running: {seconds:.2f} s")
    assert seconds < SECONDS_TO_RUNNING
    wait_for(lambda: RunStore(server.store).get(run_id)["state"] == "running", "the run did not begin")

    page.reload()
    page.get_by_role("button", name="Cancel").wait_for()
    assert parse_qs(urlsplit(page.url).query)["job"] == [run_id]
    at_work = RunStore(server.store)
    wait_for(lambda: any(task["iteration"] for task in at_work.tasks(run_id)), "the training did not begin")
    before = page.get_by_test_id(Element.PROGRESS).all_inner_texts()
    expect_accessible(page)
    wait_for(
        lambda: page.get_by_test_id(Element.PROGRESS).all_inner_texts() != before, "the page does not follow the run"
    )
    settle(page)

    begin = time.monotonic()
    page.get_by_role("button", name="Cancel").click()
    wait_for(lambda: RunStore(server.store).get(run_id)["state"] == "cancelled", "it was not cancelled")
    in_store = time.monotonic() - begin
    page.get_by_role("button", name="Go on").wait_for()
    seconds = time.monotonic() - begin
    print(f"cancel: {in_store:.2f} s until it stopped, {seconds:.2f} s until the page says so")
    assert seconds < SECONDS_TO_CANCEL


def test_a_run_outlives_the_server(page, server):
    opened(page, server, LONG.format(epochs=1500))
    run_id, _ = started(page)
    wait_for(lambda: len(finished_tasks(server, run_id)) >= 2, "nothing was finished")
    server.kill()
    before = finished_tasks(server, run_id)
    assert RunStore(server.store).get(run_id)["state"] == "dead"

    begin = time.monotonic()
    server.start()
    page.goto(f"{server.address}/train?job={run_id}")
    page.get_by_role("button", name="Cancel").or_(page.get_by_text("Finished.")).first.wait_for()
    print(f"from the start of the new server to a page with the run going on: {time.monotonic() - begin:.2f} s")
    now = RunStore(server.store).get(run_id)
    assert now["state"] in ("queued", "running", "done")
    after = finished_tasks(server, run_id)
    assert {number: after[number] for number in before} == before, "nothing that was finished is trained again"

    page.get_by_text("Finished.").wait_for()
    assert RunStore(server.store).get(run_id)["state"] == "done"
    assert len(finished_tasks(server, run_id)) == 6


def test_rows_are_chosen_and_taken_home(page, server, tmp_path):
    RunStore(server.store).insert(*finished_run(quick()))  # an older run, which stays
    opened(page, server, "/train?dataset=toy-pos&variant=hmm")
    page.keyboard.press("Control+Enter")
    page.get_by_text("Finished.").wait_for()
    run_id = parse_qs(urlsplit(page.url).query)["job"][0]

    opened(page, server, "/history")
    tick(page, 0)
    page.wait_for_url(re.compile(f"runs={run_id}"))
    page.get_by_role("heading", name="toy-pos: HMM").wait_for()
    page.get_by_role("button", name="Pin", exact=True).click()
    page.get_by_role("button", name="Unpin").wait_for()
    settle(page)
    with page.expect_download(timeout=MILLISECONDS_TO_DOWNLOAD) as download:
        page.get_by_role("button", name="Export").click()
    packed = tmp_path / "run.zip"
    download.value.save_as(packed)
    with zipfile.ZipFile(packed) as archive:
        assert {"config.yaml", "scores.csv", "predictions.csv"} <= set(archive.namelist())
    with page.expect_download(timeout=MILLISECONDS_TO_DOWNLOAD) as download:
        page.get_by_role("button", name="List as CSV").click()
    with open(download.value.path(), encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows[0]["run_id"] == run_id
    with page.expect_download(timeout=MILLISECONDS_TO_DOWNLOAD) as download:
        page.get_by_role("button", name="Scores as CSV").first.click()  # of the list, not of the chosen run
    with open(download.value.path(), encoding="utf-8", newline="") as file:
        assert run_id in {row["run_id"] for row in csv.DictReader(file)}

    page.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Delete this run").click()
    page.get_by_role("heading", name="toy-pos: HMM").wait_for(state="detached")
    assert RunStore(server.store).get(run_id) is None

    page.get_by_text("Import a run").click()
    page.locator("input[type=file]").set_input_files(packed)
    page.get_by_text("run.zip").wait_for()
    page.get_by_role("button", name="Import", exact=True).click()
    page.get_by_test_id(Element.ALERT).filter(has_text=run_id).wait_for()
    page.get_by_role("heading", name="toy-pos: HMM").wait_for()
    page.reload()
    page.get_by_role("heading", name="toy-pos: HMM").wait_for()
    page.get_by_text("Imported, not recomputed.").wait_for()
    settle(page)
    expect_accessible(page)

    page.get_by_role("button", name="Change it and run again").click()
    page.get_by_role("heading", name="Train", exact=True).wait_for()
    settle(page)
    assert parse_qs(urlsplit(page.url).query)["variant"] == ["hmm"]


def test_an_import_is_cancelled(page, server, tmp_path, monkeypatch):
    """Of a file that takes long to check: a click ends the process that does it, and nothing is kept."""
    monkeypatch.setenv("LABSEQ_STORE", str(tmp_path / "elsewhere.sqlite"))
    packed = export_run(trained_here(quick(folds=0, sequences=12, methods=(MethodChoice("hmm"),))))

    def lengthen(about: dict, files: dict) -> None:
        many = ["a"] * 100_000
        about["tasks"][0]["outcome"]["examples"] = [{"tokens": many, "truth": many, "predicted": many}] * 30

    (tmp_path / "long.zip").write_bytes(changed(packed, lengthen))
    opened(page, server, "/history")
    page.get_by_text("Import a run").click()
    page.locator("input[type=file]").set_input_files(tmp_path / "long.zip")
    page.get_by_text("long.zip").wait_for()
    page.get_by_role("button", name="Import", exact=True).click()
    page.get_by_test_id(Element.PROGRESS).filter(has_text="Reading the file").wait_for()
    wait_for(lambda: "labseq_core.guarded_process" in processes(server), "no process reads the file")
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text("The import was cancelled; nothing of the file was kept.").wait_for()
    page.get_by_role("button", name="Cancel").wait_for(state="detached")
    assert "labseq_core.guarded_process" not in processes(server)
    assert RunStore(server.store).list() == []


def processes(server: Dashboard) -> str:
    """The commands of the server and of all that it has started."""
    listing = subprocess.run(["ps", "-wweo", "sid=,args="], capture_output=True, text=True, check=True).stdout
    own = [line for line in listing.splitlines() if int(line.split()[0]) == server.process.pid]
    return "\n".join(own)


def test_two_rows_are_compared(page, server):
    opened(page, server, "/history?find=default%3A")
    tick(page, 0)
    page.get_by_role("button", name="Compare", exact=True).wait_for()
    settle(page)
    tick(page, 1)
    page.get_by_role("heading", name="Two runs side by side").wait_for()
    settle(page)
    ids = parse_qs(urlsplit(page.url).query)["runs"][0].split(",")
    assert len(ids) == 2
    with page.expect_download(timeout=MILLISECONDS_TO_DOWNLOAD) as download:
        page.get_by_role("button", name="Configurations as CSV").click()
    with open(download.value.path(), encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows
    assert all(row["first"] != row["second"] for row in rows)
    page.get_by_role("button", name="Choose none").click()
    page.get_by_role("heading", name="Two runs side by side").wait_for(state="detached")
    assert "runs" not in parse_qs(urlsplit(page.url).query)


def tick(page: Page, row: int) -> None:
    """A row of the table, by keys; until the table shows it, as anybody waits before the next row."""
    table = page.get_by_test_id(Element.DATA_FRAME).first
    table.get_by_test_id(CELL.format(column=1, row=row)).focus()
    page.keyboard.press("Shift+Space")
    shown = table.locator("[role=row]").nth(row + 1)  # the first has the names of the columns
    expect(shown).to_have_attribute("aria-selected", "true")
