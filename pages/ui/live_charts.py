"""What a run's methods have reached while they learn: objective and accuracy by iteration."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import plotly.graph_objects as go

from labseq_core.experiments import TaskStatus
from pages.ui.charts import GREY, MARGIN, in_lines
from pages.ui.colours import look

_LINES_SHOWN = 12  # of one method: the newest
_HEIGHT, _LEGEND_LINE = 250, 20  # pixels
Points = list[tuple[int, float, str]]  # iteration, height, what to say of it


def iterates(tasks: Sequence[TaskStatus]) -> bool:
    """Whether there is something to draw: a method that only counts has a single point."""
    return any(len(_objectives(task)) > 1 for task in tasks)


def objective_curves(tasks: Sequence[TaskStatus]) -> go.Figure:
    """A line for each training. Objectives of different methods cannot be compared, so each is a share of its highest."""
    figure = _curves(tasks, _objectives)
    figure.update_yaxes(title_text="% of its highest", range=[0, 105], tickvals=[0, 25, 50, 75, 100])
    return figure


def accuracy_curves(tasks: Sequence[TaskStatus]) -> go.Figure:
    """A line for each training: its accuracy on held-out tokens, wherever that was measured."""
    figure = _curves(tasks, _accuracies)
    figure.update_yaxes(title_text="token accuracy", tickformat=".3~f", nticks=6)
    if not figure.data:
        figure.update_yaxes(range=[0, 1])
        figure.update_xaxes(range=[0, 1])
        figure.add_annotation(
            text="not measured yet", x=0.5, y=0.5, xref="paper", yref="paper", showarrow=False, font={"size": 14}
        )
    return figure


def latest_objectives(tasks: Sequence[TaskStatus]) -> str:
    """The newest objective of each method."""
    latest = {task.label: task.objective for task in tasks if task.objective is not None}
    return ", ".join(f"{label} {objective:.4g}" for label, objective in latest.items())


def latest_accuracies(tasks: Sequence[TaskStatus]) -> str:
    """The newest accuracy of each method."""
    latest = {task.label: task.accuracies[-1][1] for task in tasks if task.accuracies}
    return ", ".join(f"{label} {accuracy:.3f}" for label, accuracy in latest.items())


def _objectives(task: TaskStatus) -> Points:
    """Of the start, before the first iteration, some methods know only a guess; it is left out."""
    known = [(iteration, objective) for iteration, objective in task.curve if iteration > 0]
    highest = max((objective for _, objective in known), default=0.0)
    return [
        (iteration, 100.0 * objective / highest if highest > 0.0 else 0.0, f"{objective:.5g}")
        for iteration, objective in known
    ]


def _accuracies(task: TaskStatus) -> Points:
    return [(iteration, accuracy, f"{accuracy:.4f}") for iteration, accuracy in task.accuracies if iteration > 0]


def _curves(tasks: Sequence[TaskStatus], points_of: Callable[[TaskStatus], Points]) -> go.Figure:
    """One look per method; of its folds, and of the values that a search tries, as many as can be told apart."""
    figure, names = go.Figure(), []
    for place, label in enumerate(dict.fromkeys(task.label for task in tasks)):
        own, name = look(place), in_lines(label)
        drawn = [task for task in tasks if task.label == label and points_of(task)][-_LINES_SHOWN:]
        names += [name] if drawn else []
        for number, task in enumerate(drawn):
            iterations, heights, texts = zip(*points_of(task))
            figure.add_scatter(
                x=iterations, y=heights, customdata=texts, mode="lines+markers", name=name, legendgroup=label,
                showlegend=number == 0, meta=_task_name(task, len(drawn)),
                line={"color": own.colour, "dash": own.dash, "width": 2}, marker={"symbol": own.marker, "size": 7},
                hovertemplate="iteration %{x}: %{customdata}<extra>%{meta}</extra>",
            )  # fmt: skip
    lines = sum(1 + name.count("<br>") for name in names)
    # Some methods take ten passes, others a thousand small steps: only a log scale shows both.
    figure.update_xaxes(title_text="iteration (log scale)", type="log", dtick="D2", showgrid=True)
    figure.update_layout(
        height=_HEIGHT + _LEGEND_LINE * lines, margin={**MARGIN, "t": 10}, showlegend=True,
        uirevision="keep the zoom while new points come",
        legend={"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "x": 0, "title": None},
        hoverlabel={"bordercolor": GREY},
    )  # fmt: skip
    return figure


def _task_name(task: TaskStatus, of: int) -> str:
    fold = f", fold {task.fold + 1}" if of > 1 or task.fold else ""
    point = "" if task.point is None else f", combination {task.point + 1}"
    return f"{task.label}{fold}{point}"
