"""What can be chosen, by name: a thing is declared once, as one object that says all that is to be known of it.

Forms, commands, tables and tests are made from the registries. A file from outside the tree (`labseq --with FILE.py`) adds a
thing of its own with one line, such as `KERNELS.add(MyKernel)`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple, TypeVar

from labseq_core.checks import LabSeqError

Thing = TypeVar("Thing")


class Source(NamedTuple):
    """Where a thing from outside comes from."""

    file: str  # votes.py, without its folder; of an installed package its module
    hash: str  # of the contents

    @property
    def is_file(self) -> bool:
        """Whether `--with` loads it; if not, it is a package."""
        return self.file.endswith(".py")

    @property
    def remedy(self) -> str:
        """What to do where it is missing."""
        return f"start with --with {self.file} (in Python: LABSEQ_WITH)" if self.is_file else f"install {self.file}"


_source: Source | None = None  # of what is being loaded
_added: list[str] | None = None  # what that has added so far


class Registry(Mapping[str, Thing]):
    """Things of one kind in the order in which they were added; `noun` is what messages call one of them."""

    def __init__(self, noun: str, things: Iterable[Thing] = (), key: str = "name"):
        """key: the attribute of a thing by which it is found."""
        self.noun, self._key = noun, key
        self._things: dict[str, Thing] = {}
        self._sources: dict[str, Source | None] = {}
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
        if name not in self:
            raise LabSeqError(f"there is no {self.noun} {name!r}; choose from {', '.join(self._things)}")
        return self._things[name]

    def source_of(self, name: str) -> Source | None:
        """What added it from outside; None for what belongs to LabSeq."""
        return self._sources.get(name)

    def __contains__(self, name: object) -> bool:
        """Names may come from a configuration file: a list there is no name, and no error here."""
        return isinstance(name, str) and name in self._things

    def __getitem__(self, name: str) -> Thing:
        return self._things[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._things)

    def __len__(self) -> int:
        return len(self._things)


@contextmanager
def loading(source: Source | None) -> Iterator[list[str]]:
    """What is added meanwhile comes from outside; it is listed."""
    global _source, _added
    before = _source, _added
    _source, _added = source, []
    try:
        yield _added
    finally:
        _source, _added = before


def from_outside(said: object, *registries: Registry) -> dict[str, Source]:
    """What plain data name of these registries that came from outside, as "kernel laplace", and from where."""
    names = set(_texts(said))
    found = ((f"{known.noun} {name}", known.source_of(name)) for known in registries for name in known if name in names)
    return {thing: source for thing, source in found if source is not None}


def _texts(said: object) -> Iterator[str]:
    if isinstance(said, str):
        yield said
    elif isinstance(said, Mapping | list | tuple):
        for part in said.values() if isinstance(said, Mapping) else said:
            yield from _texts(part)
