"""Mercer kernels over observations, and their algebra: sums, positive multiples, normalisation.

Every kernel is a sum of terms, each a basic kernel of inner products with a factor for either observation:

k(x, z) = Σ_terms s(x) s(z) f(⟨x, z⟩, ⟨x, x⟩, ⟨z, z⟩)

A basic kernel says only its formula f and which attributes the inner products are over; `gram` computes them. What a multiple
or a normalisation does is in the factors s. Attributes that training never saw are no part of an observation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import MISSING, dataclass, fields, replace
from numbers import Real
from typing import ClassVar, cast

import numpy as np

from labseq_core.checks import LabSeqError, require
from labseq_core.kernels.parameters import Parameter, number_text

_FACTOR = Parameter("the factor of a kernel", 1.0, above=0.0)


class Kernel(ABC):
    """A symmetric positive semi-definite function of two observations. Small, frozen, equal by value.

    `repr` is the Python expression that makes it, `str` the short text that `parse_kernel` reads.
    """

    # numpy's numbers leave multiplication to the kernel
    __array_ufunc__ = None
    gp_iterations: ClassVar[int] = 60  # that a Gaussian process usually takes in it, for the estimated time

    @property
    def is_linear(self) -> bool:
        """Whether it is the inner product itself: its features are the attributes."""
        return False

    @abstractmethod
    def terms(self) -> tuple[Term, ...]:
        """The basic kernels that it is the sum of."""

    @abstractmethod
    def to_dict(self) -> dict:
        """What JSON can hold; `kernel_from_dict` reads it."""

    def __add__(self, other: Kernel) -> Kernel:
        return Sum((self, other)) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, factor: float) -> Kernel:
        return Scaled(factor, self) if isinstance(factor, Real) else NotImplemented

    __rmul__ = __mul__


class BasicKernel(Kernel):
    """A kernel that is a formula of inner products: a frozen dataclass whose fields are its parameters."""

    name: ClassVar[str]  # in texts and in JSON
    summary: ClassVar[str]  # how it compares two observations, in a few words
    attribute: str | None = None  # over those named so only, there or not; None: over all attributes, with values

    @property
    def polynomial(self) -> tuple[int, float] | None:
        """(degree, constant) if it is a polynomial of the inner product: then it has explicit features."""
        return None

    @abstractmethod
    def formula(self, inner: np.ndarray, left: np.ndarray, right: np.ndarray) -> None:
        """Turn inner products ⟨x, z⟩, (m, n), into kernel values, in place; left ⟨x, x⟩, (m, 1), right ⟨z, z⟩, (1, n)."""

    @classmethod
    def parameters(cls) -> tuple[Parameter, ...]:
        """What follows its name in texts, separated by colons; all have defaults."""
        declared = []
        for each in fields(cast("type", cls)):
            if each.default is MISSING:
                raise LabSeqError(
                    f"{cls.__name__}: {each.name} has no default; write {each.name} = parameter(default, help)"
                )
            declared.append(Parameter(each.name, each.default, **each.metadata))
        return tuple(declared)

    def __post_init__(self) -> None:
        for parameter in self.parameters():
            object.__setattr__(self, parameter.name, parameter.checked(getattr(self, parameter.name)))

    def terms(self) -> tuple[Term, ...]:
        return (Term(self),)

    def to_dict(self) -> dict:
        return {"kernel": self.name, **vars(self)}

    def __str__(self) -> str:
        """The first parameter is always written, the others unless they are the usual ones."""
        parameters = list(self.parameters())
        while len(parameters) > 1 and getattr(self, parameters[-1].name) == parameters[-1].default:
            parameters.pop()
        return ":".join([self.name, *(each.text(getattr(self, each.name)) for each in parameters)])


@dataclass(frozen=True)
class Term:
    """factor · f(x, z) / Π √(N(x, x) N(z, z)) with the kernels N in `norms`."""

    basic: BasicKernel
    factor: float = 1.0
    norms: tuple[Kernel, ...] = ()


@dataclass(frozen=True, repr=False)
class Sum(Kernel):
    """k_1 + k_2 + ...: written with a plus."""

    parts: tuple[Kernel, ...]

    def __post_init__(self) -> None:
        require(len(self.parts) > 0, "a sum of kernels has no parts; add at least one kernel")
        flat = [more for part in self.parts for more in (part.parts if isinstance(part, Sum) else (part,))]
        object.__setattr__(self, "parts", tuple(flat))

    def terms(self) -> tuple[Term, ...]:
        return tuple(term for part in self.parts for term in part.terms())

    def to_dict(self) -> dict:
        return {"kernel": "sum", "parts": [part.to_dict() for part in self.parts]}

    def __repr__(self) -> str:
        return " + ".join(map(repr, self.parts))

    def __str__(self) -> str:
        return "+".join(map(str, self.parts))


@dataclass(frozen=True, repr=False)
class Scaled(Kernel):
    """factor · k, factor > 0: written with a star."""

    factor: float
    part: Kernel

    def __post_init__(self) -> None:
        factor = _FACTOR.checked(self.factor)
        if isinstance(self.part, Scaled):
            factor = _FACTOR.checked(factor * self.part.factor)
            object.__setattr__(self, "part", self.part.part)
        object.__setattr__(self, "factor", factor)

    def terms(self) -> tuple[Term, ...]:
        return tuple(replace(term, factor=self.factor * term.factor) for term in self.part.terms())

    def to_dict(self) -> dict:
        return {"kernel": "scaled", "factor": self.factor, "part": self.part.to_dict()}

    def __repr__(self) -> str:
        return (
            f"{self.factor!r} * ({self.part!r})" if isinstance(self.part, Sum) else f"{self.factor!r} * {self.part!r}"
        )

    def __str__(self) -> str:
        factor = number_text(self.factor)
        return f"{factor}*({self.part})" if isinstance(self.part, Sum) else f"{factor}*{self.part}"


@dataclass(frozen=True)
class Normalized(Kernel):
    """k(x, z) / √(k(x, x) k(z, z)): every observation has length 1. One with k(x, x) = 0 is like none, itself included."""

    kernel: Kernel

    def __post_init__(self) -> None:
        name = type(self.kernel).__name__
        require(isinstance(self.kernel, Kernel), f"Normalized is given a {name}; give a kernel, such as Polynomial(2)")

    def terms(self) -> tuple[Term, ...]:
        return tuple(replace(term, norms=(*term.norms, self.kernel)) for term in self.kernel.terms())

    def to_dict(self) -> dict:
        return {"kernel": "normalized", "part": self.kernel.to_dict()}

    def __str__(self) -> str:
        return f"normalized({self.kernel})"
