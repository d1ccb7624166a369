"""Scores are written in `chain` and `scoring` alone: no solver and no learner makes potentials or writes to their arrays.

What counts as an array of scores: a part of potentials or weights (`x.node`), a variable of such a name, views of them, and a
parameter of a function that is given one. Found in the source, so that compiled loops count too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.house.test_imports import modules, room

PARTS = {"start", "node", "edge", "stop", "edge_matrices", "by_label", "scores"}
NAMES = {"node", "edge", "edges", "by_label"}  # of variables; `start` and `stop` have other meanings too
VIEWS = {"reshape", "ravel", "view", "transpose", "swapaxes", "squeeze", "asarray", "ascontiguousarray"}
WRITERS = {"at", "copyto", "put", "place", "putmask", "fill", "fill_diagonal", "sort", "partition"}


class Sources:
    """Some modules as trees, and which parameters of their functions are given arrays of scores."""

    def __init__(self, sources: dict[str, str]):
        self.scopes: list[tuple[str, ast.Module | ast.FunctionDef, list[ast.AST]]] = []
        self.functions: dict[str, list[ast.FunctionDef]] = {}
        for name, source in sources.items():
            tree = ast.parse(source)
            inner = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
            self.scopes += [(name, scope, list(own_nodes(scope))) for scope in (tree, *inner)]
            for function in inner:
                self.functions.setdefault(function.name, []).append(function)
        self.given: dict[ast.AST, set[str]] = {scope: set() for _, scope, _ in self.scopes}

    def faults(self) -> list[str]:
        found, known = [], -1
        while known < (known := sum(map(len, self.given.values()))):  # until no parameter is found any more
            found = [
                f"{name}:{line} {what}"
                for name, scope, nodes in self.scopes
                for line, what in self._faults_in(nodes, NAMES | self.given[scope])
            ]
        return found

    def _faults_in(self, nodes: list[ast.AST], scores: set[str]) -> Iterator[tuple[int, str]]:
        pairs = [pair for node in nodes for pair in assigned(node)]
        for _ in range(2):  # a name may be used in a loop before it is given its value
            scores |= {name.id for name, value in pairs if isinstance(name, ast.Name) and is_scores(value, scores)}
        for node in nodes:
            if isinstance(node, ast.Call):
                self._follow(node, scores)
            if what := fault(node, scores):
                yield node.lineno, what

    def _follow(self, call: ast.Call, scores: set[str]) -> None:
        """Mark the parameters that are given arrays of scores, in all functions of this name."""
        for function in self.functions.get(called(call), []):
            names = [each.arg for each in function.args.args]
            if isinstance(call.func, ast.Attribute) and names[:1] in (["self"], ["cls"]):
                names = names[1:]
            arguments = [*zip(names, call.args), *((each.arg, each.value) for each in call.keywords)]
            self.given[function] |= {name for name, value in arguments if is_scores(value, scores)}


def own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """All of it but the bodies of functions inside."""
    for child in ast.iter_child_nodes(scope):
        if not isinstance(child, ast.FunctionDef):
            yield child
            yield from own_nodes(child)


def called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def assigned(node: ast.AST) -> list[tuple[ast.expr, ast.expr]]:
    """Targets and what they are given; of `a, b = c, d` both."""
    if isinstance(node, ast.For | ast.comprehension):
        return [(node.target, node.iter)]
    if isinstance(node, ast.NamedExpr | ast.AugAssign):
        return [(node.target, node.value)]
    if not isinstance(node, ast.Assign):
        return []
    found = []
    for target in node.targets:
        if isinstance(target, ast.Tuple):
            values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value] * len(target.elts)
            found += zip(target.elts, values)
        else:
            found.append((target, node.value))
    return found


def is_scores(node: ast.expr, scores: set[str]) -> bool:
    if isinstance(node, ast.Name):
        return node.id in scores
    if isinstance(node, ast.Attribute):
        return node.attr in PARTS or (node.attr == "T" and is_scores(node.value, scores))
    if isinstance(node, ast.Subscript | ast.Starred):
        return is_scores(node.value, scores)
    if isinstance(node, ast.Call) and called(node) in VIEWS:
        return any(is_scores(each, scores) for each in (getattr(node.func, "value", None), *node.args) if each)
    return False


def fault(node: ast.AST, scores: set[str]) -> str:
    """What is wrong with a node, or ""."""
    written: list[ast.expr] = []
    if isinstance(node, ast.AugAssign):
        written = [node.target]
    elif isinstance(node, ast.Assign):
        written = [target for target, _ in assigned(node) if isinstance(target, ast.Subscript)]
    elif isinstance(node, ast.Call):
        name, owner = called(node), getattr(node.func, "value", None)
        if name == "ChainPotentials" or (name == "trusted" and getattr(owner, "id", "") == "ChainPotentials"):
            return "makes potentials"
        if name == "replace" and PARTS & {each.arg for each in node.keywords}:
            return "makes potentials of others"
        written = [each.value for each in node.keywords if each.arg == "out"]
        if name in WRITERS:
            written += [*([owner] if owner else []), *node.args[:1]]
    return next((f"writes {ast.unparse(each)}" for each in written if is_scores(each, scores)), "")


def test_no_solver_and_no_learner_writes_scores():
    sources = {
        name: path.read_text(encoding="utf-8")
        for name, path in modules().items()
        if room(name) in ("solvers", "learners")
    }
    assert len(sources) > 50
    assert Sources(sources).faults() == []


@pytest.mark.parametrize(
    "source",
    [
        "potentials.node[3, 1] += 1.0",
        "potentials.edge[:], other = 0.0, 1.0",
        "potentials.node += 1.0",
        "scores = potentials.node[2:].T\nscores[0] = 1.0",
        "here, there = chain.start, chain.stop\nthere[0] -= 1.0",
        "for row in potentials.node:\n    row[0] = 1.0",
        "np.add.at(potentials.node, (rows, 1), step)",
        "np.exp(changed, out=potentials.node)",
        "potentials.node.fill(0.0)",
        "running.by_label.reshape(-1)[place] = 0.0",
        "ChainPotentials.trusted(start, scored, pairs, stop, offsets)",
        "replace(potentials, edge=pairs)",
        "@compiled\ndef loop(order, node):\n    for t in order:\n        node[t, 0] = 1.0",
        "def outer(potentials):\n    middle(potentials.node)\ndef middle(array):\n    inner(0, amounts=array)\n"
        "def inner(place, amounts):\n    amounts[place] = 0.0",
        "class Fit:\n    def run(self):\n        self.move(self.potentials.edge)\n"
        "    def move(self, pairs):\n        pairs[0, 0] = 1.0",
    ],
)  # fmt: skip
def test_what_would_be_found(source):
    assert len(Sources({"module": source}).faults()) == 1


def test_what_is_allowed():
    """To read scores, to change a copy, and to hand arrays to routines of `scoring`."""
    source = """
def fit(potentials, weights):
    best = potentials.node.copy()
    best[0] = potentials.edge[0, 1]
    node = np.empty(potentials.node.shape)
    score_positions(weights.node, 0, 3, node)
    loop(node, best)

def loop(read, written):
    written[:] = read[0]
"""
    assert Sources({"module": source}).faults() == []
