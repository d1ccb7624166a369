"""The command `labseq`. Every error is one line on standard error and exit code 2."""

from __future__ import annotations

import argparse
import json
import os
import socket
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from labseq_core._checks import LabSeqError

METHODS_HELP = (
    "methods separated by commas, options after colons, values to choose from with | between them: "
    "'crf:l2=0.1,hmm,gps:kernel=poly:2:l2=0.3|1|3'"
)
# name -> what it measures; the code is the module of that name in benchmarks/, beside this package in a source tree
BENCHMARKS = {
    "crf": "our CRF beside python-crfsuite: time, memory, tagging speed",
    "boost": "the cost of a round of boosting, and what the three bounds choose",
    "svm": "hidden Markov SVMs: time to a duality gap of 1 % beside our CRF, and with kernels",
    "kernels": "hidden Markov SVMs and Gaussian processes beside other methods and quoted results",
    "gpsc": "Gaussian processes of degree 2: dense, sparse, and on a whole corpus beside our CRF",
    "encoding": "tokens per second of feature templates, beside a Python function per token",
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
    from labseq_core.data.readers import FORMATS
    from labseq_core.features import TEMPLATES

    parser = OneLineParser(prog="labseq", description="A laboratory for label sequence learning.")
    parser.add_argument("--version", action="version", version=f"labseq {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run, text: str, parent=commands) -> argparse.ArgumentParser:
        made = parent.add_parser(name, help=text, description=text)
        made.set_defaults(run=run)
        return made

    def features(made: argparse.ArgumentParser) -> None:
        made.add_argument("--features", default="S3", choices=list(TEMPLATES), help="feature template (default S3)")
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

    app = command("app", _app, "Start the dashboard.")
    app.add_argument("--port", type=int, help="port (default: 8501 if it is free, else any free one)")
    app.add_argument("--no-browser", action="store_true", help="do not open a browser")

    warm = command("warm-up", _warm_up, "Compile the routines ahead, so that nothing is slow at first use.")
    warm.add_argument("--first-page", action="store_true", help="only what the dashboard shows before any click")
    defaults = command("defaults", _defaults, "Train what is shown by default and write it to the data directory.")
    defaults.add_argument("names", nargs="*", metavar="NAME", help="only these (default: all)")

    compare = command("compare", _compare, "Compare methods on a corpus.")
    compare.add_argument("config", nargs="?", help="a configuration file (YAML), instead of the options")
    compare.add_argument("--dataset", help="a corpus, see 'labseq datasets list'")
    compare.add_argument("--methods", help=METHODS_HELP)
    features(compare)
    compare.add_argument("--folds", type=int, default=0, help="folds of cross-validation; 0: train and test part")
    compare.add_argument("--seed", type=int, default=0)
    compare.add_argument("--csv", help="write the table to this file")

    train = command("train", _train, "Train a model on a file of your own.")
    train.add_argument("file", help="a labelled corpus file")
    train.add_argument("--model", required=True, help="where to write the model (.npz)")
    train.add_argument("--method", default="crf", help="a method, with options after colons: crf:l2=0.1")
    features(train)
    reading(train)

    predict = command("predict", _predict, "Label a file with a model.")
    predict.add_argument("model")
    predict.add_argument("file", help="a corpus file, with or without labels")
    predict.add_argument("--output", help="where to write it (.conll or .csv; default: CoNLL on standard output)")
    predict.add_argument("--unlabelled", action="store_true", help="the file has no labels")
    reading(predict)

    evaluate = command("evaluate", _evaluate, "Score a model on a labelled file.")
    evaluate.add_argument("model")
    evaluate.add_argument("file")
    evaluate.add_argument("--json", action="store_true", help="print JSON")
    reading(evaluate)

    bench = command("bench", _bench, "Measure speed or results: " + "; ".join(map(": ".join, BENCHMARKS.items())) + ".")
    bench.add_argument("name", choices=list(BENCHMARKS), metavar="NAME", help=" | ".join(BENCHMARKS))
    bench.add_argument("arguments", nargs=argparse.REMAINDER, metavar="...", help="see 'labseq bench NAME --help'")

    datasets = commands.add_parser("datasets", help="List, describe and fetch corpora.")
    parts = datasets.add_subparsers(required=True, metavar="list|info|fetch")
    listing = command("list", _list_datasets, "All corpora.", parts)
    listing.add_argument("--json", action="store_true", help="print JSON")
    for name, run, text in (
        ("info", _dataset_info, "Describe a corpus."),
        ("fetch", _fetch_dataset, "Download a corpus."),
    ):
        command(name, run, text, parts).add_argument("name")
    return parser


def _app(chosen: argparse.Namespace) -> int | None:
    from labseq_core.dashboard_settings import STREAMLIT_SETTINGS, app_path

    port = chosen.port or _free_port()
    shown = not chosen.no_browser and (sys.platform in ("win32", "darwin") or bool(os.environ.get("DISPLAY")))
    settings = {**STREAMLIT_SETTINGS, "server.port": port, "server.headless": not shown}
    flags = [f"--{key}={str(value).lower() if isinstance(value, bool) else value}" for key, value in settings.items()]
    command = [sys.executable, "-m", "streamlit", "run", str(app_path()), *flags]
    print(f"LabSeq is at http://127.0.0.1:{port} (Ctrl+C ends it)", flush=True)
    if sys.platform == "win32":
        import subprocess

        return subprocess.call(command)
    return os.execv(sys.executable, command)


def _free_port(usual: int = 8501) -> int:
    for port in (usual, 0):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return probe.getsockname()[1]
    raise LabSeqError("no free port was found; name one with --port")


def _warm_up(chosen: argparse.Namespace) -> None:
    from labseq_core._jit import warm_up

    bar = _Bar("Compiling (the first time, then kept)")
    methods = None
    if chosen.first_page:
        from labseq_core.experiments.defaults import METHODS as methods
    warm_up(lambda what, fraction: bar.show(fraction, what), methods, parallel=not chosen.first_page)
    bar.close()


def _defaults(chosen: argparse.Namespace) -> None:
    from labseq_core.experiments import model, result, write_default
    from labseq_core.experiments.defaults import default_configs
    from labseq_core.experiments.lessons import LESSONS, write_lessons
    from labseq_core.experiments.prepared import write_prepared

    configs = default_configs()
    known = [*configs, LESSONS]
    unknown = [name for name in chosen.names if name not in known]
    if unknown:
        raise LabSeqError(f"there is no default {unknown[0]!r}; choose from {', '.join(known)}")
    for name in chosen.names or known:
        if name == LESSONS:
            print(f"{name}: wrote {write_lessons().name}")
            continue
        config = configs[name]
        found = result(_follow(config))
        models = {choice.label: model(found.run_id, choice.label) for choice in config.methods}
        print(f"{name}: wrote {write_default(name, found, models).name} and {len(models)} models")
        write_prepared(name, config, models)


def _compare(chosen: argparse.Namespace) -> int:
    from labseq_core.experiments import ExperimentConfig, result

    if chosen.config:
        config = ExperimentConfig.from_yaml(_read_text(chosen.config))
    else:
        if not (chosen.dataset and chosen.methods):
            raise LabSeqError("name a corpus with --dataset and methods with --methods, or give a configuration file")
        methods = tuple(map(_method_choice, chosen.methods.split(",")))
        config = ExperimentConfig(chosen.dataset, methods, _feature_choice(chosen), chosen.folds, chosen.seed)
    found = result(_follow(config))
    _print_table(found.summary())
    for row in found.rows:
        if any(entry["label"] == row["label"] for entry in found.searches):
            print(f"{row['label']}, fold {row['fold'] + 1}: chosen {row['options']}")
    if chosen.csv:
        Path(chosen.csv).write_text(found.csv(), encoding="utf-8")
        print(f"wrote {Path(chosen.csv).name}")
    return 0


def _follow(config) -> str:
    """Submit, show progress until the end, give the run's id."""
    from labseq_core.experiments import cancel, status, submit

    run_id = submit(config)
    bar = _Bar(config.dataset)
    try:
        now = status(run_id)
        while now.active:
            bar.show(now.fraction, now.message)
            time.sleep(0.1)
            now = status(run_id)
    except KeyboardInterrupt:
        cancel(run_id)
        raise
    bar.show(now.fraction, now.message)
    bar.close()
    if now.state != "done":
        raise LabSeqError(f"the run is {now.state}: {now.error or now.message}")
    return run_id


def _print_table(summary: list[dict]) -> None:
    columns = {"accuracy": "accuracy %", "sequence_accuracy": "whole sequences %", "span_f1": "span F1 %"}
    columns = {key: title for key, title in columns.items() if any(row[f"{key}_mean"] is not None for row in summary)}
    width = max(len(row["label"]) for row in summary)
    print(" " * width, *(f"{title:>18}" for title in columns.values()), f"{'training s':>12}")
    for row in summary:
        cells = [_percent(row[f"{key}_mean"], row[f"{key}_se"]) for key in columns]
        print(f"{row['label']:<{width}}", *(f"{cell:>18}" for cell in cells), f"{row['train_seconds_mean']:>12.2f}")


def _percent(mean: float | None, error: float | None) -> str:
    if mean is None:
        return "-"
    return f"{100 * mean:.2f}" + ("" if error is None else f" ± {100 * error:.2f}")


def _train(chosen: argparse.Namespace) -> None:
    from labseq_core.learners.registry import make_learner
    from labseq_core.learners.search import search

    folder = Path(chosen.model).absolute().parent
    if not os.access(folder, os.W_OK):  # known before an hour of training, not after it
        raise LabSeqError(
            f"the folder of {Path(chosen.model).name} cannot be written; choose another place for --model"
        )
    choice = _method_choice(chosen.method)
    learner = make_learner(choice.method, **choice.options)
    corpus = _read_corpus(chosen)
    encoded = _feature_choice(chosen).make().encode(corpus)
    bar = _Bar(choice.label)

    def callback(progress) -> None:
        bar.show(progress.fraction, f"{progress.objective:.4g}")

    if choice.search:
        found = search(learner, choice.grid(), encoded, corpus.labels, callback=callback)
        learner = found.learner
    else:
        learner.fit(encoded, corpus.labels, callback=callback)
    bar.close()
    if choice.search:
        print("chosen:", ", ".join(f"{name}={value}" for name, value in found.best.items()))
    learner.save(chosen.model)
    print(f"wrote {Path(chosen.model).name}: {choice.label}, {len(learner.classes_)} labels, {len(corpus)} sequences")


def _predict(chosen: argparse.Namespace) -> None:
    from labseq_core.data.writers import write_conll, write_csv
    from labseq_core.learners.registry import load_model

    model = load_model(chosen.model)
    corpus = _read_corpus(chosen, unlabelled=chosen.unlabelled)
    target = chosen.output or sys.stdout.buffer
    write = write_csv if chosen.output and chosen.output.lower().endswith(".csv") else write_conll
    write(corpus, target, labels=model.predict(corpus))


def _evaluate(chosen: argparse.Namespace) -> None:
    from labseq_core.evaluation import evaluate
    from labseq_core.learners.registry import load_model

    model = load_model(chosen.model)
    corpus = _read_corpus(chosen)
    summary = evaluate(corpus.labels, model.predict(corpus)).summary()
    if chosen.json:
        print(json.dumps(summary))
        return
    for name, value in summary.items():
        if value is not None:
            print(f"{name:<18} {value:.4f}" if isinstance(value, float) else f"{name:<18} {value}")


def _bench(chosen: argparse.Namespace) -> int | None:
    import importlib

    root = Path(__file__).resolve().parent.parent
    if not (root / "benchmarks" / f"{chosen.name}.py").is_file():
        raise LabSeqError("benchmarks are not part of an installed package; run this in a copy of the source tree")
    sys.path.insert(0, str(root))
    return importlib.import_module(f"benchmarks.{chosen.name}").main(chosen.arguments)


def _list_datasets(chosen: argparse.Namespace) -> None:
    from labseq_core.data.catalogue import list_datasets

    infos = list_datasets()
    if chosen.json:
        keys = ("name", "title", "task", "bundled", "available", "licence", "size")
        print(json.dumps([{key: getattr(info, key) for key in keys} for info in infos], ensure_ascii=False))
        return
    width = max(len(info.name) for info in infos)
    for info in infos:
        state = "bundled" if info.bundled else "on this machine" if info.available else "to be downloaded"
        print(f"{info.name:<{width}}  {state:<16}  {info.title}")


def _dataset_info(chosen: argparse.Namespace) -> None:
    from labseq_core.data.catalogue import dataset_info

    info = dataset_info(chosen.name)
    for name in ("name", "title", "description", "size", "task", "licence", "citation"):
        if getattr(info, name):
            print(f"{name:<12} {getattr(info, name)}")


def _fetch_dataset(chosen: argparse.Namespace) -> None:
    from labseq_core.data.catalogue import fetch_dataset

    bar = _Bar(chosen.name)
    fetch_dataset(chosen.name, progress=bar.show)
    bar.close()
    print(f"{chosen.name} is on this machine")


def _method_choice(text: str):
    from labseq_core.experiments import MethodChoice
    from labseq_core.experiments.config import SEARCH
    from labseq_core.learners.registry import method_options

    method, *pieces = text.strip().split(":")
    specs = method_options(method)
    pairs: list[str] = []
    for piece in pieces:
        # What has no name goes on with the value before it: "kernel=poly:2" is one pair.
        pairs[-1:] = [f"{pairs[-1]}:{piece}"] if pairs and "=" not in piece else [*pairs[-1:], piece]
    options, tried = {}, {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or name not in specs:
            raise LabSeqError(f"{pair!r} is not an option of {method}; write name=value with one of {', '.join(specs)}")
        if SEARCH in value:
            tried[name] = [specs[name].parse(one) for one in value.split(SEARCH)]
        else:
            options[name] = specs[name].parse(value)
    return MethodChoice(method, options, tried)


def _feature_choice(chosen: argparse.Namespace):
    from labseq_core.experiments import FeatureChoice

    columns = tuple(chosen.columns.split(",")) if chosen.columns else None
    return FeatureChoice(chosen.features, chosen.window, columns, chosen.bins, chosen.joint)


def _read_corpus(chosen: argparse.Namespace, unlabelled: bool = False):
    from labseq_core.data.readers import FORMATS, choose_format, read_file
    from labseq_core.data.source import read_bytes

    kind = chosen.format or choose_format(Path(chosen.file).name, read_bytes(chosen.file))
    known = [option.name for option in FORMATS[kind].options]
    key = next((name for name in ("label_column", "label") if name in known), None)
    options: dict = {"encoding": chosen.encoding}
    if key and (unlabelled or chosen.label is not None):
        options[key] = None if unlabelled else chosen.label
        if key == "label_column" and not unlabelled:
            try:
                options[key] = int(chosen.label)
            except ValueError:
                raise LabSeqError(
                    f"--label is {chosen.label!r}; for CoNLL columns give a number, -1 is the last"
                ) from None
    return read_file(chosen.file, format=kind, **options)


def _read_text(path: str) -> str:
    from labseq_core.data.source import read_text

    return read_text(path)


class _Bar:
    """A progress bar on a terminal, plain lines elsewhere; always on standard error."""

    def __init__(self, title: str):
        self.title = title
        self.on_terminal = sys.stderr.isatty()
        self.last = ""

    def show(self, fraction: float, message: str = "") -> None:
        if self.on_terminal:
            filled = round(30 * fraction)
            line = f"{self.title} [{'#' * filled}{'.' * (30 - filled)}] {100 * fraction:3.0f} % {message}"
            print(f"\r{line:<{len(self.last)}}", end="", file=sys.stderr, flush=True)
        else:
            line = f"{self.title}: {10 * int(10 * fraction)} %"
            if line != self.last:
                print(line, file=sys.stderr, flush=True)
        self.last = line

    def close(self) -> None:
        if self.on_terminal and self.last:
            print(file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
