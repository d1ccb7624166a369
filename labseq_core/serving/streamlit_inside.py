"""All that LabSeq uses of Streamlit without its promise to keep it. No other file may, hence the upper bound in pyproject.toml;
`tests/browser/test_streamlit_inside.py` looks for each of these in the Streamlit that is installed.

Imports streamlit only when called: the command line reads this before it starts the server.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from pathlib import Path
from string import Template
from typing import Any

from labseq_core.data.limits import MAX_UPLOAD_MEGABYTES
from labseq_core.serving.hosts import OwnHosts

MOST_UPLOADED_BYTES = 10 * MAX_UPLOAD_MEGABYTES * 2**20  # of all visitors together, in memory

# Options that its documentation leaves out.
HIDDEN_SETTINGS: dict[str, str | int | bool | list[str]] = {
    "client.allowedOrigins": [],  # of pages that may steer the dashboard from around its frame
    "server.maxWidgetStateSize": 1,  # megabytes of what a visitor has chosen, which the server remembers
    "runner.postScriptGC": False,  # takes longer than most pages; Python collects garbage by itself
    "logger.hideWelcomeMessage": True,
}

# What it sets in the browser on a chart whose marks are clicked, where the chart itself does not.
CLICKABLE_CHART = {"clickmode": "event+select", "hovermode": "closest", "dragmode": "pan"}

# Parts of its JavaScript, each a file that the browser loads when it is first needed, and the script beside which they lie.
PARTS = (
    "DataFrame", "Selectbox", "Multiselect", "NumberInput", "Slider", "Checkbox", "Metric", "FileUploader", "Table",
    "rehype-katex",
)  # fmt: skip
FIRST_SCRIPT = "script[type=module][src]"


def by_id(name: str) -> str:
    """The selector of an element by the id that Streamlit's own tests know it by."""
    return f'[data-testid="{name}"]'


MULTISELECT = "stMultiSelect"
# Selectors of what the style sheet changes, by the names that it calls them.
ELEMENTS = {
    "primary_button": by_id("stBaseButton-primary"),
    "chosen_option": f"{by_id(MULTISELECT)} span[title]",
    "caption": by_id("stCaptionContainer"),
    "row": by_id("stHorizontalBlock"),
    "row_frame": by_id("stLayoutWrapper"),
    "column": by_id("stColumn"),
    "table_download": f'{by_id("stElementToolbar")} [aria-label="Download as CSV"]',
}


def with_selectors(sheet: str) -> str:
    """A style sheet in which elements of Streamlit stand as `$name`."""
    return Template(sheet).substitute(ELEMENTS)


@cache
def part_files() -> list[str]:
    """Files of the parts; of one that this version of Streamlit does not have, none."""
    folder = static_folder() / "static" / "js"
    return [path.name for part in PARTS for path in sorted(folder.glob(f"{part}.*.js"))]


def static_folder() -> Path:
    """What its server sends to browsers."""
    import streamlit

    return Path(streamlit.__file__).parent / "static"


def run_server(script: str, settings: dict[str, Any], own: OwnHosts) -> None:
    """In this process, until it is ended."""
    import streamlit
    from starlette.middleware import Middleware

    from labseq_core.serving.gate import Gate

    gate = Middleware(Gate, own=own, make_room=make_room_for_uploads)
    with suppress(KeyboardInterrupt):
        streamlit.App(script, middleware=[gate]).run(config=settings)


def make_room_for_uploads() -> None:
    from streamlit import runtime

    keep_uploads_within(MOST_UPLOADED_BYTES, runtime.get_instance().uploaded_file_mgr)


def keep_uploads_within(most_bytes: int, files: Any) -> None:
    """It keeps in memory all that a visitor uploads, asked for or not, until the visitor has gone. Here the oldest files go of
    whoever has the most.
    """
    kept = files.file_storage  # visitor -> id -> file
    while True:
        sizes = {visitor: sum(len(file.data) for file in own.values()) for visitor, own in kept.items()}
        if sum(sizes.values()) <= most_bytes:
            return
        greediest = max(sizes, key=lambda visitor: sizes[visitor])
        files.remove_file(greediest, next(iter(kept[greediest])))


def server_is_ready() -> bool:
    from streamlit import runtime

    return runtime.exists()
