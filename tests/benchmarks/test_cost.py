"""The table from which the cost of runs is known."""

from __future__ import annotations

import csv

import numba
import pytest

from benchmarks import cost


@pytest.fixture(autouse=True)
def threads_as_before():
    before = numba.get_num_threads()
    yield
    numba.set_num_threads(before)


def test_times_are_measured_and_written(tmp_path, capsys):
    cost.main(["--methods", "hmm", "--csv", str(tmp_path / "fits.csv")])
    with open(tmp_path / "fits.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == cost.COLUMNS
    assert {row["dataset"] for row in rows} == set(cost.FEATURES)
    assert all(float(row["seconds"]) > 0.0 and cost.predicted_seconds(row) > 0.0 for row in rows)
    assert "hmm                   8" in capsys.readouterr().out
