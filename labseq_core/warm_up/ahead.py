"""Compiling ahead: parts of the library, each of them made by running its routines once on a tiny problem.

Any number of processes may do this at once: a part is made by one of them, the others wait for it or take another.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np

from labseq_core.chain import ChainPotentials, forward_backward, k_best, max_marginals, path_scores, viterbi
from labseq_core.chain.recursions.batch import FEWEST_LANES
from labseq_core.compiling import code_cache
from labseq_core.explain.boosting import bound_curves
from labseq_core.features import FeatureTemplate, encode_attributes
from labseq_core.file_lock import HELD, lock
from labseq_core.kernels import KERNELS, Kernel, Normalized, Polynomial
from labseq_core.kernels.explicit import features_of_a_token
from labseq_core.learners.options import Option
from labseq_core.learners.registry import METHODS, make_learner, method_options
from labseq_core.places import private_opener

NICENESS = 10  # of the process beside a server, as of those that train: visitors come first
WORDS = [*[["Ana", "lives", "in", "Lima", "."]] * 5, ["It", "rains"]]  # enough of one length for lanes
LABELS = [*[["B", "O", "O", "B", "O"]] * 5, ["O", "O"]]


class Part(NamedTuple):
    title: str
    make: Callable[[], None]


def _chain() -> None:
    many = np.arange(FEWEST_LANES + 1) * 2  # enough for lanes, and a single one
    for offsets in (many, many[:2]):
        potentials = ChainPotentials(np.zeros(2), np.zeros((offsets[-1], 2)), np.zeros((2, 2)), np.zeros(2), offsets)
        for routine in (forward_backward, viterbi, max_marginals):
            routine(potentials)
    k_best(potentials, 2)
    path_scores(potentials, np.zeros(2, dtype=np.int64))


def _features() -> None:
    for template in ("S1", "S3", "prosody"):
        FeatureTemplate(template).encode(WORDS)
    encode_attributes([[{"word": word, "length": float(len(word))} for word in words] for words in WORDS])


def _learner(method_id: str) -> None:
    """By default, and with each choice of each option; a few rounds are enough."""
    encoded = FeatureTemplate("S3").encode(WORDS)
    options = method_options(method_id)
    few = {name: 2 for name in ("rounds", "epochs", "max_iter", "coordinates") if name in options}
    for chosen in ({}, *_choices(options)):
        learner = make_learner(method_id, **few, **chosen)
        learner.fit(encoded, LABELS, dev=(encoded, LABELS)).predict(WORDS)
        learner.k_best(WORDS, 2)
        learner.margins(WORDS, LABELS)


def _explanations() -> None:
    encoded = FeatureTemplate("S3").encode(WORDS)
    learner = make_learner("boost", rounds=2).fit(encoded, LABELS)
    bound_curves(learner, encoded, LABELS, label="O", previous_label="B")


def _choices(options: Mapping[str, Option]) -> Iterator[dict]:
    for name, option in options.items():
        for choice in option.choices:
            if name == "route":
                yield from ({"kernel": kernel, name: choice} for kernel in _kernels(choice))
            elif choice != option.default and choice != "bio":  # no routine of its own, and not for these labels
                yield {name: choice, **({"slack": "l1"} if name == "rescale" else {})}
    if "l1" in options:
        yield {"l1": 1.0}
    if "start_stop" in options:
        yield {"start_stop": True}


def _kernels(route: str) -> Iterator[Kernel]:
    """Those that a route is for: each of LabSeq's own, and one whose features have values."""
    own = [kernel() for name, kernel in KERNELS.items() if not KERNELS.source_of(name)]
    for kernel in (*own, Normalized(Polynomial(2))):
        if route != "explicit" or features_of_a_token(kernel, 1.0) is not None:
            yield kernel


_FIRST = (
    "crf",
    "gps",
)  # whose models label what visitors type on the first page; an HM-SVM's there needs no more than these
# In the order in which the pages need them.
PARTS = {
    "chain": Part("inference on chains", _chain),
    "features": Part("features", _features),
    **{
        method_id: Part(METHODS[method_id].title, lambda method_id=method_id: _learner(method_id))
        for method_id in dict.fromkeys((*_FIRST, *(name for name in METHODS if not METHODS.source_of(name))))
    },
    "explanations": Part("explanations", _explanations),
}


def parts_of(method_id: str) -> list[str]:
    """What a training needs."""
    return [
        name for name in ("chain", "features", method_id) if name in PARTS
    ]  # one from outside has no part of its own


def ready_parts() -> set[str]:
    """Those whose machine code is on disk."""
    return {name for name in PARTS if _is_ready(name)}


def prepare(parts: Iterable[str] | None = None, report: Callable[[str, float], None] | None = None) -> None:
    """Make parts (None: all) that are not on disk yet. `report(title, fraction)` is told what is being made or waited for."""
    missing = [name for name in (PARTS if parts is None else parts) if not _is_ready(name)]
    say = report or (lambda title, fraction: None)
    waiting = []
    for number, name in enumerate(missing):
        say(PARTS[name].title, number / len(missing))
        while not _make(name):
            if name != "chain":  # which the others need, and would make again
                waiting.append(name)
                break
            time.sleep(0.2)
    for number, name in enumerate(waiting):  # another process has begun them; if it dies, they are made here
        while not _make(name):
            say(PARTS[name].title, 1.0 - (len(waiting) - number) / len(missing))
            time.sleep(0.2)
    if missing:
        say("done", 1.0)


def forget() -> None:
    """Look at all parts anew: something is missing though they were there. What is at hand is only read."""
    for name in PARTS:
        if (mark := _mark(name)) is not None:
            with contextlib.suppress(OSError):
                mark.unlink()


def load(method_id: str, report: Callable[[str, float], None] | None = None) -> None:
    """Have the machine code of a method in this process, before any clock runs."""
    prepare(parts_of(method_id), report)
    for name in parts_of(method_id):
        PARTS[name].make()


def _make(name: str) -> bool:
    """Whether a part is there now; not if another process is making it."""
    if _is_ready(name):
        return True
    with _turn(name) as is_ours:
        if is_ours and not _is_ready(name):
            PARTS[name].make()
            if (mark := _mark(name)) is not None and not code_cache.write_failed:
                with contextlib.suppress(OSError):
                    mark.touch(mode=0o600)
        return is_ours


@contextmanager
def _turn(name: str) -> Iterator[bool]:
    """Whether this process is the one that makes a part; the operating system gives the turn back if it dies."""
    directory = code_cache.code_directory()
    if directory is None:
        yield True
        return
    try:
        file = open(directory / f"{name}.lock", "ab", opener=private_opener)  # noqa: SIM115
    except OSError:
        yield True
        return
    with file:
        try:
            lock(file.fileno())
        except OSError as problem:
            yield problem.errno not in HELD  # where files cannot be locked, everybody makes what is missing
        else:
            yield True


def _is_ready(name: str) -> bool:
    mark = _mark(name)
    return mark is not None and mark.exists()


def _mark(name: str) -> Path | None:
    directory = code_cache.code_directory()
    return directory and directory / f"{name}-{code_cache.core_digest()}.ready"


def main() -> None:
    """What the dashboard's server starts beside itself: make everything, at low priority, as long as the server lives."""
    threading.Thread(target=_end_with_input, daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(max(0, NICENESS - os.nice(0)))  # who started it may have done so already
    code_cache.on_miss = code_cache.say_nothing
    while not _all_made():  # another server's process is at it; if that dies, it is done here
        time.sleep(0.5)
    code_cache.remove_unused()


def _all_made() -> bool:
    """Parts have routines in common: two processes that make different parts would compile those twice."""
    with _turn("everything") as is_ours:
        if is_ours:
            prepare()
        return is_ours


def _end_with_input() -> None:
    """The process at its other end has ended, however that happened."""
    while os.read(0, 1024):  # a file object would be locked when this process ends by itself
        pass
    os._exit(1)


if __name__ == "__main__":
    main()
