"""What a page shows in one of its tabs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Tab:
    """title: in the row of tabs, and in links. draw: draws it; only the open one is drawn."""

    title: str
    draw: Callable[..., None]
