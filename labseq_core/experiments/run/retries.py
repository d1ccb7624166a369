"""How often something is tried again by itself, when a process has died. What a person asks for is always tried."""

from __future__ import annotations

ATTEMPTS = 3  # of a task whose worker dies
RESUMED_AT_MOST = 3  # times a run goes on after a restart: what brings a server down must not do so for ever
TAKE_OVER_EVERY = 5.0  # seconds between two looks of a server for runs whose process has died
