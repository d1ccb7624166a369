"""The dashboard, compiling ahead, default results, benchmarks."""

from __future__ import annotations

import argparse
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
LOOPBACK = ("127.0.0.1", "localhost", "::1")


def app(chosen: argparse.Namespace) -> int | None:
    from labseq_core.serving.port import free_port
    from labseq_core.serving.settings import STREAMLIT_SETTINGS, app_path

    _require_installed("streamlit", "plotly")
    port = chosen.port or free_port(chosen.host)
    shown = not chosen.no_browser and (sys.platform in ("win32", "darwin") or bool(os.environ.get("DISPLAY")))
    settings = {**STREAMLIT_SETTINGS, "server.address": chosen.host, "server.port": port, "server.headless": not shown}
    flags = [f"--{key}={str(value).lower() if isinstance(value, bool) else value}" for key, value in settings.items()]
    command = [sys.executable, "-c", "from labseq_core.serving.server import main; main()", str(app_path()), *flags]
    if chosen.scheduler:
        os.environ[SCHEDULER_VARIABLE] = chosen.scheduler
    print(f"LabSeq is at http://{chosen.host}:{port} (Ctrl+C ends it)", flush=True)
    if chosen.host in LOOPBACK:
        print("It listens on this machine only; --host lets others in.", flush=True)
    else:
        print("Everybody who reaches this address can use it: there is no password.", flush=True)
    if sys.platform == "win32":
        import subprocess

        return subprocess.call(command)
    return os.execv(sys.executable, command)


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
