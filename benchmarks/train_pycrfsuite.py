"""A process that trains python-crfsuite on the files of a benchmark, and tags. Called by `crf.py` as `train_labseq` is.

Imports neither our library nor what it needs: the memory is that of python-crfsuite alone.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pycrfsuite

from benchmarks.curves import crfsuite_curve
from benchmarks.exchange import read_crfsuite
from benchmarks.measuring import best_seconds, peak_megabytes, resident_megabytes, say, write_result
from benchmarks.usual_features import usual_way


class StampedTrainer(pycrfsuite.Trainer):
    """Remembers when each line of the log came."""

    def message(self, message: str) -> None:
        if not hasattr(self, "lines"):
            self.lines, self.clock = [], []
        self.lines.append(message)
        self.clock.append(time.perf_counter())
        if message.startswith("***** Iteration #") and int(message.split("#")[1].split()[0]) % 50 == 0:
            say(f"python-crfsuite: iteration {message.split('#')[1].split()[0]}")


def train(folder: Path, path: Path, l2: float, max_iter: int) -> tuple[StampedTrainer, float]:
    """The trainer after training, and when that began."""
    trainer = StampedTrainer(algorithm="lbfgs", verbose=False)
    for sentence, labels in read_crfsuite(folder / "train.crfsuite"):
        trainer.append(pycrfsuite.ItemSequence(sentence), labels)
    # c2 = l2/2; with possible_states every attribute has a weight with every label, as in our model.
    trainer.set_params({
        "c1": 0.0, "c2": l2 / 2, "feature.possible_states": 1, "feature.possible_transitions": 1,
        "epsilon": 1e-7, "delta": 1e-10, "period": 20, "max_iterations": max_iter,
    })  # fmt: skip
    started = time.perf_counter()
    trainer.train(str(path))
    return trainer, started


def attribute_lists_megabytes(folder: Path) -> float:
    """What the attributes of all sentences take as Python lists, which users hold beside the trainer's own copy.

    Measured in a process of its own: here they would take over what training has left free.
    """
    words = [sys.executable, "-m", "benchmarks.train_pycrfsuite", "lists", str(folder)]
    return float(subprocess.run(words, capture_output=True, text=True, check=True).stdout)


def print_attribute_lists_megabytes(folder: Path) -> None:
    before = resident_megabytes() or 0.0
    held = list(read_crfsuite(folder / "train.crfsuite"))
    print((resident_megabytes() or 0.0) - before if held else 0.0)


def tagging(path: Path, folder: Path) -> tuple[dict[str, float], list[list[str]]]:
    """Tokens per second, and the labels; from raw tokens by a Python function per token, as users write it."""
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    items = [pycrfsuite.ItemSequence(sentence) for sentence, _ in read_crfsuite(folder / "test.crfsuite")]
    text = (folder / "test.tokens").read_text(encoding="utf-8")
    sentences = [sentence.split("\n") for sentence in text.split("\n\n") if sentence]
    n_tokens = sum(map(len, sentences))
    ways = {
        "raw": lambda: [tagger.tag(sentence) for sentence in usual_way(sentences)],
        "encoded": lambda: [tagger.tag(sentence) for sentence in items],
    }
    seconds = best_seconds(ways, repeats=3)
    return {way: n_tokens / taken for way, taken in seconds.items()}, [tagger.tag(sentence) for sentence in items]


def main(folder: Path, name: str, l2: float, max_iter: int) -> None:
    before = resident_megabytes()
    path = folder / "model.crfsuite"
    trainer, started = train(folder, path, l2, max_iter)
    peak = peak_megabytes()
    first = trainer.clock[trainer.lines.index("L-BFGS optimization\n")]
    speeds, predicted = tagging(path, folder)
    result = {
        "curve": crfsuite_curve(trainer.lines, [moment - first for moment in trainer.clock]),
        "set_up_seconds": first - started,
        "megabytes_before": before,
        "megabytes": peak,
        "megabytes_of_lists": attribute_lists_megabytes(folder),
        "tokens_per_second": speeds,
        "predicted": predicted,
    }
    write_result(folder / f"{name}.json", result)


if __name__ == "__main__" and sys.argv[1] == "lists":
    print_attribute_lists_megabytes(Path(sys.argv[2]))
elif __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], float(sys.argv[3]), int(sys.argv[4]))
