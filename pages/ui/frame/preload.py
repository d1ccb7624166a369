"""The browser gets parts of Streamlit that the other pages need while the visitor reads the first one."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import streamlit as st

# As Streamlit names its parts. It loads each when it is first needed, and a visitor waits, up to a tenth of a second each.
PARTS = (
    "DataFrame", "Selectbox", "Multiselect", "NumberInput", "Slider", "Checkbox", "Metric", "FileUploader", "Table",
    "rehype-katex",
)  # fmt: skip
_SCRIPT = """<script>
if (!window.labseqPreloads) {
    window.labseqPreloads = true;
    const files = %s, folder = new URL(".", document.querySelector("script[type=module][src]").src);
    const next = () => files.length && import(new URL(files.shift(), folder)).finally(() => requestIdleCallback(next));
    setTimeout(() => requestIdleCallback(next), 1000);
}
</script>"""


def preload_parts() -> None:
    """One after the other, whenever the browser has nothing else to do."""
    st.html(_SCRIPT % json.dumps(part_files()), unsafe_allow_javascript=True)


@cache
def part_files() -> list[str]:
    """Files of the parts; of one that this version of Streamlit does not have, none."""
    folder = Path(st.__file__).parent / "static" / "static" / "js"
    return [path.name for part in PARTS for path in sorted(folder.glob(f"{part}.*.js"))]
