"""What a round of sequence boosting costs, and what the three bounds choose.

    labseq bench boost                                   # conll2002-es, S3, 1 000 rounds of each; a minute
    labseq bench boost --rounds 300 --sentences 1000     # a quick look
    labseq bench boost --length-decay 0.9 --json

A round repeats inference on the sequences in which the chosen feature can fire. Its cost is put beside one full
forward-backward pass over the corpus times the share of positions in those sequences, once for the update and once more
for each evaluation of an exact step; the pass is timed in this very process, on the same potentials and threads, between
the rounds. Sequences whose weight is below 1e-20 of the sum are not looked at: how much was is told too.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

import numba
import numpy as np

from benchmarks.measuring import at_least_one, peak_megabytes, print_report, say
from labseq_core import FeatureTemplate, SequenceBoost, load_dataset
from labseq_core.chain import forward_backward
from labseq_core.cli import OneLineParser
from labseq_core.explain import repeated_features

BOUNDS = ("loose", "tight", "exact")
FIRST = 100  # rounds in which repeated features are counted, as in T Table 3.3
PASSES = 12  # full passes that are timed, spread over the rounds
SHOWN = 15  # rows of the table of repeated features


def run_rounds(model: SequenceBoost, train, labels, rounds: int) -> dict:
    """So many rounds from the start, each timed."""
    started = time.perf_counter()
    booster = model.booster_at(train, labels, 0)
    set_up = time.perf_counter() - started
    seconds, passes, done = [], [], []
    for number in range(rounds):
        if number % max(1, rounds // PASSES) == 0:
            started = time.perf_counter()
            forward_backward(booster.potentials)
            passes.append(time.perf_counter() - started)
        started = time.perf_counter()
        one = booster.round()
        if one is None:
            break
        seconds.append(time.perf_counter() - started)
        done.append(one)
    shares = np.array([one.tokens for one in done])
    passes_due = shares * (1 + np.array([one.evaluations for one in done]))
    full_pass = float(np.median(passes))
    return {
        "rounds": len(done),
        "set_up_seconds": set_up,
        "seconds": sum(seconds),
        "full_pass_seconds": full_pass,
        "reference_seconds": float(passes_due.sum()) * full_pass,
        "ratio": sum(seconds) / (float(passes_due.sum()) * full_pass),
        "share_touched": float(shares.mean()),
        "share_looked_at": float(np.mean([one.looked_at for one in done])),
        "evaluations": float(np.mean([one.evaluations for one in done])),
        "megabytes": peak_megabytes(),
        "log_losses": [one.log_loss for one in done],
    }


def rounds_until(log_losses: list[float], target: float) -> int | None:
    """The first round after which the loss is at the target or below."""
    return next((number for number, loss in enumerate(log_losses, start=1) if loss <= target), None)


def run(options: argparse.Namespace) -> dict:
    """Everything, as JSON can hold it."""
    train = load_dataset(options.dataset).train
    if options.sentences is not None:
        train = train.select(range(min(options.sentences, len(train))))
    encoded = FeatureTemplate("S3").encode(train)
    few = train.select(range(min(50, len(train))))
    found, models = {}, {}
    for bound in BOUNDS:
        say(f"{bound}: loading compiled routines")
        choices = {"bound": bound, "smoothing": options.smoothing, "length_decay": options.length_decay, "patience": 0}
        SequenceBoost(rounds=5, **choices).fit(FeatureTemplate("S3").encode(few), few.labels)
        say(f"{bound}: the first {FIRST} rounds")
        models[bound] = SequenceBoost(rounds=FIRST, **choices).fit(encoded, train.labels)
        say(f"{bound}: {options.rounds} rounds, timed")
        found[bound] = run_rounds(models[bound], encoded, train.labels, options.rounds)
    target = found["loose"]["log_losses"][-1]
    return {
        "dataset": options.dataset, "features": "S3", "sentences": len(train), "tokens": train.n_tokens,
        "length_decay": options.length_decay, "smoothing": options.smoothing, "threads": numba.get_num_threads(),
        "bounds": found,
        "rounds_to_the_last_loss_of_loose": {b: rounds_until(found[b]["log_losses"], target) for b in BOUNDS},
        "repeated": repeated_features(models, FIRST),
        "distinct": {bound: len(set(model.rounds_["feature"])) for bound, model in models.items()},
    }  # fmt: skip


def show(report: dict) -> None:
    print(
        f"{report['dataset']}, S3, {report['sentences']} sentences, {report['tokens']} tokens, "
        f"length_decay = {report['length_decay']:g}, smoothing = {report['smoothing']:g}, {report['threads']} threads\n"
    )
    lines = (
        ("rounds", "rounds", "{:.0f}"),
        ("set_up_seconds", "seconds before the first", "{:.2f}"),
        ("seconds", "seconds of all rounds", "{:.2f}"),
        ("full_pass_seconds", "seconds of a full forward-backward pass", "{:.4f}"),
        ("reference_seconds", "share touched x pass x (1 + evaluations), summed", "{:.2f}"),
        ("ratio", "ratio of the two", "{:.2f}"),
        ("share_touched", "mean share of positions in touched sequences", "{:.4f}"),
        ("share_looked_at", "mean share of positions that were looked at", "{:.4f}"),
        ("evaluations", "mean evaluations of a step", "{:.2f}"),
        ("megabytes", "peak memory so far, MB", "{:.0f}"),
    )
    print(f"{'':52}" + "".join(f"{bound:>12}" for bound in BOUNDS))
    for key, what, form in lines:
        print(f"{what:52}" + "".join(f"{form.format(report['bounds'][bound][key]):>12}" for bound in BOUNDS))
    print(
        f"\nlogarithm of the training loss after a round:\n{'round':>12}" + "".join(f"{bound:>12}" for bound in BOUNDS)
    )
    losses = {bound: report["bounds"][bound]["log_losses"] for bound in BOUNDS}
    shortest = min(map(len, losses.values()))
    for number in (10, 30, 100, 300, 1000, 3000, 10000):
        if number <= shortest:
            print(f"{number:12d}" + "".join(f"{losses[bound][number - 1]:12.1f}" for bound in BOUNDS))
    reached = report["rounds_to_the_last_loss_of_loose"]
    print("\nrounds to the loss that the loose bound has at the end: "
          + ", ".join(f"{bound} {reached[bound]}" for bound in BOUNDS))  # fmt: skip
    print(
        f"different features in the first {FIRST} rounds: "
        + ", ".join(f"{b} {n}" for b, n in report["distinct"].items())
    )
    print(
        f"features chosen more than once in the first {FIRST} rounds (the most repeated of {len(report['repeated'])}):\n"
    )
    print(f"{'':60}" + "".join(f"{bound:>8}" for bound in BOUNDS))
    for row in report["repeated"][:SHOWN]:
        print(f"{row['feature']:60}" + "".join(f"{row[bound]:8d}" for bound in BOUNDS))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = OneLineParser(prog="labseq bench boost", description="The cost of a round of boosting; the three bounds.")
    parser.add_argument("--dataset", default="conll2002-es", help="default conll2002-es")
    parser.add_argument("--sentences", type=at_least_one, help="use only this many training sentences")
    parser.add_argument("--rounds", type=at_least_one, default=1000, help="rounds of each bound (default 1000)")
    parser.add_argument("--length-decay", type=float, default=1.0, help="pi (default 1)")
    parser.add_argument("--smoothing", type=float, default=1e-4, help="epsilon (default 1e-4)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(arguments)
    print_report(run(options), show, options.json)


if __name__ == "__main__":
    main()
