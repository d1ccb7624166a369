"""Names that a package offers but loads at first use: `import labseq_core` costs nothing, `labseq_core.CRF` does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec


def offered(package: str, names_in: Mapping[str, Sequence[str]]) -> tuple[Callable, Callable]:
    """The functions `__getattr__` and `__dir__` of a package that offers the names in these modules, and its modules."""
    module_of = {name: module for module, names in names_in.items() for name in names}

    def find(name: str) -> object:
        if name not in module_of:
            if not name.startswith("_") and find_spec(f"{package}.{name}"):
                return import_module(f"{package}.{name}")
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{module_of[name]}"), name)

    return find, lambda: sorted(module_of)
