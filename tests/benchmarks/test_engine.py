"""The benchmark of the engine measures what it says."""

import json

import pytest

from benchmarks import engine


def test_a_small_run_prints_all_parts(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("LABSEQ_STORE", str(tmp_path / "runs.sqlite"))
    monkeypatch.setattr(engine, "METHODS", engine.METHODS[:3])
    engine.main(["--dataset", "parity", "--folds", "2", "--repeats", "1", "--runs", "60", "--json"])
    report = json.loads(capsys.readouterr().out)
    (row,) = report["overhead"]
    assert row["tasks"] == 6
    assert row["overhead"] == pytest.approx(row["engine"][0] / row["hand"][0] - 1)
    assert 0.0 < report["again"]["median_seconds"] <= report["again"]["worst_seconds"]
    assert report["list"]["all"]["found"] == 60
    assert report["list"]["page"]["found"] == 50
    assert report["list"]["by corpus and method"]["found"] == 9


def test_it_is_shown_as_tables(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("LABSEQ_STORE", str(tmp_path / "runs.sqlite"))
    engine.main(["--part", "list", "--runs", "20"])
    assert "20 runs," in capsys.readouterr().out
