"""The dashboard, compiling ahead, default results, benchmarks."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

from labseq_core.checks import LabSeqError
from labseq_core.commands.progress import Bar
from labseq_core.commands.running import follow
from labseq_core.worker_processes import SCHEDULER_VARIABLE

_COMPILING = "Compiling (the first time, then kept)"
_ALL_ADDRESSES = ("0.0.0.0", "::")


def app(chosen: argparse.Namespace) -> int | None:
    from labseq_core.serving.hosts import HOST_NAMES_VARIABLE, OwnHosts, url
    from labseq_core.serving.port import free_port
    from labseq_core.serving.settings import STREAMLIT_SETTINGS, app_path

    _require_installed("streamlit", "plotly")
    given = [name.strip() for name in os.environ.get(HOST_NAMES_VARIABLE, "").split(",")]
    own = OwnHosts(chosen.host, [*chosen.host_name, *filter(None, given)])
    port = chosen.port or free_port(chosen.host)
    settings = {**STREAMLIT_SETTINGS, "server.address": chosen.host, "server.port": port}
    address = url("localhost" if chosen.host in _ALL_ADDRESSES else chosen.host, port)
    shown = not chosen.no_browser and (sys.platform in ("win32", "darwin") or bool(os.environ.get("DISPLAY")))
    command = [sys.executable, "-c", "from labseq_core.serving.server import main; main()"]
    command += [str(app_path()), json.dumps(settings), address if shown else "", *own.given]
    if chosen.scheduler:
        os.environ[SCHEDULER_VARIABLE] = chosen.scheduler
    print(f"LabSeq is at {address} (Ctrl+C ends it)", flush=True)
    print(_who_reaches_it(chosen.host, own.names), flush=True)
    if sys.platform == "win32":
        import subprocess

        return subprocess.call(command)
    return os.execv(sys.executable, command)


def _who_reaches_it(host: str, names: list[str]) -> str:
    from labseq_core.serving.hosts import is_loopback

    if not is_loopback(host):
        known = f"Others reach it by this machine's IP address or as {', '.join(names)}; --host-name adds a name."
        return f"{known}\nEverybody who reaches it can use it: there is no password."
    if names:
        return f"It listens on this machine only; a proxy here may pass on requests to {', '.join(names)}."
    return "It listens on this machine only; --host lets others in."


def _require_installed(*packages: str) -> None:
    """The library is installed without what only the dashboard needs."""
    missing = [name for name in packages if not _is_installed(name)]
    if missing:
        raise LabSeqError(
            f'the dashboard needs {" and ".join(missing)}; install with: python -m pip install "labseq[app]"'
        )


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ImportError:
        return False


def compile_ahead(chosen: argparse.Namespace) -> None:
    from labseq_core.compiling import code_cache
    from labseq_core.warm_up import ahead

    bar = Bar(_COMPILING)
    begun: list[tuple[str, float]] = []  # part, processor time of this process

    def report(title: str, fraction: float) -> None:
        begun.append((title, time.process_time()))
        bar.show(fraction, title)

    code_cache.on_miss = code_cache.say_nothing
    ahead.prepare(report=report)
    bar.close()
    if chosen.times:
        for (title, start), (_, end) in pairwise(begun):
            print(f"{title:<40} {end - start:6.1f} s")
        print(f"{'all, Python and its packages included':<40} {time.process_time():6.1f} s of processor time")


def defaults(chosen: argparse.Namespace) -> None:
    from labseq_core.experiments import model, predictions, result, write_default
    from labseq_core.experiments.bundled.default_margins import TRAINING_MARGINS, write_margins
    from labseq_core.experiments.bundled.defaults import default_configs
    from labseq_core.experiments.bundled.lessons import LESSONS, write_lessons
    from labseq_core.experiments.results.learning_curve import CURVE, learning_curve_configs, write_default_curve
    from labseq_core.experiments.results.run_results import FIRST

    configs = default_configs()
    known = [*configs, TRAINING_MARGINS, LESSONS, CURVE]
    unknown = [name for name in chosen.names if name not in known]
    if unknown:
        raise LabSeqError(f"there is no default {unknown[0]!r}; choose from {', '.join(known)}")
    for name in chosen.names or known:
        if name == LESSONS:
            print(f"{name}: wrote {write_lessons().name}")
            continue
        if name == TRAINING_MARGINS:  # of the models that there are
            for each in configs:
                print(f"{name}: wrote {write_margins(each).name}")
            continue
        if name == CURVE:
            for config in learning_curve_configs(configs[FIRST]):
                follow(config)
            print(f"{name}: wrote {write_default_curve(configs[FIRST]).name}")
            continue
        config = configs[name]
        run = result(follow(config))
        models = {choice.label: model(run.run_id, choice.label) for choice in config.methods}
        said = {choice.label: predictions(run.run_id, choice.label) for choice in config.methods}
        print(f"{name}: wrote {write_default(name, run, models, said).name} and {len(models)} models")
        if chosen.names:  # among all, they follow
            write_margins(name)


def bench(chosen: argparse.Namespace) -> int | None:
    import importlib

    root = Path(__file__).resolve().parents[2]
    if not (root / "benchmarks" / f"{chosen.name}.py").is_file():
        raise LabSeqError("benchmarks are not part of an installed package; run this in a copy of the source tree")
    sys.path.insert(0, str(root))
    return importlib.import_module(f"benchmarks.{chosen.name}").main(chosen.arguments)
