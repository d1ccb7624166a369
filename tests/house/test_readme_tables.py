"""The tables of the README say what the registries say."""

from __future__ import annotations

from labseq_core.kernels.registry import KERNELS
from labseq_core.learners.registry import METHODS, Method
from labseq_core.losses import LOSSES
from tests.conftest import REPOSITORY


def table(first: str) -> list[list[str]]:
    """The rows of the table whose head begins so, as cells."""
    text = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    lines = text.partition(f"\n| {first} |")[2].partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip().replace("\\|", "|") for cell in line.strip("| ").split(" | ")] for line in lines]


def in_python(method: Method) -> str:
    fixed = ", ".join(f'{name}="{value}"' for name, value in method.preset.items())
    return f"`{method.learner.__name__}({fixed})`" if fixed else f"`{method.learner.__name__}`"


def test_methods():
    assert [row[:2] for row in table("method")] == [[f"`{name}`", in_python(each)] for name, each in METHODS.items()]


def test_losses():
    expected = [[f"`{each.name}`", each.formula, "yes" if each.convex else "no"] for each in LOSSES.values()]
    assert table("loss") == expected


def test_kernels():
    expected = []
    for name, kernel in KERNELS.items():
        text = ":".join([name, *(each.text(each.default) for each in kernel.parameters())])
        expected.append([f"`{text}`", f"`{kernel()!r}`", kernel.summary])
    assert table("as text") == expected
