"""What the methods of a run have reached while they learn: objective and accuracy by iteration."""

from __future__ import annotations

import math
from collections.abc import Sequence

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from labseq_core.experiments import TaskStatus
from pages.ui.drawing.chart_margins import with_room
from pages.ui.drawing.charts import MARGIN, MARKED, in_lines
from pages.ui.drawing.colours import look

_LINES_SHOWN = 12  # of one method: the newest
_PANEL, _AROUND, _LEGEND_LINE = 100, 150, 20  # pixels: one method's objective, axis and legend, a line of the legend
_STEEP = 1000.0  # an objective that falls by such a factor needs a log scale
_BELOW = 0.15  # of accuracies so much below the worst of now nothing is shown: all differences would shrink to nothing
Points = list[tuple[int, float]]


def iterates(tasks: Sequence[TaskStatus]) -> bool:
    """Whether there is something to draw: a method that only counts has a single point."""
    return bool(_methods(tasks))


def objective_curves(tasks: Sequence[TaskStatus]) -> go.Figure:
    """A panel for each method, since objectives of different methods cannot be compared; a line for each training."""
    labels = _methods(tasks)
    figure = make_subplots(
        rows=len(labels), shared_xaxes=True, subplot_titles=[in_lines(label) for label in labels],
        vertical_spacing=min(0.2, 0.4 / len(labels)),
    )  # fmt: skip
    for row, label in enumerate(labels, 1):
        drawn = _drawn(tasks, label, _objectives)
        for task in drawn:
            _add_line(figure, tasks, task, _objectives(task), "%{y:.5g}", row=row, col=1, showlegend=False)
        values = [objective for task in drawn for _, objective in _objectives(task)]
        steep = 0.0 < _STEEP * min(values) < max(values)
        scale = {"type": "log", "exponentformat": "e"} if steep else {"type": "linear", "exponentformat": "SI"}
        figure.update_yaxes(**scale, nticks=4, rangemode="tozero", row=row, col=1)
    figure.update_xaxes(**_iterations(tasks))
    figure.update_xaxes(title_text="iteration (log scale)", row=len(labels), col=1)
    figure.update_annotations(font={"size": 13}, yshift=-2)
    return _laid_out(figure, tasks)


def accuracy_curves(tasks: Sequence[TaskStatus]) -> go.Figure:
    """A line for each training: its accuracy on held-out tokens, where that was measured."""
    figure = go.Figure()
    for label in dict.fromkeys(task.label for task in tasks):
        for number, task in enumerate(_drawn(tasks, label, _accuracies)):
            _add_line(figure, tasks, task, _accuracies(task), "%{y:.4f}", showlegend=number == 0)
    figure.update_xaxes(title_text="iteration (log scale)", **_iterations(tasks))
    figure.update_yaxes(title_text="token accuracy", tickformat=".3~f", nticks=6)
    if figure.data:
        lowest = min(min(line.y) for line in figure.data)
        worst_now, best = min(line.y[-1] for line in figure.data), max(max(line.y) for line in figure.data)
        low = max(lowest, worst_now - _BELOW)
        around = max(0.002, 0.06 * (best - low))
        figure.update_yaxes(range=[low - around, best + around])
    else:
        figure.update_yaxes(range=[0, 1])
        figure.add_annotation(
            text="not measured yet", x=0.5, y=0.5, xref="paper", yref="paper", showarrow=False, font={"size": 14}
        )
    return _laid_out(figure, tasks)


def curve_rows(tasks: Sequence[TaskStatus]) -> list[dict]:
    """All points of both charts, and of those that had no room: a row per training and iteration."""
    rows = []
    for task in tasks:
        objectives, accuracies = dict(task.curve), dict(task.accuracies)
        for iteration in sorted({*objectives, *accuracies}):
            reached = {"objective": objectives.get(iteration), "accuracy": accuracies.get(iteration)}
            about = {"label": task.label, "fold": task.fold, "combination": task.point, "iteration": iteration}
            rows.append({**about, **reached})
    return rows


def latest_objectives(tasks: Sequence[TaskStatus]) -> str:
    """The newest objective of each method that iterates."""
    latest = {task.label: task.curve[-1][1] for task in tasks if task.curve}
    return ", ".join(f"{label} {latest[label]:.4g}" for label in _methods(tasks))


def latest_accuracies(tasks: Sequence[TaskStatus]) -> str:
    """The newest accuracy of each method."""
    latest = {task.label: task.accuracies[-1][1] for task in tasks if task.accuracies}
    return ", ".join(f"{label} {accuracy:.3f}" for label, accuracy in latest.items())


def _methods(tasks: Sequence[TaskStatus]) -> list[str]:
    """Those with a curve."""
    return list(dict.fromkeys(task.label for task in tasks if len(_objectives(task)) > 1))


def _objectives(task: TaskStatus) -> Points:
    """Of the start, before the first iteration, some methods have only a guess; and a log scale has no zero."""
    return [point for point in task.curve if point[0] > 0]


def _accuracies(task: TaskStatus) -> Points:
    return [point for point in task.accuracies if point[0] > 0]


def _drawn(tasks: Sequence[TaskStatus], label: str, points_of) -> list[TaskStatus]:
    """Of the folds of a method, and of the values that a search tries, as many as can be told apart."""
    return [task for task in tasks if task.label == label and points_of(task)][-_LINES_SHOWN:]


def _add_line(figure: go.Figure, tasks: Sequence[TaskStatus], task: TaskStatus, points: Points, told: str, **more):
    own = look(list(dict.fromkeys(each.label for each in tasks)).index(task.label))
    figure.add_scatter(
        x=[iteration for iteration, _ in points], y=[value for _, value in points], mode="lines+markers",
        name=in_lines(task.label), legendgroup=task.label, meta=_task_name(task), **more,
        line={"color": own.colour, "dash": own.dash, "width": 2},
        marker={"symbol": own.marker, "size": 6, "maxdisplayed": MARKED},
        hovertemplate=f"iteration %{{x}}: {told}<extra>%{{meta}}</extra>",
    )  # fmt: skip


def _iterations(tasks: Sequence[TaskStatus]) -> dict:
    """The same axis for both charts. Some methods take ten passes, others a thousand small steps: a log scale shows both."""
    decades = math.log10(max(10, *(iteration for task in tasks for iteration, _ in task.curve)))
    factors = (1, 2, 5) if decades <= 2.5 else (1,)
    ticks = [factor * 10**decade for decade in range(math.ceil(decades) + 1) for factor in factors]
    return {"type": "log", "range": [-0.1, decades + 0.1], "tickvals": ticks, "tickformat": ",d"}


def _laid_out(figure: go.Figure, tasks: Sequence[TaskStatus]) -> go.Figure:
    """Both charts are as high as the objectives of all methods need."""
    names = [in_lines(label) for label in dict.fromkeys(task.label for task in tasks)]
    figure.update_layout(
        height=_AROUND + _PANEL * len(_methods(tasks)), margin={**MARGIN, "t": 24},
        uirevision="keep the zoom while new points come", showlegend=True,
        legend={"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "x": 0, "title": None},
    )  # fmt: skip
    figure.update_layout(height=figure.layout.height + _LEGEND_LINE * max(0, len(names) - 2))
    return with_room(figure)


def _task_name(task: TaskStatus) -> str:
    point = "" if task.point is None else f", combination {task.point + 1}"
    return f"{task.label}, fold {task.fold + 1}{point}"
