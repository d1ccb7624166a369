"""Gaussian process sequence classification of degree 2: dense by kernel values, sparse, and on a whole corpus.

    labseq bench gpsc                       # all three parts; some twenty minutes and 4 GB
    labseq bench gpsc --part dense          # 1 000 sentences: products with the Gram matrix, time beside theirs, memory
    labseq bench gpsc --part sparse         # and 25 % of the coordinates: error and prediction beside dense
    labseq bench gpsc --part large          # the whole corpus by explicit features, beside our linear CRF
    labseq bench gpsc --longest 43          # without longer sentences: 1 000 then have 21 000 tokens, as in the thesis
    labseq bench gpsc --sentences 100 --json

dense, sparse: the first sentences are for training, half as many after them for the choice of l2 (by dense fits), and half
as many again are held out. large: all values of l2 are chosen among on the development part, and tested on the test part.
The fit by kernel values has a process of its own, so that its memory is that of nothing else.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import numba
import numpy as np

from benchmarks.measuring import at_least_one, best_seconds, peak_megabytes, print_report, say
from labseq_core import CRF, GPSC, FeatureTemplate, Polynomial, SparseGPSC, load_dataset, load_model
from labseq_core.chain import viterbi
from labseq_core.cli import OneLineParser
from labseq_core.compiling.routines import parallel_from
from labseq_core.features import EncodedSequences
from labseq_core.kernels import Gram, Observations

PARTS = ("dense", "sparse", "large")
KERNEL = Polynomial(2)
GAP = 1e-3
FRACTION = 0.25
BARE_PRODUCTS = 20  # timed alone; the time of more is taken in proportion
REPEATS = 3
GIB, MIB = 2**30, 2**20


class Slices:
    """The sentences of the first two parts."""

    def __init__(self, train, sentences: int, longest: int | None):
        short = [place for place, labels in enumerate(train.labels) if longest is None or len(labels) <= longest]
        half = sentences // 2
        self.train, self.dev, self.held_out = (
            train.select(short[begin:end])
            for begin, end in ((0, sentences), (sentences, sentences + half), (sentences + half, sentences + 2 * half))
        )
        self.encoded = FeatureTemplate("S3").encode(self.train)


def error(model, part) -> float:
    """Token error in per cent."""
    return 100.0 * (1.0 - model.score(part, part.labels))


def timed_fit(model, encoded, labels):
    started = time.perf_counter()
    model.fit(encoded, labels)
    return time.perf_counter() - started


def warm_up(train) -> None:
    """Compiled routines are made or loaded, those for small and for large problems."""
    say("loading compiled routines")
    few = train.select(range(min(40, len(train))))
    encoded = FeatureTemplate("S3").encode(few)
    for work in (0, 10**9):
        with parallel_from(work):
            for route in ("gram", "explicit"):
                GPSC(KERNEL, route=route, max_iter=25, tol=0.0).fit(encoded, few.labels)
                SparseGPSC(KERNEL, route=route).fit(encoded, few.labels).score(few, few.labels)
            CRF(max_iter=25).fit(encoded, few.labels)


def tuned_dense(data: Slices, grid: Sequence[float]) -> tuple[GPSC, dict]:
    """The dense model, by explicit features, with the l2 that is best on the development sentences."""
    best, rows = None, []
    for l2 in grid:
        say(f"dense, explicit, l2 = {l2:g}")
        model = GPSC(KERNEL, l2=l2, route="explicit", tol=GAP, memory=8.0)
        seconds = timed_fit(model, data.encoded, data.train.labels)
        rows.append({"l2": l2, "seconds": seconds, "iterations": model.n_iter_, "dev_error": error(model, data.dev)})
        if rows[-1]["dev_error"] == min(row["dev_error"] for row in rows):
            best = model
    return best, {"grid": rows, "l2": best.l2, "held_out_error": error(best, data.held_out)}


def dense_by_gram(data: Slices, l2: float) -> tuple[GPSC, dict]:
    """A fit by kernel values beside as many products with the Gram matrix alone, in a process that has nothing else."""
    few = data.encoded.select(range(min(40, len(data.encoded)))), data.train.labels[:40]
    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(1, get_context("spawn")) as pool:
        file = Path(folder) / "model.npz"
        report = pool.submit(_dense_by_gram, few, data.encoded, data.train.labels, l2, file).result()
        model = load_model(file)
    return model, {**report, "held_out_error": error(model, data.held_out)}


def _dense_by_gram(few: tuple, encoded: EncodedSequences, labels: list, l2: float, file: Path) -> dict:
    for work in (0, 10**9):
        with parallel_from(work):
            in_float32(few[0], max_iter=25, tol=0.0).fit(*few)
    model = in_float32(encoded, l2=l2, tol=GAP)
    observations = Observations.of(encoded)
    say(f"dense, gram, l2 = {l2:g}, {len(observations)} observations")
    seconds = timed_fit(model, encoded, labels)
    peak = peak_megabytes()
    say("the products alone")
    gram = Gram(KERNEL, observations, int(model.memory * GIB))
    started = time.perf_counter()
    gram.fill(lambda done: True)
    to_fill = time.perf_counter() - started
    count, beta = min(BARE_PRODUCTS, model.n_products_), model.expansion_.beta
    started = time.perf_counter()
    for _ in range(count):
        gram.product(beta)
    bare = (time.perf_counter() - started) / count * model.n_products_
    gram_megabytes = 4 * len(observations) ** 2 / MIB
    model.save(file)
    return {
        "observations": len(observations), "l2": l2, "stored_as": str(gram.dtype), "products": model.n_products_,
        "relative_gap": model.gap_ / model.objective_, "objective": model.objective_, "seconds": seconds,
        "seconds_to_fill": to_fill, "bare_seconds": bare, "times_bare": seconds / bare, "megabytes": peak,
        "gram_megabytes": gram_megabytes, "times_gram_memory": peak / gram_megabytes if peak else None,
    }  # fmt: skip


def in_float32(encoded: EncodedSequences, **options) -> GPSC:
    """With memory for all kernel values, but not in float64."""
    memory = 1.2 * Gram.n_bytes_whole(KERNEL, Observations.of(encoded)) / GIB
    return GPSC(KERNEL, route="gram", memory=memory, **options)


def sparse(data: Slices, dense: GPSC, by_gram: GPSC) -> dict:
    """dense: fitted by explicit features; by_gram: by kernel values."""
    say(f"sparse, {FRACTION:.0%}, l2 = {dense.l2:g}")
    model = SparseGPSC(KERNEL, l2=dense.l2, fraction=FRACTION, memory=8.0)
    seconds = timed_fit(model, data.encoded, data.train.labels)
    last = model.path_.iloc[-1]
    encoded = FeatureTemplate("S3").encode(data.held_out).with_vocabulary(data.encoded.vocabulary)
    expansions = {
        "dense, gram": by_gram.expansion_,
        "sparse, gram": replace(model.expansion_, route="gram"),
        "dense, explicit": dense.expansion_,
        "sparse, explicit": replace(model.expansion_, route="explicit"),
    }
    say("prediction")
    codes = {label: code for code, label in enumerate(model.classes_)}
    truth = np.array([codes.get(label, -1) for sequence in data.held_out.labels for label in sequence])
    errors = {
        name: 100.0 * float(np.mean(viterbi(found.potentials(encoded)).labels != truth))
        for name, found in expansions.items()
    }
    ways = {name: lambda found=found: viterbi(found.potentials(encoded)) for name, found in expansions.items()}
    return {
        "l2": dense.l2, "coordinates": model.n_coordinates_, "fraction": model.fraction_,
        "share_of_positions": float(last["observations"]), "pairs_per_observation": float(last["pairs_per_observation"]),
        "support": model.n_support_, "observations": model.n_observations_, "seconds": seconds, "steps": model.n_iter_,
        "objective": model.objective_, "dense_objective": dense.objective_, "dev_error": error(model, data.dev),
        "dense_dev_error": error(dense, data.dev), "errors": errors, "prediction_seconds": best_seconds(ways, REPEATS),
        "tokens": data.held_out.n_tokens,
    }  # fmt: skip


def large(dataset, gp_grid: Sequence[float], crf_grid: Sequence[float]) -> dict:
    """GPSC by explicit features and the linear CRF on the whole training part, each with every l2."""
    encoded, rows = FeatureTemplate("S3").encode(dataset.train), []
    models = [("crf", CRF(l2=l2)) for l2 in crf_grid]
    models += [("gps", GPSC(KERNEL, l2=l2, route="explicit", tol=GAP, memory=8.0)) for l2 in gp_grid]
    for name, model in models:
        say(f"{name}, l2 = {model.l2:g}, {len(dataset.train)} sentences")
        processor = time.process_time()
        seconds = timed_fit(model, encoded, dataset.train.labels)
        rows.append({
            "method": name, "l2": model.l2, "seconds": seconds, "processor_seconds": time.process_time() - processor,
            "iterations": model.n_iter_, "relative_gap": getattr(model, "gap_", 0.0) / model.objective_,
            "dev_error": error(model, dataset.dev), "test_error": error(model, dataset.test), "megabytes": peak_megabytes(),
        })  # fmt: skip
    chosen = {
        name: min((row for row in rows if row["method"] == name), key=lambda row: row["dev_error"])
        for name in ("crf", "gps")
    }
    return {
        "sentences": len(dataset.train), "tokens": dataset.train.n_tokens, "rows": rows, "chosen": chosen,
    }  # fmt: skip


def run(options: argparse.Namespace) -> dict:
    """The parts asked for, as JSON can hold them."""
    dataset, parts = load_dataset(options.dataset), options.part or PARTS
    warm_up(dataset.train)
    report = {"dataset": options.dataset, "threads": numba.get_num_threads()}
    if "dense" in parts or "sparse" in parts:
        data = Slices(dataset.train, options.sentences, options.longest)
        model, report["tuning"] = tuned_dense(data, options.l2)
        report |= {"sentences": len(data.train), "tokens": data.train.n_tokens}
        by_gram, report["dense"] = dense_by_gram(data, model.l2)
        if "sparse" in parts:
            report["sparse"] = sparse(data, model, by_gram)
    if "large" in parts:
        report["large"] = large(dataset, options.l2, options.crf_l2)
    return report


def show(report: dict) -> None:
    print(f"{report['dataset']}, S3, {KERNEL!r}, {report['threads']} threads")
    if "tuning" in report:
        print(f"\n{report['sentences']} sentences, {report['tokens']} tokens; dense by explicit features:\n")
        print("| l2 | seconds | iterations | error on development, % |\n|---|---|---|---|")
        for row in report["tuning"]["grid"]:
            print(f"| {row['l2']:g} | {row['seconds']:.1f} | {row['iterations']} | {row['dev_error']:.2f} |")
        print(f"\nchosen: l2 = {report['tuning']['l2']:g}; held out {report['tuning']['held_out_error']:.2f} %")
    if "dense" in report:
        show_dense(report["dense"])
    if "sparse" in report:
        show_sparse(report["sparse"])
    if "large" in report:
        show_large(report["large"])


def show_dense(dense: dict) -> None:
    print(f"\ndense by kernel values, {dense['observations']} observations, stored as {dense['stored_as']}: "
          f"{dense['products']} products, gap {dense['relative_gap']:.3%} of the objective; {dense['seconds']:.1f} s "
          f"({dense['seconds_to_fill']:.1f} s to make the kernel values), {dense['times_bare']:.2f} times the "
          f"{dense['bare_seconds']:.1f} s of the products alone; held out {dense['held_out_error']:.2f} %")  # fmt: skip
    if dense["megabytes"]:
        print(f"peak memory {dense['megabytes']:.0f} MB, {dense['times_gram_memory']:.2f} times the float32 Gram matrix's "
              f"{dense['gram_megabytes']:.0f} MB")  # fmt: skip


def show_sparse(sparse: dict) -> None:
    print(f"\nsparse: {sparse['coordinates']} coordinates, {sparse['fraction']:.1%} of positions; {sparse['support']} of "
          f"{sparse['observations']} observations, at {sparse['share_of_positions']:.1%} of positions, with "
          f"{sparse['pairs_per_observation']:.2f} label pairs each; {sparse['steps']} steps in {sparse['seconds']:.1f} s; "
          f"objective {sparse['objective']:.1f} (dense {sparse['dense_objective']:.1f})\n")  # fmt: skip
    print("| | error held out, % | prediction, s | tokens/s |\n|---|---|---|---|")
    for name, seconds in sparse["prediction_seconds"].items():
        print(f"| {name} | {sparse['errors'][name]:.2f} | {seconds:.3f} | {sparse['tokens'] / seconds:.0f} |")
    errors, times = sparse["errors"], sparse["prediction_seconds"]
    print(f"\nsparse minus dense: {errors['sparse, gram'] - errors['dense, gram']:+.2f} points held out, "
          f"{sparse['dev_error'] - sparse['dense_dev_error']:+.2f} on development; prediction by kernel values "
          f"{times['dense, gram'] / times['sparse, gram']:.1f} times faster")  # fmt: skip


def show_large(large: dict) -> None:
    print(f"\n{large['sentences']} sentences, {large['tokens']} tokens:\n")
    print(
        "| method | l2 | seconds | of all threads | iterations | gap | error dev, % | error test, % | peak so far, MB |\n|"
        + "---|" * 9
    )
    for row in large["rows"]:
        print(f"| {row['method']} | {row['l2']:g} | {row['seconds']:.1f} | {row['processor_seconds']:.1f} | "
              f"{row['iterations']} | {row['relative_gap']:.3%} | {row['dev_error']:.2f} | {row['test_error']:.2f} | "
              f"{row['megabytes'] or 0:.0f} |")  # fmt: skip
    chosen = large["chosen"]
    print("\nchosen on dev: " + "; ".join(
        f"{name} l2 = {row['l2']:g}: {row['test_error']:.2f} % on test, {row['seconds']:.1f} s" for name, row in chosen.items()
    ))  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    parser = OneLineParser(prog="labseq bench gpsc", description="Gaussian processes: dense, sparse, and on much data.")
    parser.add_argument("--part", action="append", choices=PARTS, help="only this part; may be given again")
    parser.add_argument("--dataset", default="conll2002-es", help="default conll2002-es")
    parser.add_argument("--sentences", type=at_least_one, default=1000, help="of dense and sparse (default 1000)")
    parser.add_argument(
        "--longest", type=at_least_one, help="of dense and sparse: leave out sentences with more tokens"
    )
    parser.add_argument("--l2", type=float, nargs="+", default=[1.0, 3.0, 10.0], help="tried for GPSC (default 1 3 10)")
    parser.add_argument("--crf-l2", type=float, nargs="+", default=[0.03, 0.1, 0.3, 1.0],
                        help="tried for the CRF of part large (default 0.03 0.1 0.3 1)")  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(arguments)
    print_report(run(options), show, options.json)


if __name__ == "__main__":
    main()
