"""All that LabSeq uses of Streamlit without its promise to keep it. No other file may, hence the upper bound in pyproject.toml;
`tests/browser/test_streamlit_inside.py` looks for each of these in the Streamlit that is installed.

Imports streamlit only when called: the command line reads this before it starts the server.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from string import Template

# Options that its documentation leaves out.
HIDDEN_SETTINGS: dict[str, bool] = {
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


def run_server(script: str, options: list[str]) -> None:
    """As `streamlit run` does, in this process; until it is ended."""
    from streamlit.web.cli import main

    main(["run", script, *options], prog_name="labseq app")


def server_is_ready() -> bool:
    from streamlit import runtime

    return runtime.exists()
