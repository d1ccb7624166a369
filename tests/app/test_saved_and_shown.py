"""What is saved equals the screen: the numbers of every table and chart are in a file of the page, which says of what it is.

And what the screen says by colour it says in another way too.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from base64 import b64decode
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from labseq_core.experiments import result
from pages.ui.drawing.colours import look

TOLERANCE = 1e-9  # relative; the same numbers by way of text
SHOWN_NUMBER = re.compile(r"((?<![\w/])[-+−]?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?)\s*(%|ms|s\b)?")
UNITS = {"%": 0.01, "ms": 0.001}
SPANISH, POS = "default:spanish-ner", "default:toy-pos"
# Where, and the run that is shown there; None: no run is.
VISITS = [
    ("start", {}, SPANISH),
    ("data", {"dataset": "pitch-accent"}, None),
    ("train", {"dataset": "toy-pos"}, POS),
    ("compare", {"run": SPANISH}, SPANISH),
    ("compare", {"run": SPANISH, "view": "Measures", "metric": "model_bytes"}, SPANISH),
    ("compare", {"run": SPANISH, "view": "Significance"}, SPANISH),
    ("compare", {"run": "default:boosting", "view": "Sparsity"}, "default:boosting"),
    ("compare", {"run": SPANISH, "view": "Labels"}, SPANISH),
    ("compare", {"run": SPANISH, "view": "Learning curve"}, None),
    ("abstain", {"run": SPANISH, "threshold": "0.83", "gaps": "true"}, SPANISH),
    ("abstain", {"run": SPANISH, "below": "Reliability"}, SPANISH),
    ("inside", {"run": POS}, POS),
    ("inside", {"run": "default:l1-path", "weights": "L1 path"}, "default:l1-path"),
    ("inside", {"tab": "Boosting", "run": "default:boosting"}, "default:boosting"),
    ("inside", {"tab": "Boosting", "boosting": "Bounds", "run": "default:boosting"}, "default:boosting"),
    ("inside", {"tab": "Boosting", "boosting": "Losses", "run": "default:boosting"}, "default:boosting"),
    ("inside", {"tab": "Boosting", "boosting": "Chosen again", "run": "default:boosting"}, "default:boosting"),
    ("inside", {"tab": "HM-SVM", "run": "default:margins"}, "default:margins"),
    ("inside", {"tab": "Margins", "run": "default:margin-distribution"}, "default:margin-distribution"),
    ("inside", {"tab": "GPSC", "run": "default:sparseness"}, "default:sparseness"),
    ("inside", {"tab": "GPSC", "gpsc": "Fit", "run": "default:sparseness"}, "default:sparseness"),
    ("inside", {"tab": "GPSC", "gpsc": "Who decides", "run": "default:sparseness"}, "default:sparseness"),
    ("inside", {"tab": "GPSC", "gpsc": "Gram matrix", "run": "default:sparseness"}, "default:sparseness"),
    ("sequence", {"run": SPANISH}, SPANISH),
    ("sequence", {"run": SPANISH, "show": "Step by step"}, SPANISH),
    ("sequence", {"run": SPANISH, "show": "Why this label"}, SPANISH),
    ("sequence", {"run": SPANISH, "show": "What if"}, SPANISH),
    ("learn", {"lesson": "losses", "margin": "1.2"}, None),
    ("learn", {"lesson": "margin"}, None),
    ("learn", {"lesson": "generative"}, None),
    ("learn", {"lesson": "boosting"}, None),
    ("learn", {"lesson": "kernel"}, "default:parity"),
    ("learn", {"lesson": "sparse"}, "default:sparseness"),
    ("learn", {"lesson": "abstain"}, "default:abstention"),
    ("history", {"runs": POS}, POS),
    ("history", {"runs": f"{SPANISH},{POS}"}, None),
]
# Charts whose axis is another scale of what is saved: what a saved value becomes.
SCALES = {
    "losses": lambda value: value / math.log(10),
    "promised": lambda value: value / math.log(10),
}
# Shares of a row, places in a drawing, and shares of sentences: what they are made of is saved.
DRAWN = {"confusion", "trellis", "labels", "margins"}


@dataclass(frozen=True)
class Seen:
    """A page, and the rows of the files that it offers, by name."""

    app: AppTest
    files: dict[str, list[dict]]

    def charts(self) -> dict[str, dict]:
        drawings = self.app.get("plotly_chart")
        return {each.proto.id.rpartition("chart.")[2]: json.loads(each.proto.spec) for each in drawings}


_seen: dict[str, Seen] = {}  # one visit is enough for all that is asked of it


@pytest.fixture
def look_at(open_page, monkeypatch, tmp_path) -> Callable[..., Seen]:
    monkeypatch.setenv("LABSEQ_STORE", str(tmp_path / "runs.sqlite"))  # the newest runs of other tests are not ours

    def looked(page: str, choices: dict) -> Seen:
        key = f"{page} {choices}"
        if key not in _seen:
            made, offered = {}, st.download_button

            def offer(label, data, file_name, *more, **named):
                made[file_name] = data
                return offered(label, data, file_name, *more, **named)

            monkeypatch.setattr(st, "download_button", offer)
            app = open_page(page, **choices)
            texts = {name: data() if callable(data) else data for name, data in made.items() if name.endswith(".csv")}
            _seen[key] = Seen(app, {name: list(csv.DictReader(io.StringIO(text))) for name, text in texts.items()})
        return _seen[key]

    return looked


def numbers_of(rows: list[dict]) -> np.ndarray:
    """All numbers of a file, in order."""
    found = set()
    for row in rows:
        for value in row.values():
            try:
                found.add(float(value))
            except ValueError:
                found.update(map(float, re.findall(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])", value)))
    return np.sort([value for value in found if math.isfinite(value)])


def holds(pool: np.ndarray, value: float, margin: float) -> bool:
    """Whether a number is there, up to a margin."""
    place = np.searchsorted(pool, value - margin)
    return bool(place < len(pool) and pool[place] <= value + margin)


def cells(table, files: dict[str, list[dict]]) -> list[tuple[float, float]]:
    """The numbers that a table shows, each with what may be lost by its rounding; without those of texts that were saved."""
    texts = {value for rows in files.values() for row in rows for value in row.values()}
    shown = []
    for value in table.to_numpy().ravel().tolist():
        if isinstance(value, bool) or value is None or value in texts:
            continue
        if isinstance(value, int | float):
            shown += [(float(value), abs(value) * TOLERANCE)] if math.isfinite(value) else []
            continue
        for text, unit in SHOWN_NUMBER.findall(str(value)):
            plain = text.replace(",", "").replace("−", "-")
            digits, _, power = plain.partition("e")
            decimals = len(digits.partition(".")[2]) - int(power or 0)
            scale = UNITS.get(unit, 1.0)
            shown.append((float(plain) * scale, (0.5 * 10**-decimals + TOLERANCE) * scale))
    return shown


def points(chart: dict) -> list[float]:
    """The numbers that a chart draws on its axes of numbers, or in its cells; not single marks on a line."""
    drawn = []
    for trace in chart["data"]:
        sideways = trace.get("orientation") == "h"
        for axis in ("z",) if trace["type"] == "heatmap" else ("x",) if sideways else ("x", "y"):
            values = trace.get(axis)
            if isinstance(values, dict):
                values = np.frombuffer(b64decode(values["bdata"]), values["dtype"]).tolist()
            if axis == "z":
                values = [value for row in values for value in (row if isinstance(row, list) else [row])]
            if len(values or ()) < 2:
                continue
            drawn += [value for value in values or () if isinstance(value, int | float) and math.isfinite(value)]
    return drawn


def missing(shown: list[tuple[float, float]], files: dict[str, list[dict]]) -> dict[str, list[float]]:
    """By file what it lacks; empty if some file has everything."""
    lacking = {}
    for name, rows in files.items():
        pool = numbers_of(rows)
        lacking[name] = [value for value, margin in shown if not holds(pool, value, margin)]
        if not lacking[name]:
            return {}
    return lacking


@pytest.mark.parametrize(("page", "choices", "run_id"), VISITS)
def test_files_hold_the_numbers_of_the_page(look_at, page, choices, run_id):
    seen = look_at(page, choices)
    app, files = seen.app, seen.files
    assert files
    if page == "history":  # the list of all runs is on the page too
        assert missing(cells(app.dataframe[0].value[["best accuracy", "seed"]], files), files) == {}
    tables = [*app.table, *(app.dataframe[1:] if page == "history" else app.dataframe)]
    for table in tables:
        assert missing(cells(table.value, files), files) == {}, f"no file has this table: {table.value}"
    for name, chart in seen.charts().items():
        if name not in DRAWN:
            shown = [(value, max(abs(value), 1e-9) * TOLERANCE) for value in points(chart)]
            assert missing(shown, scaled(files, SCALES.get(name))) == {}, f"no file has the chart {name}"


def scaled(files: dict[str, list[dict]], scale) -> dict[str, list[dict]]:
    """Files with what their values become on a chart."""
    if scale is None:
        return files
    more = {}
    for name, rows in files.items():
        pool = numbers_of(rows)
        more[name] = [{"value": str(value)} for value in [*pool.tolist(), *map(scale, pool.tolist())]]
    return more


@pytest.mark.parametrize(("page", "choices", "run_id"), [visit for visit in VISITS if visit[2]])
def test_files_say_of_which_run_they_are_and_how_it_was_measured(look_at, page, choices, run_id):
    found, files = result(run_id), look_at(page, choices).files
    of_a_run = {name: rows for name, rows in files.items() if run_id.replace(":", "-") in name}
    assert of_a_run
    for name, rows in of_a_run.items():
        assert rows, name
        for row in rows:
            for column in ("run_id", "config_hash", "seed", "metric_mode", "scored_on", "decoding"):
                assert row[column] == str(found.about()[column]), name


def test_two_runs_are_both_named(look_at):
    files = look_at("history", {"runs": f"{SPANISH},{POS}"}).files
    for row in files["labseq-two-scores.csv"]:
        assert (row["run_id_first"], row["run_id_second"]) == (SPANISH, POS)
        assert (row["seed_first"], row["metric_mode_first"], row["metric_mode_second"]) == ("0", "conlleval", "token")
    assert files["labseq-two-configurations.csv"][0]["run_id_second"] == POS
    assert {"run_id", "seed", "metric_mode"} <= set(files["labseq-runs.csv"][0])
    assert {"run_id", "seed", "metric_mode"} <= set(files["labseq-scores.csv"][0])


def test_a_learning_curve_names_the_run_of_each_point(look_at):
    rows = look_at("compare", {"run": SPANISH, "view": "Learning curve"}).files["labseq-learning-curve.csv"]
    assert all(row["run_id"] and row["seed"] == "0" and row["metric_mode"] == "conlleval" for row in rows)


def looks(trace: dict) -> tuple:
    """How a trace is told from others without its colour."""
    marker, mode = trace.get("marker", {}), trace.get("mode", "")
    symbol = marker.get("symbol", "circle") if "markers" in mode else None
    dash = trace.get("line", {}).get("dash", "solid") if "lines" in mode else None
    return trace["type"], str(symbol), dash, str(marker.get("pattern", {}).get("shape"))


@pytest.mark.parametrize(("page", "choices", "run_id"), VISITS)
def test_colour_is_never_the_only_cue(look_at, page, choices, run_id):
    for name, chart in look_at(page, choices).charts().items():
        listed = [trace for trace in chart["data"] if trace.get("name") and trace.get("showlegend", True)]
        groups = {trace.get("legendgroup") or trace["name"]: looks(trace) for trace in listed}
        assert len(set(groups.values())) == len(groups), f"{name}: {groups}"
        for trace in chart["data"]:
            if trace["type"] == "heatmap":
                assert "%{" in trace["hovertemplate"], name
                assert trace.get("texttemplate") or trace.get("showscale", True), (
                    f"{name} has neither numbers nor a scale"
                )


def test_methods_differ_in_everything_but_colour_too():
    every = [look(place) for place in range(8)]
    for part in ("colour", "pattern", "marker", "dash"):
        assert len({getattr(each, part) for each in every}) == len(every), part
