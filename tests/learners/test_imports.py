"""The library stands on its own: no dashboard, no oracle and no table package is imported before it is asked for."""

import subprocess
import sys

import pytest

HEAVY = ["streamlit", "sklearn", "plotly", "pandas", "scipy.optimize", "dask"]
USE = """
X, Y = [["uno", "dos"], ["tres"]], [["A", "B"], ["A"]]
for method in labseq_core.learners.METHODS.values():
    model = labseq_core.learners.make_learner(method.id).fit(labseq_core.FeatureTemplate("S3").encode(X), Y)
    model.predict(X)
    model.k_best(X, 2)
"""


@pytest.mark.parametrize("then", ["", USE], ids=["import", "use"])
def test_heavy_packages_stay_out(then):
    code = f"import sys, labseq_core\n{then}\nprint(*(name for name in {HEAVY} if name in sys.modules))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == []
    assert found.stderr == ""
