"""The browser gets parts of Streamlit that the other pages need while the visitor reads the first one."""

from __future__ import annotations

import json

import streamlit as st

from labseq_core.serving.streamlit_inside import FIRST_SCRIPT, part_files

_SCRIPT = """<script>
if (!window.labseqPreloads) {
    window.labseqPreloads = true;
    const files = %s, folder = new URL(".", document.querySelector("%s").src);
    const next = () => files.length && import(new URL(files.shift(), folder)).finally(() => requestIdleCallback(next));
    setTimeout(() => requestIdleCallback(next), 1000);
}
</script>"""


def preload_parts() -> None:
    """One after the other, whenever the browser has nothing else to do.

    Otherwise a visitor waits when a part is first needed, up to a tenth of a second each.
    """
    st.html(_SCRIPT % (json.dumps(part_files()), FIRST_SCRIPT), unsafe_allow_javascript=True)
