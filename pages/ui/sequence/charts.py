"""Charts of one sentence: label by label, the trellis, and what a decision is made of."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from labseq_core.explain import Reading, Trellis
from labseq_core.explain.trellis import Link
from pages.ui.drawing.charts import MARGIN, clickable, kept
from pages.ui.drawing.colours import GREY, look
from pages.ui.drawing.plain_text import in_chart, names_in_chart, shortened
from pages.ui.sequence.words import number

_POSITIONS = 11  # columns of the map that can be read
_LETTERS, _NAME = 12, 34  # of a word under a column, of a name beside a bar
_TINY = 0.05  # share of a sum that is drawn dotted
_FEW_CELLS = 150  # with a number in each
_BEST, _OTHER = look(1).colour, look(0).colour


def _columns(tokens: Sequence[str], positions: Sequence[int]) -> dict:
    """An axis with the position and the word under each column."""
    ticks = [f"{t + 1} {in_chart(tokens[t], _LETTERS)}" for t in positions]
    return {
        "tickvals": list(positions), "ticktext": ticks, "title": None, "showgrid": False, "zeroline": False,
        "range": [positions[0] - 0.5, positions[-1] + 0.5], "fixedrange": True,
    }  # fmt: skip


def _around(position: int, length: int, most: int) -> range:
    begin = max(0, min(position - most // 2, length - most))
    return range(begin, min(begin + most, length))


@kept
def label_map(reading: Reading, tokens: Sequence[str], position: int) -> go.Figure:
    """Labels by positions around the chosen one: probabilities, or how far behind the best labelling."""
    positions = _around(position, len(reading), _POSITIONS)
    lattice, classes = reading.lattice, reading.classes
    values = lattice.marginals if reading.probabilistic else -lattice.behind
    z = values[positions.start : positions.stop].T
    given = reading.given[positions.start : positions.stop]
    few = z.size <= _FEW_CELLS
    texts = [
        [("• " if given[column] == row else "") + (_cell(value, reading.probabilistic) if few else "")
         for column, value in enumerate(line)]
        for row, line in enumerate(z.tolist())
    ]  # fmt: skip
    hints = [[number(value, 4) for value in line] for line in z.tolist()]
    low = float(np.min(z[np.isfinite(z)])) if np.isfinite(z).any() else -1.0
    figure = go.Figure(
        go.Heatmap(
            z=np.where(np.isfinite(z), z, None), x=list(positions), y=names_in_chart(classes, 20),
            text=texts, texttemplate="%{text}", customdata=hints, zmin=0.0 if reading.probabilistic else min(low, -1e-9),
            zmax=1.0 if reading.probabilistic else 0.0, showscale=False, xgap=1, ygap=1,
            hovertemplate="%{y} at %{x}: %{customdata}<extra></extra>",
        )
    )  # fmt: skip
    figure.add_shape(
        type="rect", x0=position - 0.5, x1=position + 0.5, y0=-0.5, y1=len(classes) - 0.5,
        line={"color": GREY, "width": 3, "dash": "dash"},
    )  # fmt: skip
    figure.update_layout(
        height=min(700, 28 * len(classes) + 90), margin={**MARGIN, "t": 10}, xaxis=_columns(tokens, positions),
        yaxis={"type": "category", "autorange": "reversed", "title": None, "fixedrange": True},
    )  # fmt: skip
    return figure


def _cell(value: float, probability: bool) -> str:
    return f"{value:.2f}".removeprefix("0") if probability and value < 0.995 else number(value, 0 if probability else 1)


def label_map_text(reading: Reading, tokens: Sequence[str], position: int) -> str:
    """What `label_map` says of the chosen position, in words."""
    lattice = reading.lattice
    values = lattice.marginals if reading.probabilistic else -lattice.behind
    row = values[position]
    order = np.argsort(-row, kind="stable")[:5].tolist()
    what = "Probabilities" if reading.probabilistic else "Distances of scores, no probabilities,"
    listed = ", ".join(f"{shortened(reading.classes[s])} {number(float(row[s]), 3)}" for s in order)
    return f"{what} of labels at position {position + 1}, {shortened(tokens[position])}: {listed}"


@kept
def trellis_chart(drawn: Trellis, tokens: Sequence[str]) -> go.Figure:
    """Nodes by position and label with their values; what has not been reached is hollow, the best path is square."""
    places = {label: place for place, label in enumerate(drawn.labels)}
    figure = go.Figure()
    for style, links in _by_style(drawn.links).items():
        # Lines of one look are one trace, with gaps between them.
        x = [place for link in links for place in (link.position, link.position + 1, None)]
        y = [place for link in links for place in (places[link.left], places[link.right], None)]
        colour, width, dash = style
        figure.add_scatter(
            x=x,
            y=y,
            mode="lines",
            line={"color": colour, "width": width, "dash": dash},
            hoverinfo="skip",
            showlegend=False,
        )
    nodes = drawn.nodes
    reached = [node.value is not None for node in nodes]
    figure.add_scatter(
        x=[node.position for node in nodes], y=[places[node.label] for node in nodes], mode="markers+text",
        customdata=[[node.position + 1, node.label] for node in nodes],
        hovertext=[in_chart(node.label) for node in nodes],
        text=[number(node.value) if node.value is not None else "" for node in nodes], textposition="top center",
        textfont={"size": 13, "shadow": "auto"}, cliponaxis=False, showlegend=False,
        marker={
            "size": [22 if node.chosen else 14 for node in nodes],
            "symbol": [("square" if node.on_path else "circle") + ("" if done else "-open")
                       for node, done in zip(nodes, reached)],
            "color": [_BEST if node.on_path else _OTHER if done else GREY for node, done in zip(nodes, reached)],
            "line": {"width": [5 if node.chosen else 1 for node in nodes], "color": GREY},
            "opacity": 1.0,
        },
        selected={"marker": {"opacity": 1.0}}, unselected={"marker": {"opacity": 1.0}},
        hovertemplate="%{hovertext} at %{customdata[0]}: %{text}<extra>click to choose</extra>",
    )  # fmt: skip
    figure.update_layout(
        height=46 * len(drawn.labels) + 90, margin={**MARGIN, "t": 20},
        xaxis=_columns(tokens, drawn.positions),
        yaxis={
            "tickvals": list(places.values()), "ticktext": [in_chart(label, 16) for label in places], "title": None,
            "range": [len(places) - 0.5, -0.75], "showgrid": False, "zeroline": False,
            "fixedrange": True,
        },
    )  # fmt: skip
    return clickable(figure)


def _by_style(links: Sequence[Link]) -> dict[tuple[str, float, str], list[Link]]:
    """Colour, width and dash of each link; the best path is drawn last. Terms are the wider the more they count."""
    by_style: dict[tuple[str, float, str], list[Link]] = {}
    for link in sorted(links, key=lambda link: (link.kind == "path", link.share)):
        if link.kind == "path":
            style = (_BEST, 4.0, "solid")
        elif link.kind == "pointer":
            style = (GREY, 1.5, "solid")
        else:
            style = (GREY, 1.0 + round(5 * link.share), "solid" if link.share > _TINY else "dot")
        by_style.setdefault(style, []).append(link)
    return by_style


def trellis_text(drawn: Trellis, recursion: str) -> str:
    """What `trellis_chart` shows at the current position, in words."""
    here = [node for node in drawn.nodes if node.position == drawn.step.position]
    listed = ", ".join(
        f"{shortened(node.label)} {number(node.value)}{' (chosen)' if node.chosen else ''}" for node in here
    )
    return f"Trellis of the {recursion} recursion; values at position {drawn.step.position + 1}: {listed}"


@kept
def part_bars(names: Sequence[str], differences: Sequence[float]) -> go.Figure:
    """What speaks for the chosen labelling to the right, what speaks for the rival to the left."""
    reach = 1.45 * max(map(abs, differences), default=1.0) or 1.0
    figure = go.Figure(
        go.Bar(
            # Two parts may have one name, at two positions: bars are told apart by their place.
            x=list(differences), y=list(range(len(names))), orientation="h", customdata=[in_chart(name, 200) for name in names],
            marker={"color": [look(0 if value > 0 else 1).colour for value in differences]},
            text=[f"{value:+.2f}".replace("-", "−") for value in differences], textposition="outside", cliponaxis=False,
            hovertemplate="%{customdata}: %{x:.5g}<extra></extra>",
        )
    )  # fmt: skip
    low, high = min([*differences, 0.0]), max([*differences, 0.0])
    figure.update_layout(
        height=26 * len(names) + 80, margin={**MARGIN, "t": 10}, bargap=0.25,
        xaxis={"title": "← for the rival · for the chosen →", "range": [-reach if low < 0 else 0, reach if high > 0 else 0],
               "zeroline": True, "fixedrange": True},
        yaxis={"autorange": "reversed", "tickvals": list(range(len(names))), "ticktext": [in_chart(n, _NAME) for n in names],
               "title": None, "fixedrange": True},
    )  # fmt: skip
    return figure
