"""A kernel, a loss and a cost from outside the tree: the README's examples in commands, estimates, models and pages."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.house.test_methods_from_outside import SECONDS, labseq


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> list[Path]:
    """The examples, as the README prints them."""
    readme, place = (REPOSITORY / "README.md").read_text(encoding="utf-8"), tmp_path_factory.mktemp("outside")
    found = []
    for name in ("votes", "laplace", "tempered"):
        example = re.search(r"```python\n(.*?)```", readme.partition(f"saved as `{name}.py`")[2], re.DOTALL)[1]
        found.append(place / f"{name}.py")
        found[-1].write_text(example, encoding="utf-8")
    return found


def test_a_kernel_and_a_loss_are_compared(files, tmp_path):
    chosen = ["compare", "--dataset", "toy-pos", "--sequences", "60", "--methods", "gps:kernel=laplace:2,crf-tempered"]
    loaded = [word for file in files[1:] for word in ("--with", str(file))]
    done = labseq(*loaded, *chosen, "--csv", "out.csv", place=tmp_path)
    assert done.returncode == 0, done.stderr
    with open(tmp_path / "out.csv", encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table))
    assert [row["label"] for row in rows] == ["GP sequence classification (kernel=laplace:2)", "Tempered CRF"]
    assert all(0.5 < float(row["accuracy"]) <= 1.0 for row in rows)


EVERYWHERE = """
import sys
import numpy as np
import pytest
from streamlit.testing.v1 import AppTest
from labseq_core import CRF, GPSC, LabSeqError, load_dataset, load_model
from labseq_core.experiments import ExperimentConfig, FeatureChoice, MethodChoice
from labseq_core.experiments.plan.python_script import python_script
from labseq_core.experiments.plan.cost import data_size, expected_cost, fit_cost
from labseq_core.kernels import KERNELS, parse_kernel
from labseq_core.learners import METHODS
from labseq_core.losses import LOSSES
from labseq_core.warm_up.ahead import PARTS
from tests.experiments.runs import trained_here

# Texts and estimates.
with pytest.raises(LabSeqError, match=r"'cosine'; write .*laplace:1 \\(width\\)"):
    MethodChoice.parse("gps:kernel=cosine")
with pytest.raises(LabSeqError, match="width is 0.0; give a number above 0"):
    parse_kernel("2*laplace:0")
assert str(parse_kernel("linear+laplace:0.5")) == "linear+laplace:0.5"
size = data_size("toy-pos", FeatureChoice("S3"))
laplace, rbf = (fit_cost(MethodChoice("gps", {"kernel": f"{name}:2", "max_iter": 9}), size) for name in ("laplace", "rbf"))
assert laplace == rbf, "both by kernel values"
assert fit_cost(MethodChoice("votes"), size) == (1e-7 * size.tokens * size.attributes, 1e-5 * size.vocabulary * size.labels)
assert "length_decay" not in {option.name for option in METHODS["crf-tempered"].options}
assert not {"votes", "crf-tempered"} & PARTS.keys(), "nothing of it is compiled ahead"

# The library.
train = load_dataset("toy-pos").train.select(range(20))
model = CRF(loss="tempered", l2=0.5).fit(train)
# 2 L(w / 2) + l2/2 |w|² is twice L(v) + l2 |v|² at v = w / 2.
assert np.allclose(2 * CRF(l2=1.0).fit(train).weights_.node, model.weights_.node, atol=0.02)
with pytest.raises(LabSeqError, match="loss is 'hot'; allowed: log, .*tempered"):
    CRF(loss="hot").fit(train)
GPSC(kernel=KERNELS["laplace"](2.0)).fit(train).save("model.npz")
assert load_model("model.npz").kernel == parse_kernel("laplace:2")

# Pages.
methods = MethodChoice("gps", {"kernel": "laplace:2"}), MethodChoice("crf-tempered")
config = ExperimentConfig("toy-pos", methods, sequences=40)
assert all(seconds > 0 for seconds in expected_cost(config).by_label.values())
run = trained_here(config)
form = {"dataset": "toy-pos", "variant": ["gps:kernel=laplace:2", "crf-tempered"]}
for page, choices, said in [
    ("train", form, "gps:kernel=laplace:2,crf-tempered "),
    ("compare", {"run": run}, "Tempered CRF"),
    *(("inside", {"run": run, "tab": "GPSC", "gpsc": view}, "") for view in ("Who decides", "Gram matrix")),
    ("inside", {"run": run, "tab": "Weights"}, ""),
    ("sequence", {"run": run}, ""), ("sequence", {"run": run, "show": "Why this label"}, ""),
]:
    app = AppTest.from_file(ROOT + "/app.py", default_timeout=120)
    app.session_state["in app"] = True
    for name, value in choices.items():
        app.query_params[name] = value
    app.switch_page(f"pages/{page}.py").run()
    assert not app.error and not app.exception, (page, choices, app.error, app.exception)
    kinds = app.markdown, app.code, app.table, app.multiselect, app.pills, app.selectbox, app.segmented_control
    shown = " ".join(str(each.value) for kind in kinds for each in kind)
    assert said in shown, (page, choices, shown)
    drawn = *app.get("plotly_chart"), *app.table, *app.dataframe
    assert drawn or page == "train", (page, choices, shown)
    if page == "train":
        app.session_state["variant.0"] = True
        app.run()
        assert "laplace" in app.selectbox(key="variant.0.gps.kernel").options
        assert app.number_input(key="variant.0.gps.kernel.width").value == 2.0
        assert "laplace: by distance, with heavy tails" in app.selectbox(key="variant.0.gps.kernel").help

# The script that does the same, beside the files and without --with.
own = MethodChoice("gps", {"kernel": "laplace:2"}), MethodChoice("crf-tempered"), MethodChoice("votes")
snippet = python_script(ExperimentConfig("toy-pos", own, sequences=20))
for registry, name in (KERNELS, "laplace"), (LOSSES, "tempered"), *((METHODS, name) for name in ("crf-tempered", "votes")):
    del registry._things[name]
sys.path.insert(0, FILES)
exec(compile(snippet, "snippet", "exec"), {})
assert "tempered" in sys.modules and "votes" in sys.modules
print("seen")
"""


def test_they_are_seen_everywhere(files, tmp_path):
    environment = {
        **os.environ, "LABSEQ_WITH": os.pathsep.join(map(str, files)), "LABSEQ_STORE": str(tmp_path / "runs.sqlite"),
        "PYTHONPATH": str(REPOSITORY),
    }  # fmt: skip
    script = f"ROOT, FILES = {str(REPOSITORY)!r}, {str(files[0].parent)!r}\n{EVERYWHERE}"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True,
        timeout=SECONDS,
    )  # fmt: skip
    assert done.stdout.endswith("seen\n"), done.stderr[-3000:]
