"""The server of the dashboard: Streamlit's, in a process that loads LabSeq while the first visitor's browser loads the page.

`labseq app` starts it. Interrupted runs go on as soon as everything is loaded, whether anybody visits or not; what is not
compiled yet is compiled by another process, after the first page has been delivered.
"""

from __future__ import annotations

import gc
import importlib
import sys
import threading
import time
from pathlib import Path

from labseq_core.serving import streamlit_inside
from labseq_core.serving.settings import LOADING

_loading: list[threading.Thread] = []


def main() -> None:
    """sys.argv: the script, then options of Streamlit's server."""
    script, *options = sys.argv[1:]
    sys.path.insert(0, str(Path(script).resolve().parent))
    thread = threading.Thread(target=_load, name="labseq-load", daemon=True)
    _loading.append(thread)
    thread.start()
    streamlit_inside.run_server(script, options)


def wait_until_loaded() -> None:
    """Pages call this first: two threads that load the same modules at once can see them half-made."""
    for thread in _loading:
        thread.join()


def _load() -> None:
    while not streamlit_inside.server_is_ready():  # both at once would keep the browser waiting
        time.sleep(0.01)
    loading = importlib.import_module(LOADING)
    loading.load()
    _compile_beside()
    loading.draw_first_chart()
    # What has just been loaded is no garbage: nobody needs to look through it again.
    gc.collect()
    gc.freeze()
    threading.Thread(target=go_on, name="labseq-resume", daemon=True).start()


def _compile_beside() -> None:
    from labseq_core.warm_up import background

    background.of_server = background.Background()
    background.of_server.take_over()


def page_delivered() -> None:
    """Pages call this last: compiling must not keep the first visitor waiting."""
    if _loading:
        from labseq_core.warm_up import background

        if background.of_server is not None:
            background.of_server.visited()


def go_on() -> None:
    """With runs whose process has died, as after a restart, and later with those of other servers on the same store."""
    from labseq_core.experiments.service import take_over

    take_over()
