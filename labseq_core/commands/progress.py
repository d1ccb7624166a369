"""Progress on a terminal and elsewhere."""

from __future__ import annotations

import sys


class Bar:
    """A progress bar on a terminal, plain lines elsewhere; always on standard error."""

    def __init__(self, title: str):
        self.title = title
        self.on_terminal = sys.stderr.isatty()
        self.last = ""
        self.noted: set[str] = set()

    def show(self, fraction: float, message: str = "") -> None:
        if self.on_terminal:
            filled = round(30 * fraction)
            line = f"{self.title} [{'#' * filled}{'.' * (30 - filled)}] {100 * fraction:3.0f} % {message}"
            print(f"\r{line:<{len(self.last)}}", end="", file=sys.stderr, flush=True)
        else:
            line = f"{self.title}: {10 * int(10 * fraction)} %"
            if line != self.last:
                print(line, file=sys.stderr, flush=True)
        self.last = line

    def note(self, message: str, on_terminal: bool = False) -> None:
        """What takes long before anything can be counted, once; on a terminal the bar's own message says it, if it is drawn."""
        if (on_terminal or not self.on_terminal) and message not in self.noted:
            self.noted.add(message)
            self.close()
            print(f"{self.title}: {message}", file=sys.stderr, flush=True)

    def close(self) -> None:
        if self.on_terminal and self.last:
            print(file=sys.stderr)
