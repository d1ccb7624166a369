"""A process in which nothing is compiled and nothing may be: it opens every view, then those again that were preparing, with
the machine code of another cache directory. Prints what it saw as JSON.

    LABSEQ_CACHE_DIR=<an empty directory> python -m tests.app.cold_visit <a directory with machine code>
"""

from __future__ import annotations

import json
import os
import sys
import time

from streamlit.testing.v1 import AppTest

from labseq_core.compiling import code_cache
from labseq_core.serving.settings import app_path
from pages.ui.frame import errors
from pages.ui.frame.navigation import _IN_APP as IN_APP
from tests.app.views import VIEWS


def seen(page: str, choices: dict[str, str]) -> dict:
    app = AppTest.from_file(str(app_path()), default_timeout=120)
    app.session_state[IN_APP] = True
    for name, value in choices.items():
        app.query_params[name] = value
    began = time.process_time()  # of all threads, whatever else the machine does
    app.switch_page(f"pages/{page}.py").run()
    texts = [element.value for kind in (app.info, app.caption) for element in kind]
    return {
        "view": [page, choices],
        "seconds": time.process_time() - began,
        "preparing": sum(text.startswith("Preparing ") for text in texts),
        "problems": [*(error.value for error in app.error), *(each.message for each in app.exception)],
        "title": [title.value for title in app.title],
        "elements": len(app.main),
    }


def raise_it(problem: Exception) -> None:
    raise problem


def main() -> None:
    errors.unexpected = raise_it
    code_cache.on_miss = lambda routine: raise_it(code_cache.NotCompiledYet(routine))
    seen("start", {})  # what is loaded once
    cold = [seen(*view) for view in VIEWS]
    os.environ["LABSEQ_CACHE_DIR"] = sys.argv[1]
    code_cache.code_directory.cache_clear()
    warm = [seen(*row["view"]) for row in cold if row["preparing"]]
    print(json.dumps({"cold": cold, "warm": warm}))


if __name__ == "__main__":
    main()
