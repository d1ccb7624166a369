"""A process that runs a program of the command line and notes its log and its memory. Called by `crf.py` as `train_labseq` is.

It is small itself: a program inherits the peak of the process that starts it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.curves import Curve, crfsuite_curve, wapiti_curve
from benchmarks.measuring import say, write_result


def crfsuite_command(folder: Path, l2: float, max_iter: int) -> list[str]:
    settings = {
        "c1": 0, "c2": l2 / 2, "feature.possible_states": 1, "feature.possible_transitions": 1,
        "epsilon": 1e-7, "delta": 1e-10, "period": 20, "max_iterations": max_iter,
    }  # fmt: skip
    flags = [word for key, value in settings.items() for word in ("-p", f"{key}={value}")]
    return [
        "crfsuite",
        "learn",
        "-a",
        "lbfgs",
        *flags,
        "-m",
        str(folder / "binary.model"),
        str(folder / "train.crfsuite"),
    ]


def wapiti_command(folder: Path, l2: float, max_iter: int) -> list[str]:
    rules = ["-1", "0", "-2", str(l2), "-i", str(max_iter), "-w", "0", "-e", "1e-8", "-t", str(os.cpu_count())]
    return ["wapiti", "train", "-a", "l-bfgs", *rules, str(folder / "train.wapiti"), str(folder / "wapiti.model")]


def found_on_path() -> list[str]:
    """Those of the programs that are there; another program is called wapiti too, so that one is asked what it is."""
    found = [name for name in PROGRAMS if shutil.which(name)]
    if "wapiti" in found:
        asked = subprocess.run(["wapiti", "--help"], capture_output=True, text=True, check=False)
        if "l-bfgs" not in asked.stdout + asked.stderr:
            found.remove("wapiti")
    return found


PROGRAMS: dict[str, tuple[Callable[[Path, float, int], list[str]], Callable[[list[str]], Curve]]] = {
    "crfsuite": (crfsuite_command, crfsuite_curve),
    "wapiti": (wapiti_command, wapiti_curve),
}


def main(folder: Path, name: str, l2: float, max_iter: int) -> None:
    command, curve_of = PROGRAMS[name]
    log = folder / f"{name}.log"
    with log.open("w") as file:
        process = subprocess.Popen(command(folder, l2, max_iter), stdout=file, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
    lines = log.read_text(errors="replace").splitlines()
    if status:
        say(f"{name} failed: {lines[-1] if lines else 'no word'}")
        sys.exit(1)
    unit = 2**20 if sys.platform == "darwin" else 2**10
    curve = curve_of(lines)
    say(f"{name}: {len(curve)} iterations")
    result = {
        "curve": curve,
        "set_up_seconds": None,
        "megabytes_before": 0.0,
        "megabytes": usage.ru_maxrss / unit,
        "tokens_per_second": {},
        "predicted": None,
    }
    write_result(folder / f"{name}.json", result)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], float(sys.argv[3]), int(sys.argv[4]))
