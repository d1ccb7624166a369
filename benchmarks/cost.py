"""What training takes, beside what the dashboard says beforehand that it will.

    labseq bench cost                          # every method on the bundled corpora; ten minutes of one core
    labseq bench cost --methods crf,hmsvm
    labseq bench cost --csv tests/experiments/measured_fits.csv

Seconds are those of the processor, of one thread, so that other work on the machine hardly counts. The constants of
`labseq_core.learners` (`cost`) come from this table, and tests hold the model to it.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from math import exp, log
from pathlib import Path

import numba

from benchmarks.measuring import say
from labseq_core.cli import OneLineParser
from labseq_core.csv_text import csv_text
from labseq_core.data.catalogue import load_dataset
from labseq_core.experiments import FeatureChoice, MethodChoice
from labseq_core.experiments.plan.cost import data_size, fit_cost
from labseq_core.learners.registry import METHODS, make_learner
from labseq_core.warm_up import ahead

# Template and window of each bundled corpus, the one of its default result first.
FEATURES = {
    "parity": (("prosody", 1), ("S3", None)),
    "pitch-accent": (("prosody", 1), ("S3", None)),
    "toy-pos": (("POS", None), ("S3", None)),
    "spanish-ner": (("S3", None), ("S1", None)),
}
_SMOOTH = {"kernel": "rbf:8", "l2": 0.03}
# Options beside the defaults that change the work.
OPTIONS = {
    "crf": ({"l2": 0.01}, {"l1": 1.0}),
    "dual-perceptron": ({"kernel": "poly:2"}, {"kernel": "rbf:8"}),
    "hmsvm": ({"rescale": "margin"}, {"kernel": "poly:2"}, {"kernel": "rbf:8"}),
    "gps": (_SMOOTH, {"kernel": "linear"}),
    "sgps": (_SMOOTH, {"fraction": 0.05}),
    "boost": ({"bound": "loose"}, {"bound": "tight"}),
}
COLUMNS = ("method", "options", "dataset", "template", "window", "seconds")


def measured(method: str) -> Iterator[dict]:
    """A row for each corpus, features and options."""
    ahead.load(method)
    for dataset, templates in FEATURES.items():
        train = load_dataset(dataset).train
        for template, window in templates:
            encoded = FeatureChoice(template, window=window).make().encode(train)
            for options in ({}, *OPTIONS.get(method, ())):
                learner = make_learner(method, **options)
                begin = time.process_time()
                learner.fit(encoded, train.labels)
                seconds = time.process_time() - begin
                row = (method, json.dumps(options), dataset, template, window or "", round(seconds, 6))
                yield dict(zip(COLUMNS, row))


def predicted_seconds(row: dict) -> float:
    """What the model says of a row."""
    window = int(row["window"]) if row["window"] else None
    size = data_size(row["dataset"], FeatureChoice(row["template"], window=window))
    return fit_cost(MethodChoice(row["method"], json.loads(row["options"])), size)[0]


def show(rows: list[dict]) -> None:
    """Measured over predicted: the geometric mean, and the extremes."""
    print(f"{'method':<18}{'fits':>5}{'mean':>8}{'least':>8}{'most':>8}   measured / predicted")
    for method in dict.fromkeys(row["method"] for row in rows):
        ratios = [float(row["seconds"]) / predicted_seconds(row) for row in rows if row["method"] == method]
        mean = exp(sum(map(log, ratios)) / len(ratios))
        print(f"{method:<18}{len(ratios):>5}{mean:>8.2f}{min(ratios):>8.2f}{max(ratios):>8.2f}")


def main(arguments: Sequence[str] | None = None) -> None:
    parser: argparse.ArgumentParser = OneLineParser(prog="labseq bench cost", description=__doc__.splitlines()[0])
    parser.add_argument("--methods", default=",".join(METHODS), help="ids, separated by commas (default all)")
    parser.add_argument("--csv", help="write the measured times to this file")
    options = parser.parse_args(arguments)
    numba.set_num_threads(1)
    rows = []
    for method in options.methods.split(","):
        say(f"{method} ...")
        rows += measured(method)
    if options.csv:
        text = csv_text(COLUMNS, ([row[name] for name in COLUMNS] for row in rows))
        Path(options.csv).write_text(text, encoding="utf-8", newline="")
    show(rows)


if __name__ == "__main__":
    main()
