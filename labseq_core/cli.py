"""The command `labseq`. Every error is one line on standard error and exit code 2."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from labseq_core.checks import LabSeqError
from labseq_core.commands import corpora, models, reproducing, running, system

METHODS_HELP = (
    "methods separated by commas, options after colons, values to choose from with | between them: "
    "'crf:l2=0.1,hmm,gps:kernel=poly:2:l2=0.3|1|3'"
)
# Written out here, since loading what knows them would make every command slow; a wrong one is refused there.
FEATURES_HELP = "S1, S2, S3, POS, prosody, custom"
METRICS_HELP = (
    "accuracy, sequence_accuracy, span_f1, span_precision, span_recall, log_loss, brier, ece, aurc, used_share, "
    "n_parameters, model_bytes, train_seconds, predict_seconds, peak_megabytes"
)
# name -> what it measures; the code is the module of that name in benchmarks/, beside this package in a source tree
BENCHMARKS = {
    "crf": "our CRF beside python-crfsuite: time, memory, tagging speed",
    "boost": "the cost of a round of boosting, and what the three bounds choose",
    "svm": "hidden Markov SVMs: time to a duality gap of 1 % beside our CRF, and with kernels",
    "kernels": "hidden Markov SVMs and Gaussian processes beside other methods and quoted results",
    "gpsc": "Gaussian processes of degree 2: dense, sparse, and on a whole corpus beside our CRF",
    "engine": "runs: overhead beside the bare tasks, a question asked again, long lists",
    "dashboard": "what visitors wait for: the first chart, clicks, trainings, other visitors",
    "encoding": "tokens per second of feature templates, beside a Python function per token",
    "cost": "what training takes, beside what the dashboard expects",
    "results": "F1 and error of every method on real corpora, beside quoted results",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the command line, do it, and turn errors into one line."""
    parser = _parser()
    chosen = parser.parse_args(arguments)
    try:
        return chosen.run(chosen) or 0
    except LabSeqError as problem:
        print(f"labseq: {' '.join(str(problem).split())}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("labseq: stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of our output has gone, as in `labseq datasets list | head -1`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as problem:
        name = Path(problem.filename).name if isinstance(problem.filename, (str, os.PathLike)) else "a file"
        print(f"labseq: {name}: {problem.strerror or 'cannot be used'}; check the name and the rights", file=sys.stderr)
        return 2


class OneLineParser(argparse.ArgumentParser):
    """Says what is wrong in one line, without the usage."""

    def error(self, message: str):
        print(f"{self.prog}: {message}; see '{self.prog} --help'", file=sys.stderr)
        raise SystemExit(2)


def _parser() -> argparse.ArgumentParser:
    from labseq_core import __version__
    from labseq_core.data.formats.registry import FORMATS

    parser = OneLineParser(prog="labseq", description="A laboratory for label sequence learning.")
    parser.add_argument("--version", action="version", version=f"labseq {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run, text: str, parent=commands) -> argparse.ArgumentParser:
        made = parent.add_parser(name, help=text.replace("%", "%%"), description=text)  # argparse formats help only
        made.set_defaults(run=run)
        return made

    def features(made: argparse.ArgumentParser) -> None:
        made.add_argument("--features", default="S3", help=f"feature template: {FEATURES_HELP} (default S3)")
        made.add_argument("--window", type=int, help="window of positions, odd (default: as usual for the template)")
        made.add_argument("--bins", type=int, help="bins for real-valued columns; 0 keeps the values")
        made.add_argument("--columns", help="columns to use, separated by commas")
        made.add_argument("--joint", action="store_true", help="joint codes of two spelling properties")

    def reading(made: argparse.ArgumentParser) -> None:
        made.add_argument("--format", choices=list(FORMATS), help="file format (default: by name and contents)")
        made.add_argument("--encoding", choices=("utf-8", "latin-1"), default="utf-8", help="default utf-8")
        made.add_argument(
            "--label", help="label column: a number (CoNLL, from 0; -1 is the last) or a name (other formats)"
        )

    def on_cluster(made: argparse.ArgumentParser) -> None:
        made.add_argument(
            "--scheduler", metavar="ADDRESS", help="train on the Dask cluster at this address: tcp://HOST:PORT"
        )

    def as_json(made: argparse.ArgumentParser) -> None:
        made.add_argument("--json", action="store_true", help="print JSON")

    app = command("app", system.app, "Start the dashboard.")
    app.add_argument("--port", type=int, help="port (default: 8501 if it is free, else any free one)")
    app.add_argument("--host", default="127.0.0.1", help="address to listen on (default 127.0.0.1: this machine only)")
    app.add_argument("--no-browser", action="store_true", help="do not open a browser")
    on_cluster(app)

    command("warm-up", system.compile_ahead, "Compile the routines ahead, so that nothing is slow at first use.")

    defaults = command(
        "defaults", system.defaults, "Train what is shown by default and write it to the data directory."
    )
    defaults.add_argument("names", nargs="*", metavar="NAME", help="only these (default: all)")

    compare = command("compare", running.compare, "Compare methods on a corpus.")
    compare.add_argument("config", nargs="?", help="a configuration file (YAML or JSON), instead of the options")
    compare.add_argument("--dataset", help="a corpus, see 'labseq datasets list'")
    compare.add_argument("--methods", help=METHODS_HELP)
    features(compare)
    compare.add_argument("--folds", type=int, default=0, help="folds of cross-validation; 0: train and test part")
    compare.add_argument("--seed", type=int, default=0)
    compare.add_argument("--sequences", type=int, default=0, help="only the first so many of the training part; 0: all")
    compare.add_argument("--metrics", help=f"columns of the table, separated by commas: {METRICS_HELP}")
    compare.add_argument("--calibrate", action="store_true", help="scale scores to the development part (temperature)")
    compare.add_argument("--csv", help="write the scores to this file")
    as_json(compare)
    on_cluster(compare)

    _runs(
        commands.add_parser("runs", help="List, show, resume, export, import and delete runs."),
        command,
        as_json,
        on_cluster,
    )

    repeat = command(
        "reproduce", reproducing.reproduce, "Run an experiment of the documents, beside its quoted results."
    )
    repeat.add_argument("name", nargs="?", help="which one (default: list them)")
    as_json(repeat)
    on_cluster(repeat)

    train = command("train", models.train, "Train a model on a file of your own.")
    train.add_argument("file", help="a labelled corpus file")
    train.add_argument("--model", required=True, help="where to write the model (.npz)")
    train.add_argument("--method", default="crf", help="a method, with options after colons: crf:l2=0.1")
    features(train)
    reading(train)

    predict = command("predict", models.predict, "Label a file with a model.")
    predict.add_argument("model")
    predict.add_argument("file", help="a corpus file, with or without labels")
    predict.add_argument("--output", help="where to write it (.conll or .csv; default: CoNLL on standard output)")
    predict.add_argument("--unlabelled", action="store_true", help="the file has no labels")
    reading(predict)

    evaluate = command("evaluate", models.score, "Score a model on a labelled file.")
    evaluate.add_argument("model")
    evaluate.add_argument("file")
    evaluate.add_argument("--json", action="store_true", help="print JSON")
    reading(evaluate)

    bench = command(
        "bench", system.bench, "Measure speed or results: " + "; ".join(map(": ".join, BENCHMARKS.items())) + "."
    )
    bench.add_argument("name", choices=list(BENCHMARKS), metavar="NAME", help=" | ".join(BENCHMARKS))
    bench.add_argument("arguments", nargs=argparse.REMAINDER, metavar="...", help="see 'labseq bench NAME --help'")

    datasets = commands.add_parser("datasets", help="List, describe and fetch corpora.")
    parts = datasets.add_subparsers(required=True, metavar="list|info|fetch")
    listing = command("list", corpora.list_all, "All corpora.", parts)
    listing.add_argument("--json", action="store_true", help="print JSON")
    for name, run, text in (
        ("info", corpora.describe, "Describe a corpus."),
        ("fetch", corpora.fetch, "Download a corpus."),
    ):
        command(name, run, text, parts).add_argument("name")
    return parser


def _runs(parser: argparse.ArgumentParser, command, as_json, on_cluster) -> None:
    parts = parser.add_subparsers(required=True, metavar="list|show|resume|cancel|export|import|delete|pin")
    listing = command("list", running.list_all, "Runs in the store, the newest first.", parts)
    listing.add_argument("--dataset", help="only of this corpus")
    listing.add_argument("--method", help="only with this method, such as crf")
    listing.add_argument("--state", choices=("queued", "running", "done", "failed", "cancelled", "dead"))
    listing.add_argument("--text", help="only with this in id, corpus, features or methods")
    listing.add_argument("--pinned", action="store_true", help="only pinned ones")
    listing.add_argument("--limit", type=int, default=50, help="at most so many (default 50)")
    as_json(listing)
    show = command("show", running.show, "The table of a run, or how far it is.", parts)
    show.add_argument("run_id")
    show.add_argument("--csv", help="write the scores to this file")
    as_json(show)
    resume = command(
        "resume", running.resume, "Go on with runs that were interrupted; what they had finished is kept.", parts
    )
    resume.add_argument("run_id", nargs="*", help="which (default: all whose process died)")
    on_cluster(resume)
    command("cancel", running.cancel_run, "Stop a run, whichever process has it.", parts).add_argument("run_id")
    export = command("export", running.export, "Write a run as a zip file, or scores as CSV.", parts)
    export.add_argument("run_id", nargs="?")
    export.add_argument("--output", help="the zip file (default: labseq-RUN.zip)")
    export.add_argument(
        "--csv", nargs="?", const="-", metavar="FILE", help="scores of the run, or of all, as CSV (default: print)"
    )
    command("import", running.import_file, "Take exported runs into the store.", parts).add_argument("file", nargs="+")
    command("delete", running.delete, "Remove runs and their models.", parts).add_argument("run_id", nargs="+")
    pin = command("pin", running.pin, "Mark a run to be found again.", parts)
    pin.add_argument("run_id")
    pin.add_argument("--off", action="store_true", help="take the mark away")


if __name__ == "__main__":
    sys.exit(main())
