"""Room around charts: margins hold what is written along the axes, whatever that is."""

from __future__ import annotations

import plotly.graph_objects as go
import pytest
from plotly.subplots import make_subplots

from pages.ui.drawing.chart_margins import with_room

SHORT, LONG = "O", "a label with a long name"
# The least width of a letter and the least room for a line of names, in pixels, at the usual size.
NARROW_LETTER, LINE = 4, 24


def bars(names: list[str], **axis) -> go.Figure:
    return with_room(go.Figure(go.Bar(x=[1.0] * len(names), y=names, orientation="h"), {"yaxis": axis}))


def columns(names: list[str], **axis) -> go.Figure:
    return with_room(go.Figure(go.Bar(x=names, y=[1.0] * len(names)), {"xaxis": axis}))


def left(figure: go.Figure) -> float:
    return figure.layout.margin.l


def below(figure: go.Figure) -> float:
    return figure.layout.margin.b


def test_long_names_have_more_room():
    assert left(bars([SHORT])) >= 18, "the theme keeps names away from the axis"
    assert left(bars([SHORT, LONG])) == left(bars([LONG])) >= NARROW_LETTER * len(LONG)
    assert left(bars([LONG], tickfont={"size": 24})) > 1.5 * left(bars([LONG]))
    assert left(bars(["W" * 10])) > left(bars(["i" * 10]))
    assert left(bars(["漢字" * 5])) >= 12 * 10


def test_a_title_has_its_room():
    assert left(bars([LONG], title="title")) >= left(bars([LONG])) + 32
    assert below(columns([SHORT], title="title")) >= below(columns([SHORT])) + 26


def test_room_that_was_given_is_not_taken():
    figure = with_room(go.Figure(go.Bar(x=[1], y=[SHORT]), {"margin": {"l": 300, "r": 70, "b": 200, "t": 5}}))
    margin = figure.layout.margin
    assert (margin.l, margin.r, margin.b, margin.t) == (300, 70, 200, 5)


def test_tags_are_not_written_and_lines_stand_below_each_other():
    assert left(bars([f"<b>{SHORT}</b>"])) == left(bars([SHORT]))
    assert left(bars(["&lt;" * 9])) == left(bars(["<" * 9])), "as it is read"
    assert left(bars([f"{LONG}<br>{SHORT}"])) == left(bars([LONG]))
    assert below(columns([f"{SHORT}<br>{SHORT}"])) >= below(columns([SHORT])) + 12


def test_cells_have_marks_before_their_names():
    bare = go.Figure(go.Bar(x=["a"], y=["b"]))
    cells = go.Figure(go.Heatmap(z=[[1.0]], x=["a"], y=["b"]))
    bare, cells = with_room(bare), with_room(cells)
    assert below(bare) >= LINE
    assert (left(cells), below(cells)) == (left(bare) + 7, below(bare) + 7)


def test_names_given_for_places_count_and_not_the_places():
    figure = with_room(
        go.Figure(
            go.Scatter(x=[0], y=[0]), {"yaxis": {"tickvals": [0], "ticktext": [LONG]}, "xaxis": {"range": [0, 1]}}
        )
    )
    assert left(figure) == left(bars([LONG]))


def test_numbers_have_room_too():
    figure = with_room(go.Figure(go.Scatter(x=[0.0, 1.0], y=[-0.0001, 0.0])))
    assert left(figure) >= NARROW_LETTER * len("−0.0001")
    assert below(figure) >= LINE


def test_no_names_need_no_room():
    figure = go.Figure(
        go.Bar(x=[LONG], y=[1.0]), {"yaxis": {"showticklabels": False}, "xaxis": {"showticklabels": False}}
    )
    margin = with_room(figure).layout.margin
    assert (margin.l, margin.r, margin.b) == (0, 0, 0)


def test_an_axis_on_the_right_has_its_room_there():
    figure = bars([LONG], side="right")
    assert figure.layout.margin.r == left(bars([LONG]))
    assert left(figure) == 0


def test_the_widest_of_several_axes_counts():
    figure = make_subplots(2, 1)
    for row, name in enumerate([SHORT, LONG], 1):
        figure.add_bar(x=[1.0], y=[name], orientation="h", row=row, col=1)
    figure.update_yaxes(title="title", row=1, col=1)
    assert left(with_room(figure)) == left(bars([LONG]))
    figure = make_subplots(specs=[[{"secondary_y": True}]])
    figure.add_bar(x=[SHORT], y=[1.0])
    figure.add_scatter(x=[SHORT], y=[LONG], secondary_y=True)
    figure.update_layout(yaxis2={"side": "right"})
    margin = with_room(figure).layout.margin
    assert margin.r == left(bars([LONG])) > margin.l > 0


@pytest.mark.parametrize(
    ("names", "measured"),
    [
        (["a"], False), (["Token accuracy", "Span F1"], False), ([LONG], False), ([LONG, f"{LONG}s", SHORT], True),
        ([f"{place} word" for place in range(11)], True),
    ],
)  # fmt: skip
def test_plotly_measures_only_what_may_be_turned(names, measured):
    figure = columns(names)
    assert figure.layout.xaxis.automargin is measured
    assert figure.layout.yaxis.automargin is False


def test_plotly_measures_names_at_the_end_of_a_line():
    line = go.Scatter(x=["word", "+ neighbours"], y=[0.0, 1.0])
    assert with_room(go.Figure(line)).layout.xaxis.automargin is True
    assert with_room(go.Figure(line, {"xaxis": {"range": [-0.5, 1.5]}})).layout.xaxis.automargin is False
    assert with_room(go.Figure(go.Scatter(x=[0.0, 1.0], y=[0.0, 1.0]))).layout.xaxis.automargin is False
