"""A tab and a lesson from outside the tree: the README's example on its pages, with links of their own."""

from __future__ import annotations

import os
import re
import subprocess
import sys

from tests.conftest import REPOSITORY
from tests.house.test_methods_from_outside import SECONDS, labseq

PAGES = """
from streamlit.testing.v1 import AppTest

def opened(page, **choices):
    app = AppTest.from_file(ROOT + "/app.py", default_timeout=120)
    app.session_state["in app"] = True
    for name, value in choices.items():
        app.query_params[name] = value
    app.switch_page(f"pages/{page}.py").run()
    assert not app.error and not app.exception, (app.error, app.exception)
    return app

compare = opened("compare", run="default:spanish-ner", view="Times")
labels = [tab.label for tab in compare.tabs]
assert labels[labels.index("Learning curve") + 1] == "Times"
assert len(compare.get("vega_lite_chart")) == 1
assert compare.query_params["view"] == "Times"
assert opened("compare", run="default:spanish-ner").tabs[0].label == "Scores"
learn = opened("learn", lesson="times")
assert "What training costs" in [header.value for header in learn.header]
assert len(learn.get("vega_lite_chart")) == 1
assert learn.selectbox(key="lesson").options[-2] == "What training costs"
print("seen")
"""


def test_a_tab_and_a_lesson_are_added(tmp_path):
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    file = tmp_path / "times.py"
    example = re.search(r"```python\n(.*?)```", readme.partition("saved as `times.py`")[2], re.DOTALL)
    file.write_text(example[1], encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", f"ROOT = {str(REPOSITORY)!r}\n{PAGES}"], cwd=tmp_path,
        env={**os.environ, "LABSEQ_WITH": str(file), "PYTHONPATH": str(REPOSITORY)}, capture_output=True, text=True,
        timeout=SECONDS,
    )  # fmt: skip
    assert done.stdout.endswith("seen\n"), done.stderr[-3000:]
    listed = labseq("--with", str(file), "datasets", "list", place=tmp_path)
    assert listed.returncode == 0, "the command line takes the file, and leaves the pages alone"
