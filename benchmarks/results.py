"""F1 and token error of every method with explicit features, beside the results quoted from the documents.

    labseq bench results --output results.csv                 # all; under an hour on one core
    labseq bench results --output results.csv --only crf,S3   # one cell of the table
    labseq bench results --output quick.csv --sentences 500   # a quick look

Each method is trained with every setting of a small grid, the setting that does best on the development part is chosen
(by span F1 where labels are spans, else by accuracy), and that one model is scored on the test part. A row is written as
soon as a cell is done; run it again with the same --output to go on. Seconds are those of the processor.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measuring import at_least_one, say
from benchmarks.quoted import QUOTED
from benchmarks.searches import SEARCHES, Problem, best_of
from labseq_core import FeatureTemplate, LabSeqError, load_dataset
from labseq_core.cli import OneLineParser
from labseq_core.csv_text import csv_text, plain_cell
from labseq_core.data.catalogue import dataset_info
from labseq_core.warm_up import ahead


@dataclass(frozen=True)
class Corpus:
    """A corpus with its attributes, and the settings that are tried on it."""

    name: str
    features: str
    l2: tuple[float, ...]  # falling: each fit starts where the one before ended
    exponential_l2: tuple[float, ...]
    length_decays: tuple[float, ...]  # of the exponential loss; noisy labels need small ones


SPANISH = ((0.5, 0.2, 0.1, 0.05, 0.02), (1.0, 0.1, 0.01), (0.9, 0.95, 1.0))
CORPORA = (
    Corpus("conll2002-es", "S1", *SPANISH),
    Corpus("conll2002-es", "S2", *SPANISH),
    Corpus("conll2002-es", "S3", *SPANISH),
    Corpus("ud-english-ewt", "POS", (2.0, 1.0, 0.5, 0.2, 0.1), (1.0, 0.1, 0.01), (0.9, 1.0)),
    Corpus("prosody", "prosody", (300.0, 100.0, 30.0, 10.0, 3.0), (100.0, 10.0, 1.0, 0.1), (0.5, 0.6, 0.7)),
)
FIELDS = (
    "corpus", "features", "sentences", "method", "chosen", "tried", "dev_score", "f1", "error", "accuracy", "seconds",
    "note",
)  # fmt: skip


def load(corpus: Corpus, sentences: int | None) -> Problem:
    """The corpus encoded; columns that restate the label are left out."""
    dataset, answers = load_dataset(corpus.name), dataset_info(corpus.name).answer_columns
    train, dev, test = (part.without_columns(answers) for part in (dataset.train, dataset.dev, dataset.test))
    if sentences is not None:
        train = train.select(range(min(sentences, len(train))))
    template = FeatureTemplate(corpus.features)
    encoded = template.encode(train)
    return Problem(
        encoded, train.labels,
        template.encode(dev, encoded.vocabulary), dev.labels,
        template.encode(test, encoded.vocabulary), test.labels,
        corpus.l2, corpus.exponential_l2, corpus.length_decays,
    )  # fmt: skip


def cell(corpus: Corpus, method: str, problem: Problem) -> dict[str, str]:
    """One row of the table."""
    search = SEARCHES[method]
    started, tried = time.process_time(), []

    def tell(options: str, score: float) -> None:
        tried.append(options)
        say(f"  {options}: {100 * score:.2f} on dev, {time.process_time() - started:.0f} s")

    best = best_of(problem, search.candidates(problem, tell), tell)
    f1 = best.test.span_f1
    return {
        "corpus": corpus.name,
        "features": corpus.features,
        "sentences": str(len(problem.labels)),
        "method": method,
        "chosen": best.options,
        "tried": " | ".join(tried),
        "dev_score": f"{100 * best.score:.2f}",
        "f1": "" if f1 is None else f"{100 * f1:.2f}",
        "error": f"{100 - 100 * best.test.accuracy:.2f}",
        "accuracy": f"{100 * best.test.accuracy:.2f}",
        "seconds": f"{time.process_time() - started:.0f}",
        "note": search.note,
    }


def read_rows(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.reader(file)
        if tuple(next(reader, FIELDS)) != FIELDS:
            raise LabSeqError(f"{path.name} is not a table that this benchmark wrote; choose another --output")
        return [dict(zip(FIELDS, map(plain_cell, row))) for row in reader]


def append_row(path: Path, row: dict[str, str]) -> None:
    text = csv_text(FIELDS, [[row[name] for name in FIELDS]])
    if path.exists() and path.stat().st_size > 0:
        text = text.partition("\n")[2]  # it has a header
    with path.open("a", encoding="utf-8", newline="") as file:
        file.write(text)


def wanted(only: str | None) -> Iterator[tuple[Corpus, str]]:
    """The cells that --only leaves: its words are methods, corpora and features; those of one kind are alternatives."""
    words = {word.strip() for word in (only or "").split(",")} - {""}
    known = {*SEARCHES, *(name for corpus in CORPORA for name in (corpus.name, corpus.features))}
    if words - known:
        raise LabSeqError(f"--only has {min(words - known)!r}; choose from {', '.join(sorted(known))}")
    methods = words & set(SEARCHES) or set(SEARCHES)
    names = words & {corpus.name for corpus in CORPORA}
    features = words & {corpus.features for corpus in CORPORA}
    for corpus in CORPORA:
        if (not names or corpus.name in names) and (not features or corpus.features in features):
            yield from ((corpus, method) for method in SEARCHES if method in methods)


def run(options: argparse.Namespace) -> list[dict[str, str]]:
    """Fill the cells that are missing; all rows of the file."""
    done, cells = read_rows(options.output), list(wanted(options.only))
    ahead.prepare()
    loaded: tuple[Corpus, Problem] | None = None
    for corpus, method in cells:
        if loaded is None or loaded[0] is not corpus:
            loaded = corpus, load(corpus, options.sentences)
        key = (corpus.name, corpus.features, str(len(loaded[1].labels)), method)
        if any(key == (row["corpus"], row["features"], row["sentences"], row["method"]) for row in done):
            continue
        say(f"{corpus.name} {corpus.features} {method}")
        try:
            row = cell(corpus, method, loaded[1])
        except LabSeqError as problem:
            say(f"  left out: {problem}")
            continue
        append_row(options.output, row)
        done.append(row)
    return done


def show(rows: list[dict[str, str]]) -> None:
    """The table, a block for each corpus, methods in the order of SEARCHES."""
    for corpus in CORPORA:
        found = [row for row in rows if (row["corpus"], row["features"]) == (corpus.name, corpus.features)]
        if not found:
            continue
        scored = "span F1" if any(row["f1"] for row in found) else "accuracy"
        print(f"\n{corpus.name}, {corpus.features}: train -> test, settings chosen on dev by {scored}\n")
        print(f"| method | F1 | error % | accuracy % | chosen | sentences | seconds | quoted |\n|{'---|' * 8}")
        for row in sorted(found, key=lambda row: list(SEARCHES).index(row["method"])):
            quoted = QUOTED[corpus.name, corpus.features].get(row["method"], "")
            shown = (row[key] for key in ("method", "f1", "error", "accuracy", "chosen", "sentences", "seconds"))
            print(f"| {' | '.join(shown)} | {quoted} |")
    print("\nHow each method was trained:")
    for method, search in SEARCHES.items():
        print(f"* {method}: {search.note}")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = OneLineParser(
        prog="labseq bench results", description="F1 and token error of every method, beside quoted results."
    )
    parser.add_argument("--output", type=Path, required=True, help="CSV file; cells that it has are not done again")
    parser.add_argument("--only", help="methods, corpora and features separated by commas, such as crf,hmm-word,S3")
    parser.add_argument("--sentences", type=at_least_one, help="use only this many training sentences")
    show(run(parser.parse_args(arguments)))


if __name__ == "__main__":
    main()
