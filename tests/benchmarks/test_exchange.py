"""What benchmarks hand to other programs and read from their logs."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.curves import crfsuite_curve, crossing, seconds_per_evaluation, wapiti_curve
from benchmarks.exchange import read_crfsuite, write_crfsuite, write_wapiti
from benchmarks.usual_features import token_attributes
from labseq_core import FeatureTemplate

REPOSITORY = Path(__file__).resolve().parents[2]
NAMES = st.text(st.characters(exclude_characters="\t\n", exclude_categories=["Cs"]), min_size=1)
SENTENCES = st.lists(st.lists(st.tuples(st.lists(NAMES), st.sampled_from(["B-X", "O"])), min_size=1))
LOG = """L-BFGS optimization
***** Iteration #1 *****
Loss: 90.5
Line search trials: 2
Seconds required for this iteration: 0.5
***** Iteration #2 *****
Loss: 40.25
Line search trials: 1
Seconds required for this iteration: 0.25
""".splitlines()


@given(SENTENCES)
def test_crfsuite_files_keep_every_name(tmp_path_factory, sentences):
    path = tmp_path_factory.getbasetemp() / "problem.crfsuite"
    attributes = [[names for names, _ in sentence] for sentence in sentences]
    labels = [[label for _, label in sentence] for sentence in sentences]
    write_crfsuite(path, attributes, labels)
    assert list(read_crfsuite(path)) == list(zip(attributes, labels))


def test_crfsuite_files_escape_what_would_be_a_weight(tmp_path):
    write_crfsuite(tmp_path / "f", [[["word=10:30", "back\\slash"]]], [["O"]])
    assert (tmp_path / "f").read_text() == "O\tword=10\\:30\tback\\\\slash\n\n"


def test_wapiti_files_have_a_weight_per_label_and_per_pair(tmp_path):
    write_wapiti(tmp_path / "f", [[["a", "b"], ["c"]]], [["X", "Y"]])
    assert (tmp_path / "f").read_text() == "ua ub b X\nuc b Y\n\n"


def test_crfsuite_log():
    assert crfsuite_curve(LOG) == [(0.5, 90.5, 3), (0.75, 40.25, 4)]
    assert crfsuite_curve(LOG, clock=[0, 1, 1, 1, 2, 3, 3, 3, 4]) == [(2, 90.5, 3), (4, 40.25, 4)]


def test_wapiti_log():
    lines = ["* Train", "  [   1] obj=3.38       act=21       err= 0.00%/ 0.00% time=0.01s/0.02s"]
    assert wapiti_curve(lines) == [(0.02, 3.38, None)]


def test_reading_a_curve():
    curve = crfsuite_curve(LOG)
    assert crossing(curve, 50.0) == 1
    assert crossing(curve, 40.25) == 1
    assert crossing(curve, 40.0) is None
    assert seconds_per_evaluation(curve) == 0.25
    assert seconds_per_evaluation([(0.1, 3.0, None), (0.2, 2.0, None)]) is None


def test_the_usual_function_gives_our_attributes():
    sentence = ["El", "Sr.", "O'Neill-Ruiz", "nació", "el", "7-11-1950", "en", "EE.UU.", "."]
    ours = FeatureTemplate("S3").attributes(sentence)
    usual = [token_attributes(sentence, place) for place in range(len(sentence))]
    assert [sorted(names) for names in ours] == [sorted(names) for names in usual]


def test_the_other_program_has_a_process_without_ours():
    pytest.importorskip("pycrfsuite", reason="python-crfsuite is not installed; it comes with the test tools")
    code = "import sys, benchmarks.train_pycrfsuite; print(*{'numba', 'numpy', 'labseq_core'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
