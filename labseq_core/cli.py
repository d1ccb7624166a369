"""The command `labseq`. Every error is one line on standard error and exit code 2."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from labseq_core.checks import LabSeqError
from labseq_core.commands import corpora, models, reproducing, running, system
from labseq_core.worker_processes import WITH_VARIABLE

METHODS_HELP = (
    "variants separated by commas, a method and its options after colons, values to choose from with | between them: "
    "'crf:l2=0.1,hmm,gps:kernel=poly:2:l2=0.3|1|3'; besides options: decode=viterbi or posterior, features=S1 (window, bins, "
    "columns with +, joint), sequences=100 of the training set, noise=0.1 (share of training labels replaced), search=tune"
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
    try:
        _load_outside(arguments)
        chosen = _parser().parse_args(arguments)
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


def _load_outside(arguments: Sequence[str] | None) -> None:
    """Before the command line is read, whose choices and help name what comes from outside too. What is wrong with a file is
    told before any of the processes begins that this one starts and that load it as well.
    """
    parser = OneLineParser(prog="labseq", add_help=False, allow_abbrev=False)
    _with_files(parser)
    files = parser.parse_known_args(arguments)[0].outside
    if files:
        os.environ[WITH_VARIABLE] = os.pathsep.join(str(Path(name).resolve()) for name in files)
    if os.environ.get(WITH_VARIABLE):
        importlib.import_module("labseq_core.learners.registry")


class OneLineParser(argparse.ArgumentParser):
    """Says what is wrong in one line, without the usage."""

    def error(self, message: str):
        print(f"{self.prog}: {message}; see '{self.prog} --help'", file=sys.stderr)
        raise SystemExit(2)


def _parser() -> argparse.ArgumentParser:
    from labseq_core import __version__

    parser = OneLineParser(prog="labseq", description="A laboratory for label sequence learning.")
    _with_files(parser)
    parser.add_argument("--version", action="version", version=f"labseq {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _dashboard_commands(commands)
    _comparison_commands(commands)
    _runs_commands(commands.add_parser("runs", help="List, show, resume, export, import and delete runs."))
    _model_commands(commands)
    _bench_command(commands)
    _datasets_commands(commands.add_parser("datasets", help="List, describe and fetch corpora."))
    return parser


def _with_files(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--with", dest="outside", action="append", default=[], metavar="FILE.py",
        help="a file with a method, kernel, loss, metric, corpus, file format or feature template of your own, which can then "
        "be chosen like any other; may be given again",
    )  # fmt: skip


def _command(parent, name: str, run, text: str) -> argparse.ArgumentParser:
    made = parent.add_parser(name, help=text.replace("%", "%%"), description=text)  # argparse formats help only
    made.set_defaults(run=run)
    return made


def _features(made: argparse.ArgumentParser) -> None:
    from labseq_core.features.registry import TEMPLATES

    made.add_argument("--features", default="S3", help=f"feature template: {', '.join(TEMPLATES)} (default S3)")
    made.add_argument("--window", type=int, help="window of positions, odd (default: as usual for the template)")
    made.add_argument("--bins", type=int, help="bins for real-valued columns; 0 keeps the values")
    made.add_argument("--columns", help="columns to use, separated by commas")
    made.add_argument("--joint", action="store_true", help="joint codes of two spelling properties")


def _reading(made: argparse.ArgumentParser) -> None:
    from labseq_core.data.formats.registry import FORMATS
    from labseq_core.data.formats.source import ENCODINGS

    made.add_argument("--format", choices=list(FORMATS), help="file format (default: by name and contents)")
    made.add_argument("--encoding", choices=ENCODINGS, help="how characters are stored in the file (default utf-8)")
    made.add_argument(
        "--label", help="label column: a number (CoNLL, from 0; -1 is the last) or a name (other formats)"
    )


def _on_cluster(made: argparse.ArgumentParser) -> None:
    made.add_argument(
        "--scheduler", metavar="ADDRESS", help="train on the Dask cluster at this address: tcp://HOST:PORT"
    )


def _as_json(made: argparse.ArgumentParser) -> None:
    made.add_argument("--json", action="store_true", help="print JSON")


def _dashboard_commands(commands) -> None:
    app = _command(commands, "app", system.app, "Start the dashboard.")
    app.add_argument("--port", type=int, help="port (default: 8501 if it is free, else any free one)")
    app.add_argument("--host", default="127.0.0.1", help="address to listen on (default 127.0.0.1: this machine only)")
    app.add_argument(
        "--host-name", action="append", default=[], metavar="NAME",
        help="a name by which browsers reach this server, such as that of a proxy; may be given again. Others are refused: "
        "web pages could use them to read and delete runs. localhost, IP addresses and, with --host, the names of this machine "
        "need not be given",
    )  # fmt: skip
    app.add_argument("--no-browser", action="store_true", help="do not open a browser")
    _on_cluster(app)

    warm_up = _command(
        commands, "warm-up", system.compile_ahead, "Compile the routines ahead, so that nothing is slow at first use."
    )
    warm_up.add_argument("--times", action="store_true", help="print the processor time of each part")

    defaults = _command(
        commands, "defaults", system.defaults, "Train what is shown by default and write it to the data directory."
    )
    defaults.add_argument("names", nargs="*", metavar="NAME", help="only these (default: all)")


def _comparison_commands(commands) -> None:
    from labseq_core.evaluation.registry import METRICS

    compare = _command(commands, "compare", running.compare, "Compare methods on a corpus.")
    compare.add_argument("config", nargs="?", help="a configuration file (YAML or JSON), instead of the options")
    compare.add_argument("--dataset", help="a corpus, see 'labseq datasets list'")
    compare.add_argument("--methods", help=METHODS_HELP)
    _features(compare)
    compare.add_argument("--folds", type=int, default=0, help="folds of cross-validation; 0: train and test part")
    compare.add_argument("--seed", type=int, default=0)
    compare.add_argument("--sequences", type=int, default=0, help="only the first so many of the training part; 0: all")
    compare.add_argument(
        "--test-dataset", default="", help="test on the test set of this corpus, which has the same labels"
    )
    compare.add_argument(
        "--tune", action="store_true",
        help="choose the main options of every method on development data, with the same number of trainings for each",
    )  # fmt: skip
    compare.add_argument("--metrics", help=f"columns of the table, separated by commas: {', '.join(METRICS)}")
    compare.add_argument("--calibrate", action="store_true", help="scale scores to the development part (temperature)")
    compare.add_argument("--csv", help="write the scores to this file")
    _as_json(compare)
    _on_cluster(compare)

    repeat = _command(
        commands, "reproduce", reproducing.reproduce, "Run an experiment of the documents, beside its quoted results."
    )
    repeat.add_argument("name", nargs="?", help="which one (default: list them)")
    _as_json(repeat)
    _on_cluster(repeat)


def _runs_commands(parser: argparse.ArgumentParser) -> None:
    parts = parser.add_subparsers(required=True, metavar="list|show|resume|cancel|export|import|delete|pin")
    listing = _command(parts, "list", running.list_all, "Runs in the store, the newest first.")
    listing.add_argument("--dataset", help="only of this corpus")
    listing.add_argument("--method", help="only with this method, such as crf")
    listing.add_argument("--state", choices=("queued", "running", "done", "failed", "cancelled", "dead", "damaged"))
    listing.add_argument("--text", help="only with this in id, corpus, features or methods")
    listing.add_argument("--pinned", action="store_true", help="only pinned ones")
    listing.add_argument("--limit", type=int, default=50, help="at most so many (default 50)")
    _as_json(listing)
    show = _command(parts, "show", running.show, "The table of a run, or how far it is.")
    show.add_argument("run_id")
    show.add_argument("--csv", help="write the scores to this file")
    _as_json(show)
    resume = _command(
        parts, "resume", running.resume, "Go on with runs that were interrupted; what they had finished is kept."
    )
    resume.add_argument("run_id", nargs="*", help="which (default: all whose process died)")
    _on_cluster(resume)
    _command(parts, "cancel", running.cancel_run, "Stop a run, whichever process has it.").add_argument("run_id")
    export = _command(parts, "export", running.export, "Write a run as a zip file, or scores as CSV.")
    export.add_argument("run_id", nargs="?")
    export.add_argument("--output", help="the zip file (default: labseq-RUN.zip)")
    export.add_argument(
        "--csv", nargs="?", const="-", metavar="FILE", help="scores of the run, or of all, as CSV (default: print)"
    )
    _command(parts, "import", running.import_file, "Take exported runs into the store.").add_argument("file", nargs="+")
    _command(parts, "delete", running.delete, "Remove runs and their models.").add_argument("run_id", nargs="+")
    pin = _command(parts, "pin", running.pin, "Mark a run to be found again.")
    pin.add_argument("run_id")
    pin.add_argument("--off", action="store_true", help="take the mark away")


def _model_commands(commands) -> None:
    from labseq_core.data.formats.registry import written_extensions

    train = _command(commands, "train", models.train, "Train a model on a file of your own.")
    train.add_argument("file", help="a labelled corpus file")
    train.add_argument("--model", required=True, help="where to write the model (.npz)")
    train.add_argument("--method", default="crf", help="a method, with options after colons: crf:l2=0.1")
    _features(train)
    _reading(train)

    predict = _command(commands, "predict", models.predict, "Label a file with a model.")
    predict.add_argument("model")
    predict.add_argument("file", help="a corpus file, with or without labels")
    endings = ", ".join(written_extensions())
    predict.add_argument("--output", help=f"where to write it ({endings}; default: CoNLL on standard output)")
    predict.add_argument("--unlabelled", action="store_true", help="the file has no labels")
    _reading(predict)

    evaluate = _command(commands, "evaluate", models.score, "Score a model on a labelled file.")
    evaluate.add_argument("model")
    evaluate.add_argument("file")
    _as_json(evaluate)
    _reading(evaluate)


def _bench_command(commands) -> None:
    bench = _command(
        commands,
        "bench",
        system.bench,
        "Measure speed or results: " + "; ".join(map(": ".join, BENCHMARKS.items())) + ".",
    )
    bench.add_argument("name", choices=list(BENCHMARKS), metavar="NAME", help=" | ".join(BENCHMARKS))
    bench.add_argument("arguments", nargs=argparse.REMAINDER, metavar="...", help="see 'labseq bench NAME --help'")


def _datasets_commands(parser: argparse.ArgumentParser) -> None:
    parts = parser.add_subparsers(required=True, metavar="list|info|fetch")
    listing = _command(parts, "list", corpora.list_all, "All corpora.")
    _as_json(listing)
    for name, run, text in (
        ("info", corpora.describe, "Describe a corpus."),
        ("fetch", corpora.fetch, "Download a corpus."),
    ):
        _command(parts, name, run, text).add_argument("name")


if __name__ == "__main__":
    sys.exit(main())
