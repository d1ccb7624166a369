"""Figures that are remembered for all visitors: none is changed after it was made."""

from __future__ import annotations

import json

import pytest

from labseq_core.experiments import result
from pages.ui.drawing import charts
from tests.app.conftest import problems
from tests.app.views import VIEWS

RUN, METHOD = "default:spanish-ner", "CRF (tuned)"


@pytest.fixture
def made(monkeypatch) -> list[tuple]:
    """Every figure that is made from now on, with what it was then."""
    found, finish = [], charts.with_room

    def finished(figure):
        figure = finish(figure)
        found.append((figure, figure.to_json()))
        return figure

    monkeypatch.setattr(charts, "with_room", finished)
    monkeypatch.setattr(charts, "_kept", {})
    return found


def matrix(app) -> dict:
    (chart,) = [chart for chart in app.get("plotly_chart") if chart.proto.id.endswith("chart.confusion")]
    return json.loads(chart.proto.spec)


def test_cell_after_cell_has_one_frame(open_page):
    app, (labels, counts) = open_page("compare", run=RUN, view="Labels", method=METHOD), cells_of_run()
    choice = app.selectbox(key="cell")
    names = choice.options[:4]
    for text in [*names, names[0]]:
        cell = text.rpartition(" (")[0]
        app.selectbox(key="cell").set_value(cell).run()
        assert problems(app) == []
        (frame,) = matrix(app)["layout"]["shapes"]
        row, column = (labels.index(label) for label in cell.split(" → "))
        assert [frame["x0"], frame["x1"], frame["y0"], frame["y1"]] == [
            column - 0.5,
            column + 0.5,
            row - 0.5,
            row + 0.5,
        ]
        heat_map, marks = matrix(app)["data"]
        assert heat_map["customdata"] == counts
        assert len(marks["x"]) == sum(count > 0 for counted in counts for count in counted)


def cells_of_run() -> tuple[list[str], list[list[int]]]:
    counted = result(RUN).confusion[METHOD]
    return counted["labels"], counted["counts"]


def test_two_visitors_have_a_frame_each(open_page):
    one, other = (open_page("compare", run=RUN, view="Labels", method=METHOD) for _ in range(2))
    names = [text.rpartition(" (")[0] for text in one.selectbox(key="cell").options]
    for mine, yours in zip(names[:3], names[3:6]):
        for app, cell in ((one, mine), (other, yours)):
            app.selectbox(key="cell").set_value(cell).run()
            assert len(matrix(app)["layout"]["shapes"]) == 1


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: " ".join([view[0], *view[1].values()]))
def test_no_view_changes_a_figure_that_was_made(open_page, made, view):
    page, choices = view
    shown = []
    for _ in range(2):
        app = open_page(page, **choices)
        assert problems(app) == []
        shown.append([chart.proto.spec for chart in app.get("plotly_chart")])
    changed = [figure for figure, before in made if figure.to_json() != before]
    assert not changed, "changed after it was made"
    assert shown[0] == shown[1], "the same figures for the next visitor"


def test_a_figure_is_the_same_drawn_with_and_without_clicks(made, monkeypatch):
    monkeypatch.setattr(charts.st, "plotly_chart", lambda *figure, **options: None)
    figure = charts.label_bars({"A": 2, "B": 1})
    for clicked in (None, print, None):
        charts.draw(figure, "labels", "two labels", clicked)
        assert charts.label_bars({"A": 2, "B": 1}).to_json() == made[0][1]
