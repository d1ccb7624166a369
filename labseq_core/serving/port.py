"""Where the dashboard listens unless it is told."""

from __future__ import annotations

import socket

from labseq_core.checks import LabSeqError

_USUAL = 8501


def free_port(host: str) -> int:
    """The usual port or, where that is taken, any that is free."""
    for port in (_USUAL, 0):
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
            try:
                probe.bind((host, port))
            except OSError:
                continue
            return probe.getsockname()[1]
    raise LabSeqError("no free port was found; name one with --port")
