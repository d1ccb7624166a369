"""The server of the dashboard: Streamlit's, in a process that loads LabSeq while the first visitor's browser loads the page.

`labseq app` starts it. Interrupted runs go on as soon as everything is loaded, whether anybody visits or not; what is not
compiled yet is compiled by another process, after the first page has been delivered.
"""

from __future__ import annotations

import gc
import importlib
import json
import sys
import threading
import time
import webbrowser
from pathlib import Path

from labseq_core.serving import streamlit_inside
from labseq_core.serving.hosts import OwnHosts
from labseq_core.serving.settings import LOADING

_MOST_FILES = 8192
_loading: list[threading.Thread] = []


def main() -> None:
    """sys.argv: the script, settings of Streamlit's server as JSON, what to show in a browser if anything, further names."""
    script, settings, shown, *names = sys.argv[1:]
    options = json.loads(settings)
    sys.path.insert(0, str(Path(script).resolve().parent))
    thread = threading.Thread(target=_load, name="labseq-load", daemon=True)
    _loading.append(thread)
    thread.start()
    _let_many_in()
    if shown:
        threading.Thread(target=_open_browser, args=(shown,), name="labseq-browser", daemon=True).start()
    streamlit_inside.run_server(script, options, OwnHosts(options["server.address"], names))


def _let_many_in() -> None:
    """A visitor's browser holds up to seven connections, each a file to the system, of which macOS allows 256."""
    if sys.platform != "win32":
        import resource

        now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = _MOST_FILES if most == resource.RLIM_INFINITY else min(_MOST_FILES, most)
        if resource.RLIM_INFINITY != now < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))


def wait_until_loaded() -> None:
    """Pages call this first: two threads that load the same modules at once can see them half-made."""
    for thread in _loading:
        thread.join()


def _wait_until_ready() -> None:
    while not streamlit_inside.server_is_ready():
        time.sleep(0.01)


def _open_browser(shown: str) -> None:
    _wait_until_ready()
    webbrowser.open(shown)


def _load() -> None:
    _wait_until_ready()  # both at once would keep the browser waiting
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
