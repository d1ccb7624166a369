"""A part of a trellis as data to draw: nodes with what a recursion has computed so far, and the links that matter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labseq_core.explain.lattice import Step
from labseq_core.explain.sequence import Reading


@dataclass(frozen=True)
class Node:
    position: int
    label: str
    value: float | None  # None: the recursion has not come here yet
    on_path: bool  # of the best labelling or, on the way, of the best beginning that ends in the chosen node
    chosen: bool  # the node whose step is shown


@dataclass(frozen=True)
class Link:
    position: int  # of its left end
    left: str
    right: str
    share: float  # of the sum, or 1
    kind: str  # "term": what the step takes together; "pointer": a back-pointer; "path": one on the best path


@dataclass(frozen=True)
class Trellis:
    positions: range
    labels: list[str]
    nodes: list[Node]
    links: list[Link]
    step: Step
    left_out: int  # labels that are not shown


def trellis(
    reading: Reading, recursion: str, position: int, label: str, columns: int = 7, most_labels: int = 12
) -> Trellis:
    """The columns around a position, after the step into one of its nodes.

    Forward and Viterbi have come from the left up to the position, backward from the right. Of many labels those are shown
    through which the best labellings go.
    """
    lattice, classes = reading.lattice, reading.classes
    chosen = classes.index(label)
    step = lattice.step(recursion, position, chosen)
    positions = _window(position, len(reading), columns)
    kept = _labels_shown(reading, positions, chosen, most_labels)
    path = _path(reading, recursion, position, chosen)
    values = lattice.values(recursion)
    nodes = [
        Node(t, classes[s], float(values[t, s]) if _done(recursion, t, position) else None,
             t in path and path[t] == s, (t, s) == (position, chosen))
        for t in positions for s in kept
    ]  # fmt: skip
    links = _terms(step, classes, kept, positions) if recursion != "viterbi" else []
    if recursion == "viterbi":
        links = _pointers(reading, positions, position, kept, path)
    shown = [classes[s] for s in kept]
    return Trellis(positions, shown, nodes, links, step, len(classes) - len(kept))


def _window(position: int, length: int, columns: int) -> range:
    begin = max(0, min(position - columns // 2, length - columns))
    return range(begin, min(begin + columns, length))


def _labels_shown(reading: Reading, positions: range, chosen: int, most: int) -> list[int]:
    lattice = reading.lattice
    if len(reading.classes) <= most:
        return list(range(len(reading.classes)))
    # How near to the best labelling the best one through the label comes, anywhere in the window.
    nearest = lattice.through[positions.start : positions.stop].max(axis=0)
    nearest[lattice.labels[positions.start : positions.stop]] = np.inf
    nearest[chosen] = np.inf
    return sorted(np.argsort(-nearest, kind="stable")[:most].tolist())


def _done(recursion: str, t: int, position: int) -> bool:
    return t >= position if recursion == "backward" else t <= position


def _path(reading: Reading, recursion: str, position: int, chosen: int) -> dict[int, int]:
    """Position -> label: of Viterbi the best way to the chosen node, else the best labelling where the recursion has been."""
    if recursion == "viterbi":
        return dict(enumerate(reading.lattice.path_to(position, chosen).tolist()))
    labels = enumerate(reading.lattice.labels.tolist())
    return {t: s for t, s in labels if _done(recursion, t, position)}


def _terms(step: Step, classes: list[str], kept: list[int], positions: range) -> list[Link]:
    """What the sum of a step is over: links from the column before, or to the column after."""
    if not step.terms.size:
        return []
    backward, own = step.recursion == "backward", classes[step.label]
    begin = step.position if backward else step.position - 1
    if begin not in positions or begin + 1 not in positions:
        return []
    some = [(classes[s], float(step.shares[s])) for s in kept if step.terms[s] > -np.inf]
    return [Link(begin, own if backward else other, other if backward else own, share, "term") for other, share in some]


def _pointers(reading: Reading, positions: range, until: int, kept: list[int], path: dict[int, int]) -> list[Link]:
    """The back-pointers of all columns that Viterbi has come to."""
    lattice, classes, links = reading.lattice, reading.classes, []
    for t in positions:
        if not positions.start < t <= until:
            continue
        for s in kept:
            before = int(lattice.pointers[t, s])
            if before in kept and lattice.best[t, s] > -np.inf:
                kind = "path" if path.get(t) == s else "pointer"
                links.append(Link(t - 1, classes[before], classes[s], 1.0, kind))
    return links
