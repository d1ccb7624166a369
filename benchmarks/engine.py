"""What the experiment engine costs: beside the same tasks done by hand, for a question asked again, and for long lists.

    labseq bench engine                          # all parts; some minutes
    labseq bench engine --part overhead --dataset parity --folds 5
    labseq bench engine --part list --runs 10000 --json

overhead: ten methods in five folds, by the command `labseq compare`, and by a fresh process that performs the same tasks one
after another; they take turns. Both load compiled code from the cache, which is filled first.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.measuring import at_least_one, print_report, say
from labseq_core.cli import OneLineParser
from labseq_core.data.catalogue import list_datasets
from labseq_core.experiments import ExperimentConfig, MethodChoice, list_runs, submit
from labseq_core.experiments.bundled.defaults import FEATURES
from labseq_core.experiments.service import close_engines, run_row
from labseq_core.experiments.store.run_store import RunStore
from labseq_core.warm_up import ahead

PARTS = ("overhead", "again", "list")
METHODS = (
    MethodChoice("hmm"), MethodChoice("naive-bayes"), MethodChoice("maxent"), MethodChoice("perceptron"), MethodChoice("crf"),
    MethodChoice("crf-marginal"), MethodChoice("exp", {"length_decay": 0.5}), MethodChoice("hmsvm"), MethodChoice("gps"),
    MethodChoice("boost", {"rounds": 100, "length_decay": 0.5}),
)  # fmt: skip
BY_HAND = """
import json, sys
from labseq_core.experiments import ExperimentConfig
from labseq_core.experiments.run.executors.perform import perform
from labseq_core.experiments.plan.tasks import tasks_of
from labseq_core.experiments.store.versions import versions
config = json.loads(sys.argv[1])
for number in range(len(tasks_of(ExperimentConfig.from_dict(config)))):
    job = {"config": config, "task": number, "chosen": None, "versions": versions(), "upload": None}
    perform(job, lambda event: None, lambda: False)
"""


def seconds_of(way: str, config: ExperimentConfig) -> float:
    """Of a fresh process with a fresh store."""
    text = json.dumps(config.to_dict())
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "config.json"
        file.write_text(text, encoding="utf-8")
        words = {"hand": ["-c", BY_HAND, text], "engine": ["-m", "labseq_core.cli", "compare", str(file)]}[way]
        environment = {**os.environ, "LABSEQ_STORE": str(Path(folder) / "runs.sqlite")}
        began = time.perf_counter()
        subprocess.run([sys.executable, *words], env=environment, check=True, capture_output=True)
        return time.perf_counter() - began


def overhead(datasets: Sequence[str], folds: int, repeats: int) -> list[dict]:
    rows = []
    for name in datasets:
        config = ExperimentConfig(name, METHODS, *([FEATURES[name]] if name in FEATURES else []), folds=folds)
        found = {"hand": [], "engine": []}
        for turn in range(repeats):
            say(f"{name}, turn {turn + 1} of {repeats}")
            for way in found:
                found[way].append(seconds_of(way, config))
        best = {way: min(times) for way, times in found.items()}
        rows.append(
            {"dataset": name, "tasks": len(METHODS) * folds, **found, "overhead": best["engine"] / best["hand"] - 1}
        )
    return rows


def again(repeats: int = 20) -> dict:
    """A question whose answer is in the store."""
    config = ExperimentConfig("spanish-ner", (MethodChoice("hmm"),))
    store, run_id = RunStore(), submit(config)
    while store.get(run_id)["state"] != "done":
        time.sleep(0.05)
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        assert submit(config) == run_id
        times.append(time.perf_counter() - began)
    return {"median_seconds": statistics.median(times), "worst_seconds": max(times)}


def long_list(n_runs: int) -> dict:
    """A store with many finished runs, each with a result as long as that of three methods in five folds."""
    config = ExperimentConfig("spanish-ner", METHODS[:3], folds=5)
    row = {**run_row(config), "state": "done", "metrics": {"rows": [{"accuracy": 0.5, "text": "x" * 500}] * 15}}
    store = RunStore()
    say(f"writing {n_runs} runs")
    with store._connection() as connection:
        for number in range(n_runs):
            dataset = "parity" if number % 7 else "spanish-ner"
            store._insert_run(
                connection, {**row, "id": f"run-{number}", "created": float(number), "dataset": dataset}, []
            )
    found = {"runs": n_runs, "megabytes": store.path.stat().st_size / 2**20}
    ways = {
        "all": {"limit": n_runs}, "page": {"limit": 50}, "last page": {"limit": 50, "skip": n_runs - 50},
        "by corpus and method": {"limit": n_runs, "dataset": "spanish-ner", "method": "hmm"}, "by text": {"text": "n-99"},
    }  # fmt: skip
    for name, options in ways.items():
        began = time.perf_counter()
        listed = list_runs(**options)
        found[name] = {"seconds": time.perf_counter() - began, "found": len(listed)}
    return found


def run(options: argparse.Namespace) -> dict:
    parts, report = options.part or PARTS, {"cores": os.cpu_count()}
    bundled = [info.name for info in list_datasets() if info.bundled]
    if "overhead" in parts:
        say("compiling what is not compiled yet")
        for choice in METHODS:
            ahead.load(choice.method)
        report["overhead"] = overhead(options.dataset or bundled, options.folds, options.repeats)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        if "again" in parts:
            os.environ["LABSEQ_STORE"] = str(Path(folder) / "again" / "runs.sqlite")
            report["again"] = again()
            close_engines()  # before its folder goes
        if "list" in parts:
            os.environ["LABSEQ_STORE"] = str(Path(folder) / "list" / "runs.sqlite")
            report["list"] = long_list(options.runs)
    return report


def show(report: dict) -> None:
    if "overhead" in report:
        print("| corpus | tasks | by hand, s | by the engine, s | overhead |\n|---|---|---|---|---|")
        for row in report["overhead"]:
            times = [" ".join(f"{value:.1f}" for value in row[way]) for way in ("hand", "engine")]
            print(f"| {row['dataset']} | {row['tasks']} | {times[0]} | {times[1]} | {row['overhead']:+.1%} |")
        hand, engine = (sum(min(row[way]) for row in report["overhead"]) for way in ("hand", "engine"))
        print(f"| all | | {hand:.1f} | {engine:.1f} | {engine / hand - 1:+.1%} |")
    if "again" in report:
        times = report["again"]
        print(
            f"\nthe same question again: median {times['median_seconds']:.4f} s, worst {times['worst_seconds']:.4f} s"
        )
    if "list" in report:
        found = report["list"]
        print(f"\n{found['runs']} runs, {found['megabytes']:.0f} MB:")
        for name, each in found.items():
            if isinstance(each, dict):
                print(f"  {name}: {each['found']} runs in {each['seconds']:.3f} s")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = OneLineParser(prog="labseq bench engine", description="What the experiment engine costs.")
    parser.add_argument("--part", action="append", choices=PARTS, help="only this part; may be given again")
    parser.add_argument(
        "--dataset", action="append", help="of part overhead (default: all bundled); may be given again"
    )
    parser.add_argument("--folds", type=at_least_one, default=5, help="default 5")
    parser.add_argument("--repeats", type=at_least_one, default=2, help="turns of part overhead (default 2)")
    parser.add_argument("--runs", type=at_least_one, default=10_000, help="of part list (default 10000)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(arguments)
    print_report(run(options), show, options.json)


if __name__ == "__main__":
    main()
