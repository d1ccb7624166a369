"""Charts of boosting: what was chosen by round, how the loss fell, and the bounds behind a step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite, log

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from pages.ui.drawing.charts import LEGEND, MARGIN, kept
from pages.ui.drawing.colours import GREY, look
from pages.ui.drawing.plain_text import in_chart, shortened

KINDS = {"attribute": "a label and an attribute", "transition": "two labels in a row"}
BOUNDS = {"loose": "loose bound", "tight": "tight bound", "exact": "the loss itself (Z)"}
_SYMBOLS = {"attribute": "circle", "transition": "diamond"}
_FAINT = 0.2
_FEATURE = 80  # letters
_PANELS = 3  # beside one another
_POINTS = 2000  # of a line or of a cloud
_BELOW, _ABOVE = 1.25, 0.75  # how much is seen below and above 1, no change, in depths of the lowest curve


@kept
def steps_by_round(rows: Sequence[dict], number: int) -> go.Figure:
    """The step of each round, kinds of features apart; rounds after `number` are faint. Of very many, those around it."""
    begin = max(0, min(number - _POINTS // 2, len(rows) - _POINTS))
    figure = go.Figure()
    for place, (kind, words) in enumerate(KINDS.items()):
        own = look(place)
        for later, part in enumerate((rows[begin:number], rows[number : begin + _POINTS])):
            some = [row for row in part if row["kind"] == kind]
            # A trace without any point would be missing in the legend.
            figure.add_scatter(
                x=[None, *(row["round"] for row in some)], y=[None, *(row["step"] for row in some)], name=words,
                mode="markers", customdata=["", *(in_chart(row["feature"], _FEATURE) for row in some)],
                showlegend=not later, legendgroup=kind,
                marker={"color": own.colour, "symbol": _SYMBOLS[kind], "size": 6 + 4 * place,
                        "opacity": _FAINT if later else 1.0},
                hovertemplate="round %{x}: %{customdata}<br>step %{y:+.4f}<extra></extra>",
            )  # fmt: skip
    figure.add_vline(x=number, line={"color": GREY, "width": 2, "dash": "dash"})
    figure.add_hline(y=0, line={"color": GREY, "width": 1})
    figure.update_layout(
        height=340, margin=MARGIN, legend=LEGEND, uirevision="keep the zoom while the slider moves",
        xaxis={"title": "round", "range": [begin, min(begin + _POINTS, len(rows)) + 1], "zeroline": False},
        yaxis={"title": "step"},
    )  # fmt: skip
    return figure


def steps_text(rows: Sequence[dict], number: int) -> str:
    """What `steps_by_round` shows, in words."""
    pairs = sum(row["kind"] == "transition" for row in rows[:number])
    return (
        f"Steps by round. Of the first {number} rounds, {pairs} moved the weight of two labels in a row and "
        f"{number - pairs} that of a label and an attribute"
    )


def thinned(rows: Sequence) -> Sequence:
    """Of very many points of a curve only some, evenly, and the last."""
    every = -(-len(rows) // _POINTS)
    return rows if every <= 1 else [*rows[:-1:every], rows[-1]]


@kept
def loss_curves(models: Mapping[str, Sequence[dict]]) -> go.Figure:
    """The training loss after each round, one line per model, as powers of ten."""
    figure = go.Figure()
    for place, (name, rows) in enumerate(models.items()):
        _line(figure, name, rows, [_power(row["log_loss"]) for row in rows], place, "loss 10^%{y:.2f}")
    figure.update_yaxes(title="training loss", tickprefix="10<sup>", ticksuffix="</sup>")
    return _finished(figure)


@kept
def development_curves(models: Mapping[str, Sequence[dict]], score: str) -> go.Figure:
    """A score on the development part after each round, one line per model."""
    figure = go.Figure()
    for place, (name, rows) in enumerate(models.items()):
        _line(figure, name, rows, [row[score] for row in rows], place, "%{y:.4f}")
    figure.update_yaxes(title="on the development part")
    return _finished(figure)


def curves_text(what: str, models: Mapping[str, Sequence[dict]], score: str) -> str:
    """The last values of curves, in words."""
    last = [f"{name} {rows[-1][score]:.4g}" for name, rows in models.items() if rows]
    return f"{what} by round, a line per model. After the last round: {', '.join(last)}"


@kept
def promised_and_kept(
    models: Mapping[str, Sequence[dict]], promised: Mapping[str, Sequence[float]], one_scale: bool
) -> go.Figure:
    """A panel per model: the loss as it fell, and as it would have if each round had done only what its bound promised.

    promised: logarithms of that loss by round. one_scale: the losses can be compared.
    """
    columns = min(_PANELS, len(models))
    lines = -(-len(models) // columns)
    figure = make_subplots(
        lines, columns, subplot_titles=list(models), shared_yaxes="all" if one_scale else False,
        horizontal_spacing=(0.06 if one_scale else 0.2) / columns, vertical_spacing=0.4 / lines,
    )  # fmt: skip
    for place, (name, rows) in enumerate(models.items()):
        own, numbers = look(place), [row["round"] for row in rows]
        powers = {"kept": [_power(row["log_loss"]) for row in rows], "promised": list(map(_power, promised[name]))}
        for what, values in powers.items():
            figure.add_scatter(
                x=numbers, y=values, name=what, mode="lines", showlegend=place == 0, legendgroup=what,
                line={"color": own.colour if what == "kept" else GREY, "dash": "solid" if what == "kept" else "dash",
                      "width": 2.5}, row=place // columns + 1, col=place % columns + 1,
                hovertemplate="round %{x}: 10^%{y:.2f}<extra>" + what + "</extra>",
            )  # fmt: skip
    figure.update_xaxes(title_text="round", rangemode="tozero", nticks=4, tickangle=0)
    figure.update_yaxes(tickprefix="10<sup>", ticksuffix="</sup>")
    figure.update_yaxes(title_text="training loss", col=1)
    figure.update_layout(height=80 + 260 * lines, margin={**MARGIN, "t": 60}, legend={**LEGEND, "y": 1 + 0.12 / lines})
    return figure


@kept
def bound_picture(curves: Mapping, step: float) -> go.Figure:
    """The two bounds and the loss itself against the step, relative to the loss before; marks are the lowest points."""
    figure = go.Figure()
    steps = curves["step"]
    for place, (bound, name) in enumerate(BOUNDS.items()):
        own = look(place)
        figure.add_scatter(
            x=steps, y=curves[bound], name=name, mode="lines",
            line={"color": own.colour, "dash": own.dash, "width": 2.5},
            hovertemplate="step %{x:+.3f}: %{y:.4f}<extra>" + name + "</extra>",
        )  # fmt: skip
        best = curves["minimisers"][bound]
        if steps[0] <= best <= steps[-1]:
            figure.add_scatter(
                x=[best], y=[_between(steps, curves[bound], best)], name=f"best step by the {name}", mode="markers",
                marker={"color": own.colour, "symbol": own.marker, "size": 13, "line": {"color": GREY, "width": 1}},
                showlegend=False, hovertemplate="best step %{x:+.3f}<extra>" + name + "</extra>",
            )  # fmt: skip
    figure.add_vline(x=step, line={"color": GREY, "width": 2, "dash": "dot"})
    figure.add_annotation(
        x=step, y=1, yref="paper", text=f"step taken {step:+.3f}", showarrow=False, yanchor="bottom", font={"size": 13}
    )
    ahead, behind = max(abs(steps[0]), abs(steps[-1])), 0.25 * max(abs(steps[0]), abs(steps[-1]))
    depth = 1.0 - min(min(curves[bound]) for bound in BOUNDS) or 1.0
    figure.update_layout(
        height=380, margin={**MARGIN, "t": 64}, legend={**LEGEND, "y": 1.08},
        xaxis={"title": "step", "range": [-behind, ahead] if step >= 0 else [-ahead, behind]},
        yaxis={"title": "loss after / loss before", "range": [1 - _BELOW * depth, 1 + _ABOVE * depth]},
    )  # fmt: skip
    return figure


def bound_text(curves: Mapping, feature: str, step: float) -> str:
    """What `bound_picture` shows, in words."""
    best = ", ".join(f"{name} {curves['minimisers'][bound]:+.3f}" for bound, name in BOUNDS.items())
    return f"Bounds on the loss against the step of {shortened(feature)}. Best steps: {best}. Taken: {step:+.3f}"


def _line(figure: go.Figure, name: str, rows: Sequence[dict], values: list, place: int, shown: str) -> None:
    own = look(place)
    figure.add_scatter(
        x=[row["round"] for row in rows], y=values, name=name, mode="lines",
        line={"color": own.colour, "dash": own.dash, "width": 2.5},
        hovertemplate="round %{x}: " + shown + "<extra>" + name + "</extra>",
    )  # fmt: skip


def _finished(figure: go.Figure) -> go.Figure:
    figure.update_layout(height=320, margin=MARGIN, legend=LEGEND, xaxis={"title": "round", "rangemode": "tozero"})
    return figure


def _power(log_loss: float) -> float | None:
    return log_loss / log(10) if isfinite(log_loss) else None


def _between(places: Sequence[float], values: Sequence[float], at: float) -> float:
    """The value of a curve between two of its points."""
    for left, right, low, high in zip(places, places[1:], values, values[1:]):
        if left <= at <= right:
            return low + (high - low) * (at - left) / (right - left) if right > left else low
    return values[-1]
