"""The kernels by name; as texts ("poly:2", "2*linear+rbf:0.5", "normalized(poly:3)") and from JSON."""

from __future__ import annotations

import re

from labseq_core.checks import LabSeqError
from labseq_core.kernels.base import BasicKernel, Kernel, Normalized, Scaled, Sum
from labseq_core.kernels.linear import Linear
from labseq_core.kernels.polynomial import Polynomial
from labseq_core.kernels.rbf import RBF
from labseq_core.kernels.token_match import TokenMatch
from labseq_core.registry import Registry

KERNELS: Registry[type[BasicKernel]] = Registry("kernel", (Linear, Polynomial, RBF, TokenMatch))
MAX_TEXT, MAX_DEPTH = 300, 6  # characters, parentheses in one another
_NORMALIZED = "normalized"
_TOKEN = re.compile(
    r"\s*(?:(?P<number>[\d.]+(?:[eE][+-]?\d+)?)(?=\s*\*)|"
    r"(?P<name>[a-z][a-z0-9_-]*)(?P<arguments>(?::[^:+*()\s]+)*)|(?P<sign>[+*()]))"
)


def syntax() -> str:
    """How each kernel is written, for forms and messages."""
    return ", ".join([*map(_written, KERNELS.values()), "normalized(poly:2)", "2*poly:2+rbf:1"])


def _written(kernel: type[BasicKernel]) -> str:
    """Its text with all parameters, and their names: poly:2:1 (degree, constant)."""
    parameters = kernel.parameters()
    names = ", ".join(each.name for each in parameters)
    text = ":".join([kernel.name, *(each.text(each.default) for each in parameters)])
    return f"{text} ({names})" if names else text


def parse_kernel(text: str) -> Kernel:
    """The kernel that `str(kernel)` wrote, or that a user typed."""
    reader = _Reader(text)
    kernel = reader.sum()
    if reader.tokens:
        raise reader.error()
    return kernel


def kernel_from_dict(data: dict) -> Kernel:
    """The kernel that `to_dict` wrote."""
    try:
        options = dict(data)
        name = options.pop("kernel")
        if name == "sum":
            return Sum(tuple(map(kernel_from_dict, options["parts"])))
        if name == "scaled":
            return Scaled(options["factor"], kernel_from_dict(options["part"]))
        if name == _NORMALIZED:
            return Normalized(kernel_from_dict(options["part"]))
        return KERNELS.find(name)(**options)
    except (KeyError, TypeError, ValueError) as problem:
        if isinstance(problem, LabSeqError):
            raise
        raise LabSeqError(f"{data!r} is no kernel; give what a kernel's to_dict() made") from None


class _Reader:
    """sum = product ("+" product)*;  product = [number "*"] atom;  atom = name (":" argument)* | "(" sum ")"."""

    def __init__(self, text: str):
        self.text = text
        if not isinstance(text, str) or len(text) > MAX_TEXT:
            raise LabSeqError(f"a kernel is written as a text of at most {MAX_TEXT} characters: {syntax()}")
        self.tokens: list[re.Match] = []
        self.depth = 0
        place = 0
        while text[place:].strip():
            token = _TOKEN.match(text, place)
            if token is None:
                raise self.error()
            self.tokens.append(token)
            place = token.end()

    def error(self, why: str = "") -> LabSeqError:
        return LabSeqError(f"kernel is {self.text!r}{why and ': ' + why}; write {syntax()}")

    def next(self, kind: str, value: str | None = None) -> re.Match | None:
        """Take the next token if it is of this kind."""
        if self.tokens and self.tokens[0][kind] and value in (None, self.tokens[0][kind]):
            return self.tokens.pop(0)
        return None

    def expect(self, sign: str) -> None:
        if not self.next("sign", sign):
            raise self.error()

    def sum(self) -> Kernel:
        parts = [self.product()]
        while self.next("sign", "+"):
            parts.append(self.product())
        return Sum(tuple(parts)) if len(parts) > 1 else parts[0]

    def product(self) -> Kernel:
        number = self.next("number")
        if number is None:
            return self.atom()
        self.expect("*")
        try:
            return Scaled(float(number["number"]), self.atom())
        except LabSeqError:
            raise
        except ValueError:
            raise self.error() from None

    def atom(self) -> Kernel:
        if self.next("sign", "("):
            return self.inside()
        match = self.next("name")
        if match is None:
            raise self.error()
        name, arguments = match["name"], match["arguments"].split(":")[1:]
        if name == _NORMALIZED and not arguments:
            self.expect("(")
            return Normalized(self.inside())
        if name not in KERNELS or len(arguments) > len(parameters := KERNELS[name].parameters()):
            raise self.error()
        try:
            return KERNELS[name](*(each.read(argument) for each, argument in zip(parameters, arguments)))
        except LabSeqError as problem:
            raise self.error(str(problem)) from None
        except ValueError:
            raise self.error() from None

    def inside(self) -> Kernel:
        """What stands between parentheses."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.error(f"more than {MAX_DEPTH} parentheses in one another")
        kernel = self.sum()
        self.expect(")")
        self.depth -= 1
        return kernel
