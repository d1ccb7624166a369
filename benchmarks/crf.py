"""Our CRF beside python-crfsuite: time, memory and tagging speed on the same attributes and the same objective.

    labseq bench crf                      # conll2002-es, S3, l2 = 2; some minutes
    labseq bench crf --sentences 1000     # a quick look
    labseq bench crf --json

Objective: the sum of -log p(y|x) over training sentences + (l2/2) times the squared norm of all weights, transitions
included; every attribute has a weight with every label, and every pair of labels has one. python-crfsuite calls that
c2 = l2/2 with feature.possible_states. Both therefore find the same optimum, and the time until the objective is within
0.01 % of it can be compared. CRFsuite's own binary and Wapiti join in where they are on the PATH.

Programs run one after the other, each in a process of its own. Ratios are what counts: machines differ.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numba

from benchmarks.curves import crossing, seconds_per_evaluation
from benchmarks.encoding import require_same_attributes
from benchmarks.exchange import write_crfsuite, write_wapiti
from benchmarks.measuring import at_least_one, print_report, say
from benchmarks.train_binary import found_on_path
from labseq_core import FeatureTemplate, LabSeqError, load_dataset
from labseq_core.cli import OneLineParser
from labseq_core.evaluation import evaluate
from labseq_core.warm_up import ahead

WITHIN = 1e-4  # of the best objective; also how far apart the objectives may be at the end
PEER = "python-crfsuite"
START = """
import json, sys, time
began = time.perf_counter()
import labseq_core
imported = time.perf_counter()
labseq_core.load_model(sys.argv[1]).predict([json.loads(sys.argv[2])])
print(imported - began)
"""
# key of a measure -> (what it is, how it is shown)
MEASURES = {
    "seconds": ("seconds to within 0.01 % of the best objective", "{:.2f}"),
    "seconds_with_set_up": ("the same, with what comes before the first evaluation", "{:.2f}"),
    "iterations": ("iterations until then", "{:.0f}"),
    "evaluations": ("evaluations of the gradient until then", "{:.0f}"),
    "seconds_per_evaluation": ("seconds per evaluation of the gradient", "{:.4f}"),
    "megabytes": ("peak memory in training, MB", "{:.0f}"),
    "megabytes_above": ("of that, above what it held before it had data, MB", "{:.0f}"),
    "megabytes_with_lists": ("peak with the attribute lists that its users hold, MB", "{:.0f}"),
    "tokens_per_second_raw": ("tagging, tokens/s from raw tokens", "{:,.0f}"),
    "tokens_per_second_encoded": ("tagging, tokens/s from encoded features", "{:,.0f}"),
    "objective": ("objective at the end", "{:.3f}"),
    "accuracy": ("accuracy on the test part", "{:.4f}"),
    "span_f1": ("span F1 on the test part", "{:.4f}"),
}


def write_files(folder: Path, train, test) -> None:
    """The same problem for each program."""
    encoded = FeatureTemplate("S3").encode(train)
    attributes = encoded.attributes()
    (folder / "train.pickle").write_bytes(pickle.dumps((encoded, train.labels)))
    (folder / "test.pickle").write_bytes(pickle.dumps(test))
    write_crfsuite(folder / "train.crfsuite", attributes, train.labels)
    write_crfsuite(folder / "test.crfsuite", FeatureTemplate("S3").encode(test).attributes(), test.labels)
    (folder / "test.tokens").write_text("\n\n".join(map("\n".join, test.tokens)), encoding="utf-8")
    if "wapiti" in found_on_path():
        write_wapiti(folder / "train.wapiti", attributes, train.labels)


@dataclass(frozen=True)
class Program:
    """A process to start: `python -m benchmarks.MODULE`."""

    name: str
    module: str
    threads: int = 1

    def run(self, folder: Path, options: argparse.Namespace) -> dict:
        """Train and tag; what the process wrote down."""
        say(f"{self.name}: training")
        words = [sys.executable, "-m", f"benchmarks.{self.module}", str(folder), self.name, str(options.l2)]
        environment = {**child_environment(), "NUMBA_NUM_THREADS": str(self.threads)}
        done = subprocess.run([*words, str(options.max_iter)], env=environment, check=False)
        if done.returncode:
            raise LabSeqError(f"{self.name} ended with code {done.returncode}; what it said is above")
        return json.loads((folder / f"{self.name}.json").read_text(encoding="utf-8"))


def programs() -> list[Program]:
    """python-crfsuite, ours with one thread and with all, and what is on the PATH."""
    threads = numba.config.NUMBA_NUM_THREADS
    ours = [Program("labseq 1 thread", "train_labseq")]
    if threads > 1:
        ours.append(Program(f"labseq {threads} threads", "train_labseq", threads))
    return [Program(PEER, "train_pycrfsuite"), *ours, *(Program(name, "train_binary") for name in found_on_path())]


def child_environment() -> dict[str, str]:
    """With this very source tree in front of whatever is installed."""
    here = str(Path(__file__).resolve().parent.parent)
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [here, os.environ.get("PYTHONPATH")]))}


def measures(found: dict, threshold: float, test) -> dict[str, float | None]:
    """The numbers of one program; None where it did not get there or does not say."""
    curve, speeds = found["curve"], found["tokens_per_second"]
    place = crossing(curve, threshold)
    seconds, _, evaluations = (None, None, None) if place is None else curve[place]
    before, peak, set_up = found["megabytes_before"], found["megabytes"], found["set_up_seconds"]
    scores = evaluate(test.labels, found["predicted"]).summary() if found["predicted"] else {}
    return {
        "seconds": seconds,
        "seconds_with_set_up": None if seconds is None or set_up is None else seconds + set_up,
        "iterations": None if place is None else place + 1,
        "evaluations": evaluations,
        "seconds_per_evaluation": seconds_per_evaluation(curve),
        "megabytes": peak,
        "megabytes_above": None if peak is None else peak - before,
        "megabytes_with_lists": None if peak is None else peak + found.get("megabytes_of_lists", 0.0),
        "tokens_per_second_raw": speeds.get("raw"),
        "tokens_per_second_encoded": speeds.get("encoded"),
        "objective": curve[-1][1],
        "accuracy": scores.get("accuracy"),
        "span_f1": scores.get("span_f1"),
    }


def start_seconds(folder: Path, sentence: list[str]) -> dict[str, float]:
    """A fresh process that imports, loads the model and tags one sentence; the second run and later have a warm cache."""
    best = {"all": float("inf"), "import": float("inf")}
    for turn in range(4):
        words = [sys.executable, "-c", START, str(folder / "model.npz"), json.dumps(sentence)]
        began = time.perf_counter()
        done = subprocess.run(words, env=child_environment(), capture_output=True, text=True, check=True)
        if turn:
            best["all"] = min(best["all"], time.perf_counter() - began)
            best["import"] = min(best["import"], float(done.stdout))
    return best


def run(options: argparse.Namespace) -> dict:
    """Everything, as JSON can hold it."""
    dataset = load_dataset(options.dataset)
    train, test = dataset.train, dataset.test
    if options.sentences is not None:
        train = train.select(range(min(options.sentences, len(train))))
    require_same_attributes(test.tokens)
    ahead.load("crf", lambda title, fraction: say(f"compiling: {title}"))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_files(folder, train, test)
        found = {program.name: program.run(folder, options) for program in programs()}
        started = start_seconds(folder, test.tokens[0])
    return {
        "dataset": options.dataset, "features": "S3", "sentences": len(train), "tokens": train.n_tokens,
        "l2": options.l2, "max_iter": options.max_iter, "test_tokens": test.n_tokens,
        **compare(found, test),
        "start_seconds": started,
    }  # fmt: skip


def compare(found: dict[str, dict], test) -> dict:
    """What the programs wrote down, side by side."""
    best = min(objective for entry in found.values() for _, objective, _ in entry["curve"])
    table = {name: measures(entry, best * (1 + WITHIN), test) for name, entry in found.items()}
    apart = max(row["objective"] for row in table.values()) / best - 1
    ours, theirs = (found[name]["predicted"] for name in ("labseq 1 thread", PEER))
    return {
        "best_objective": best,
        "objectives_apart": apart,
        "same_objective": apart <= WITHIN,
        "tokens_labelled_differently": sum(a != b for one, other in zip(ours, theirs) for a, b in zip(one, other)),
        "programs": table,
        "ratios": {name: ratios(row, table[PEER]) for name, row in table.items() if name != PEER},
    }


def ratios(row: dict[str, float | None], peer: dict[str, float | None]) -> dict[str, float | None]:
    """Each measure as a multiple of python-crfsuite's."""
    return {key: row[key] / peer[key] if row[key] is not None and peer[key] else None for key in MEASURES}


def show(report: dict) -> None:
    rows = report["programs"]
    print(
        f"{report['dataset']}, S3, {report['sentences']} sentences, {report['tokens']} tokens, l2 = {report['l2']:g}; "
        f"x: as a multiple of {PEER}\n"
    )
    print(f"{'':56}" + "".join(f"{name:>24}" for name in rows))
    for key, (what, form) in MEASURES.items():
        cells = []
        for name, row in rows.items():
            value, ratio = row[key], report["ratios"].get(name, {}).get(key)
            text = "-" if value is None else form.format(value)
            cells.append(text + ("" if ratio is None else f"  x {ratio:.3g}".ljust(9)))
        print(f"{what:56}" + "".join(f"{cell:>24}" for cell in cells))
    started, differing = report["start_seconds"], report["tokens_labelled_differently"]
    print(f"\nfresh process: import, load the model, tag one sentence: {started['all']:.2f} s, "
          f"of which import {started['import']:.2f} s")  # fmt: skip
    print(f"test tokens labelled differently: {differing} of {report['test_tokens']}")
    if report["same_objective"]:
        print(f"same objective: yes, within {report['objectives_apart']:.1e}")
    else:
        print(f"THE OBJECTIVES DIFFER by {100 * report['objectives_apart']:.3g} %: the times above do not compare equals. "
              "Allow more iterations with --max-iter; if that does not help, one program is wrong.")  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 1 where the programs do not find the same objective."""
    parser = OneLineParser(prog="labseq bench crf", description="Our CRF beside python-crfsuite.")
    parser.add_argument("--dataset", default="conll2002-es", help="default conll2002-es")
    parser.add_argument("--sentences", type=at_least_one, help="use only this many training sentences")
    parser.add_argument("--l2", type=float, default=2.0, help="strength of the penalty (default 2, CRFsuite's c2 = 1)")
    parser.add_argument("--max-iter", type=at_least_one, default=500, help="at most this many iterations (default 500)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(arguments)
    if importlib.util.find_spec("pycrfsuite") is None:
        raise LabSeqError("python-crfsuite is not installed; it comes with the test tools: pip install 'labseq[test]'")
    report = run(options)
    print_report(report, show, options.json)
    return 0 if report["same_objective"] else 1


if __name__ == "__main__":
    sys.exit(main())
