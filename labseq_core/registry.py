"""What can be chosen, by name: a thing is declared once, as one object that says all that is to be known of it.

Forms, commands, tables and tests are made from the registries. A file from outside the tree (`labseq --with FILE.py`) adds a
thing of its own with one line, such as `KERNELS.add(MyKernel)`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

from labseq_core.checks import LabSeqError

Thing = TypeVar("Thing")
_source = ""  # a hash of the file from outside that is being loaded
_added: list[str] | None = None  # what it has added so far


class Registry(Mapping[str, Thing]):
    """Things of one kind in the order in which they were added; `noun` is what messages call one of them."""

    def __init__(self, noun: str, things: Iterable[Thing] = (), key: str = "name"):
        """key: the attribute of a thing by which it is found."""
        self.noun, self._key = noun, key
        self._things: dict[str, Thing] = {}
        self._sources: dict[str, str] = {}
        for thing in things:
            self.add(thing)

    def add(self, thing: Thing) -> Thing:
        """Take in one more; a name that is taken is refused. Returns the thing, so that it decorates a class or function."""
        name = getattr(thing, self._key)
        if name in self._things:
            raise LabSeqError(f"there is a {self.noun} {name!r} already; give yours another {self._key}")
        self._things[name], self._sources[name] = thing, _source
        if _added is not None:
            _added.append(f"{self.noun} {name}")
        return thing

    def find(self, name: str) -> Thing:
        """The thing of that name; an unknown one is told with the names that there are."""
        if name not in self._things:
            raise LabSeqError(f"there is no {self.noun} {name!r}; choose from {', '.join(self._things)}")
        return self._things[name]

    def source_of(self, name: str) -> str:
        """A hash of the file from outside that added it; empty for what belongs to LabSeq."""
        return self._sources.get(name, "")

    def __getitem__(self, name: str) -> Thing:
        return self._things[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._things)

    def __len__(self) -> int:
        return len(self._things)


@contextmanager
def loading(source: str) -> Iterator[list[str]]:
    """What is added meanwhile comes from outside, from a file with this hash; it is listed."""
    global _source, _added
    before = _source, _added
    _source, _added = source, []
    try:
        yield _added
    finally:
        _source, _added = before
