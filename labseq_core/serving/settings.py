"""How the dashboard is served and what it looks like: the only place, so that a wheel and a source tree look the same.

Imports no streamlit: the command line reads this before it starts the server.
"""

from __future__ import annotations

from pathlib import Path

from labseq_core.data.limits import MAX_UPLOAD_MEGABYTES
from labseq_core.serving.palette import BACKGROUNDS, COLOURS
from labseq_core.serving.streamlit_inside import HIDDEN_SETTINGS

_Settings = dict[str, str | int | bool | list[str]]
LOADING = "pages.ui.frame.loading"  # beside the script below: what the server loads before the first visitor comes

_SERVING: _Settings = {
    "server.address": "127.0.0.1",
    "server.headless": True,  # else a page may offer to write files for programming tools; LabSeq opens a browser itself
    "server.maxUploadSize": MAX_UPLOAD_MEGABYTES,
    "server.maxMessageSize": 50,  # megabytes, in either direction
    "server.fileWatcherType": "none",
    "browser.gatherUsageStats": False,
    "client.showErrorDetails": "none",
    "client.showErrorLinks": False,
    "client.toolbarMode": "viewer",  # keeps the choice of light or dark, hides what only developers need
    "runner.magicEnabled": False,
    "global.disableWidgetStateDuplicationWarning": True,  # a filter leads back to the first page of a list
}


def _steps(low: str, high: str, steps: int) -> list[str]:
    """Colours in equal steps from one to another."""
    begin, end = ([int(colour[place : place + 2], 16) for place in (1, 3, 5)] for colour in (low, high))
    shares = [step / (steps - 1) for step in range(steps)]
    mixed = [[round(a + share * (b - a)) for a, b in zip(begin, end)] for share in shares]
    return ["#{:02X}{:02X}{:02X}".format(*colour) for colour in mixed]


def _ramp(low: str, high: str) -> list[str]:
    """Ten colours for heat maps, the number that Streamlit wants."""
    return _steps(low, high, 10)


def _two_ramps(low: str, middle: str, high: str) -> list[str]:
    """Ten colours for heat maps of numbers of either sign."""
    return [*_steps(low, middle, 5), *_steps(middle, high, 5)]


_LOOKS: _Settings = {
    "theme.light.primaryColor": "#005A8C",
    "theme.light.backgroundColor": BACKGROUNDS["light"],
    "theme.light.secondaryBackgroundColor": "#F3F5F7",
    "theme.light.textColor": "#0B1118",
    "theme.dark.primaryColor": "#7CC4F0",
    "theme.dark.backgroundColor": BACKGROUNDS["dark"],
    "theme.dark.secondaryBackgroundColor": "#1D252E",
    "theme.dark.textColor": "#EDF1F5",
    "theme.paddingTop": "1rem",
    "theme.paddingBottom": "3rem",
    "theme.sidebar.paddingTop": "1rem",
    "theme.chartCategoricalColors": list(COLOURS),
    "theme.light.chartSequentialColors": _ramp("#F1F5F8", "#005A8C"),
    "theme.dark.chartSequentialColors": _ramp("#1D252E", "#7CC4F0"),
    # Plotly writes dark grey on light cells and white on dark ones: no colour here is in between.
    "theme.light.chartDivergingColors": _two_ramps("#F2AC6B", "#F1F5F8", "#74B6E2"),
    "theme.dark.chartDivergingColors": _two_ramps("#B84E00", "#1D252E", "#0072B2"),
    "theme.headingFontSizes": ["2.1rem", "1.3rem", "1.1rem"],
}

STREAMLIT_SETTINGS: _Settings = {**_SERVING, **HIDDEN_SETTINGS, **_LOOKS}


def app_path() -> Path:
    """The script that Streamlit runs: beside the core in a source tree, inside the package in an installed wheel."""
    core = Path(__file__).resolve().parents[1]
    installed = core / "_dashboard" / "app.py"
    return installed if installed.is_file() else core.parent / "app.py"
