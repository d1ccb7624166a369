"""Sparseness and certificates as data: what the models recorded, nothing else."""

import csv
import io

import pytest

from labseq_core import CRF, GPSC, LabSeqError, Polynomial, SparseGPSC
from labseq_core.explain import (
    CERTIFICATE_COLUMNS,
    PATH_COLUMNS,
    certificate_rows,
    is_dense_gp,
    is_gp,
    is_sparse_gp,
    nearly_as_good,
    rows_csv,
    same_problem,
    sparse_path,
)
from tests.reference import toy

WORDS, LABELS = toy.corpus(seed=21, n_sequences=20)
DEV = toy.corpus(seed=22, n_sequences=5)


@pytest.fixture(scope="module")
def dense() -> GPSC:
    return GPSC(route="gram").fit(WORDS, LABELS)


@pytest.fixture(scope="module")
def sparse() -> SparseGPSC:
    return SparseGPSC(fraction=0.2).fit(WORDS, LABELS, dev=DEV)


def test_kinds():
    assert [is_gp(kind) for kind in (CRF, GPSC, SparseGPSC)] == [False, True, True]
    assert [is_dense_gp(kind) for kind in (CRF, GPSC, SparseGPSC)] == [False, True, False]
    assert [is_sparse_gp(kind) for kind in (CRF, GPSC, SparseGPSC)] == [False, False, True]


def test_the_path_is_that_of_the_model(sparse):
    rows = sparse_path(sparse)
    assert list(rows[0]) == list(PATH_COLUMNS)
    for column in PATH_COLUMNS:
        assert [row[column] for row in rows] == sparse.path_[column].tolist()
    assert rows[0]["coordinates"] == 0
    assert rows[-1]["coordinates"] == sparse.n_coordinates_
    assert rows[-1]["objective"] == sparse.objective_
    assert rows[-1]["dev_accuracy"] == pytest.approx(sparse.score(*DEV))
    assert rows[-1]["train_accuracy"] == pytest.approx(sparse.score(WORDS, LABELS))


def test_without_development_data_its_accuracy_is_unknown():
    rows = sparse_path(SparseGPSC(fraction=0.05).fit(WORDS, LABELS))
    assert {row["dev_accuracy"] for row in rows} == {None}


def test_the_certificate_ends_at_that_of_the_model(dense):
    rows = certificate_rows(dense)
    assert rows[-1]["gap"] == dense.gap_
    assert rows[-1]["objective"] == dense.objective_
    assert rows[-1]["relative_gap"] <= dense.tol
    assert all(row["relative_gap"] == row["gap"] / row["objective"] for row in rows)
    # It holds: what was above the later objective is within the earlier gap.
    assert all(row["objective"] - dense.objective_ <= row["gap"] for row in rows)


def test_saved_models_show_the_same(dense, sparse, tmp_path):
    from labseq_core import load_model

    dense.save(tmp_path / "dense.npz")
    sparse.save(tmp_path / "sparse.npz")
    assert certificate_rows(load_model(tmp_path / "dense.npz")) == certificate_rows(dense)
    assert sparse_path(load_model(tmp_path / "sparse.npz")) == sparse_path(sparse)


def test_objectives_are_compared_only_for_one_problem(dense, sparse):
    assert same_problem(dense, sparse)
    assert not same_problem(dense, SparseGPSC(l2=2.0))
    assert not same_problem(dense, SparseGPSC(kernel=Polynomial(3)))


def test_the_first_row_that_is_nearly_as_good():
    path = [{"dev": None}, {"dev": 0.5}, {"dev": 0.79}, {"dev": 0.9}]
    assert nearly_as_good(path, 0.8, "dev", 0.01 + 1e-12) is path[2]
    assert nearly_as_good(path, 0.8, "dev", 0.0) is path[3]
    assert nearly_as_good(path, 0.99, "dev") is None


def test_csv(sparse, dense):
    rows = list(csv.DictReader(io.StringIO(rows_csv({"a": sparse_path(sparse)}, PATH_COLUMNS, run="r1"))))
    assert [float(row["objective"]) for row in rows] == sparse.path_["objective"].tolist()
    assert {(row["run"], row["model"]) for row in rows} == {("r1", "a")}
    rows = list(csv.DictReader(io.StringIO(rows_csv({"b": certificate_rows(dense)}, CERTIFICATE_COLUMNS))))
    assert float(rows[-1]["gap"]) == dense.gap_


def test_wrong_models_are_told(dense, sparse):
    with pytest.raises(LabSeqError, match="choose SparseGPSC"):
        sparse_path(dense)
    with pytest.raises(LabSeqError, match="choose GPSC"):
        certificate_rows(sparse)
    with pytest.raises(LabSeqError, match="not fitted"):
        sparse_path(SparseGPSC())
    with pytest.raises(LabSeqError, match="not fitted"):
        certificate_rows(GPSC())
