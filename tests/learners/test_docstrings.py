"""`help` of every learner names every option and every fitted attribute, and its example runs."""

from __future__ import annotations

import doctest
import inspect
import re
import subprocess
import sys

import pytest

import labseq_core
from labseq_core.learners.base import SequenceLearner

LEARNERS = [
    value
    for value in (getattr(labseq_core, name) for name in labseq_core.__all__)
    if isinstance(value, type) and issubclass(value, SequenceLearner)
]
every_learner = pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: learner.__name__)


def section(learner: type, title: str) -> str:
    """The text of a section, up to the next one."""
    text = inspect.getdoc(learner)
    found = re.search(rf"^{title}\n-+\n(.*?)(?=^\w+\n-+\n|\Z)", text, re.DOTALL | re.MULTILINE)
    assert found, f"{learner.__name__} has no section {title}:\n{text}"
    return found[1]


def names_in(text: str) -> list[str]:
    return re.findall(r"^(\w+) : ", text, re.MULTILINE)


def test_there_are_all_of_them():
    assert len(LEARNERS) == 13


@every_learner
def test_it_begins_with_the_summary(learner):
    assert inspect.getdoc(learner).startswith(f"{learner.summary}\n\n")


@every_learner
def test_every_option_is_told_with_its_default_and_its_help(learner):
    parameters = section(learner, "Parameters")
    assert names_in(parameters) == [option.name for option in learner.options]
    assert names_in(parameters) == list(inspect.signature(learner).parameters)
    for option in learner.options:
        (line,) = re.findall(rf"^{option.name} : .*$", parameters, re.MULTILINE)
        assert line.endswith(f", default={inspect.signature(learner).parameters[option.name].default!r}")
        assert all(repr(choice) in line for choice in option.choices)
        assert option.help in " ".join(parameters.split())


@every_learner
def test_every_fitted_attribute_is_told_and_there(learner):
    model = learner().fit([["a", "b"], ["b", "a"]], [["X", "Y"], ["Y", "X"]])
    told = names_in(section(learner, "Attributes"))
    there = [name for name in dir(model) if name.endswith("_") and not name.startswith("_")]
    assert sorted(set(there) - set(told)) == []
    # An HM-SVM has weights or an expansion.
    assert set(told) - set(there) <= {"weights_", "expansion_"}
    assert len(told) == len(set(told))


@every_learner
def test_the_example_runs(learner):
    assert ">>> model.predict(" in section(learner, "Examples")
    (test,) = doctest.DocTestFinder(recurse=False).find(learner, learner.__name__, globs={})
    told: list[str] = []
    result = doctest.DocTestRunner(optionflags=doctest.REPORT_NDIFF).run(test, out=told.append)
    assert result.attempted >= 5
    assert result.failed == 0, "".join(told)


def test_a_learner_of_a_user_gets_the_same():
    class Mine(labseq_core.MaxEnt):
        """My own.

        Attributes
        ----------
        objective_ : float
            Told by me.
        """

    text = inspect.getdoc(Mine)
    assert text.startswith("My own.\n\nParameters\n----------\nl2 : float, default=1.0\n")
    assert text.count("objective_ : float") == 1
    assert "Told by me." in text
    assert "classes_ : list of str" in text
    assert "Examples" not in text


def test_without_docstrings_nothing_is_made():
    code = "from labseq_core import CRF; print(CRF.__doc__)"
    done = subprocess.run([sys.executable, "-OO", "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "None\n", done.stderr
