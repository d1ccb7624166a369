"""Charts of the Compare page: data in, figure out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from pages.ui.drawing.charts import LEGEND, MARGIN, in_lines, kept
from pages.ui.drawing.colours import GREY, look
from pages.ui.drawing.plain_text import names_in_chart, shortened


@kept
def measure_dots(rows: Sequence[dict], names: Mapping[str, str], title: str, form: str) -> go.Figure:
    """One metric: a mark per method with its standard error, and a small dot for each fold. rows: as `measure_rows` gives
    them; form: how a value is written.
    """
    figure = go.Figure()
    for place, row in enumerate(rows):
        own, name, error = look(place), in_lines(names[row["label"]]), row["standard_error"]
        folds = [value for key, value in row.items() if key.startswith("fold ") and value is not None]
        if len(folds) > 1:
            figure.add_scatter(
                x=folds, y=[name] * len(folds), mode="markers", showlegend=False, name=f"{row['label']}, folds",
                marker={"color": GREY, "size": 7, "opacity": 0.7},
                hovertemplate=[f"{form.format(value)}<extra>{row['label']}, one fold</extra>" for value in folds],
            )  # fmt: skip
        figure.add_scatter(
            x=[row["mean"]], y=[name], mode="markers+text", showlegend=False, name=row["label"],
            error_x=None if error is None else {"type": "data", "array": [error], "color": own.colour, "thickness": 3},
            marker={"color": own.colour, "symbol": own.marker, "size": 14}, text=form.format(row["mean"]),
            textposition="top center", textfont={"size": 14}, cliponaxis=False,
            hovertemplate=f"{form.format(row['mean'])}<extra>{row['label']}</extra>",
        )  # fmt: skip
    figure.update_layout(
        height=62 * len(rows) + 90, margin={**MARGIN, "t": 10, "r": 40},
        xaxis={"title": title, "exponentformat": "SI", "nticks": 6},
        yaxis={"range": [len(rows) - 0.4, -0.75], "type": "category", "title": None,
               "tickfont": {"size": 14}, "showgrid": True},
    )  # fmt: skip
    return figure


def measure_text(rows: Sequence[dict], title: str, form: str) -> str:
    """What `measure_dots` shows, in words."""
    return f"{title}: " + "; ".join(f"{row['label']} {form.format(row['mean'])}" for row in rows)


@kept
def front_chart(
    rows: Sequence[dict], names: Mapping[str, str], on_front: Sequence[bool], score: str, title: str
) -> go.Figure:
    """A score against training time; the front is a line, its methods filled marks. rows: of a summary."""
    figure, costs = go.Figure(), [row["train_seconds_mean"] for row in rows]
    front = sorted((cost, row[f"{score}_mean"]) for cost, row, chosen in zip(costs, rows, on_front) if chosen)
    figure.add_scatter(
        x=[x for x, _ in front], y=[y for _, y in front], mode="lines", name="front",
        line={"color": GREY, "width": 3, "dash": "dot", "shape": "hv"}, hoverinfo="skip",
    )  # fmt: skip
    for place, (row, chosen) in enumerate(zip(rows, on_front)):
        own, error = look(place), row[f"{score}_se"]
        figure.add_scatter(
            x=[row["train_seconds_mean"]], y=[row[f"{score}_mean"]], mode="markers", name=in_lines(names[row["label"]]),
            error_y={"type": "data", "array": [error], "color": own.colour} if error is not None else None,
            marker={"symbol": own.marker if chosen else f"{own.marker}-open", "color": own.colour, "size": 15,
                    "line": {"width": 2, "color": own.colour}},
            hovertemplate=f"%{{x:.3g}} s, {title} %{{y:.4f}}<extra>{row['label']}"
            f"{', on the front' if chosen else ''}</extra>",
        )  # fmt: skip
    figure.update_layout(
        height=400, margin=MARGIN, legend=LEGEND, xaxis={"type": "log", "title": "training time in seconds"},
        yaxis={"title": title},
    )  # fmt: skip
    return figure


def front_text(rows: Sequence[dict], on_front: Sequence[bool], score: str, title: str) -> str:
    """What `front_chart` shows, in words."""
    shown = [
        f"{row['label']} {row[f'{score}_mean']:.3f} in {row['train_seconds_mean']:.3g} s{' (front)' if chosen else ''}"
        for row, chosen in zip(rows, on_front)
    ]
    return f"{title} against training time: {'; '.join(shown)}"


@kept
def interval_chart(pairs: Sequence[dict], names: Mapping[str, str]) -> go.Figure:
    """Differences of pairs with their intervals; those that are significant have filled marks, the others open ones."""
    figure = go.Figure()
    for significant in (True, False):
        rows = [row for row in pairs if row["significant"] == significant]
        own = look(0 if significant else 6)
        figure.add_scatter(
            x=[row["difference"] for row in rows] or [None], y=[pair_name(row, names) for row in rows] or [None],
            mode="markers", name="significant" if significant else "cannot be told apart",
            error_x={
                "type": "data", "symmetric": False, "array": [row["high"] - row["difference"] for row in rows],
                "arrayminus": [row["difference"] - row["low"] for row in rows], "color": own.colour, "thickness": 2,
            },
            marker={"symbol": "circle" if significant else "circle-open", "size": 12, "color": own.colour,
                    "line": {"width": 2, "color": own.colour}},
            customdata=[[row["low"], row["high"], row["p_holm"]] for row in rows],
            hovertemplate="%{x:+.4f}, from %{customdata[0]:+.4f} to %{customdata[1]:+.4f}; p (Holm) "
            "%{customdata[2]:.4f}<extra>%{y}</extra>",
        )  # fmt: skip
    figure.add_vline(x=0, line={"color": GREY, "width": 2, "dash": "dash"})
    order = [pair_name(row, names) for row in pairs]
    figure.update_layout(
        height=44 * len(pairs) + 130, margin=MARGIN, legend=LEGEND, xaxis={"title": "difference, first minus second"},
        yaxis={"type": "category", "categoryorder": "array", "categoryarray": order[::-1],
               "title": None, "tickfont": {"size": 14}, "range": [-0.6, len(pairs) - 0.4]},
    )  # fmt: skip
    return figure


def pair_name(row: dict, names: Mapping[str, str]) -> str:
    return f"{names[row['method_a']]} − {names[row['method_b']]}"


def interval_text(pairs: Sequence[dict], names: Mapping[str, str]) -> str:
    """What `interval_chart` shows, in words."""
    shown = [
        f"{pair_name(row, names)} {row['difference']:+.4f} ({row['low']:+.4f} to {row['high']:+.4f})" for row in pairs
    ]
    return f"Differences with 95 % intervals: {'; '.join(shown)}"


@kept
def label_dots(per_label: Mapping[str, Sequence[dict]], names: Mapping[str, str]) -> go.Figure:
    """F1 of each label, a mark per method; the most frequent label on top."""
    first = sorted(next(iter(per_label.values())), key=lambda row: -row["support"])
    figure, labels = go.Figure(), [row["label"] for row in first]
    written = dict(zip(labels, names_in_chart(labels)))
    for place, (method, rows) in enumerate(per_label.items()):
        own, by_label = look(place), {row["label"]: row for row in rows}
        shown = [by_label[label] for label in labels if label in by_label]
        figure.add_scatter(
            x=[row["f1"] for row in shown], y=[written[row["label"]] for row in shown], mode="markers",
            name=in_lines(names[method]),
            marker={"symbol": own.marker, "color": own.colour, "size": 12, "opacity": 0.85},
            customdata=[[row["precision"], row["recall"], row["support"]] for row in shown],
            hovertemplate="F1 %{x:.4f}, precision %{customdata[0]:.3f}, recall %{customdata[1]:.3f}, "
            "%{customdata[2]:,} tokens<extra>%{y}, " + method + "</extra>",
        )  # fmt: skip
    figure.update_layout(
        height=30 * len(labels) + 130, margin=MARGIN, legend=LEGEND, xaxis={"title": "F1 of tokens"},
        yaxis={"type": "category", "categoryorder": "array", "categoryarray": list(written.values())[::-1], "title": None,
               "showgrid": True, "tickfont": {"size": 14}},
    )  # fmt: skip
    return figure


def label_text(per_label: Mapping[str, Sequence[dict]]) -> str:
    """What `label_dots` shows, in words."""
    methods = [
        f"{method}: " + ", ".join(f"{shortened(row['label'])} {row['f1']:.2f}" for row in rows)
        for method, rows in per_label.items()
    ]
    return "F1 by label. " + "; ".join(methods)


@kept
def curve_chart(rows: Sequence[dict], names: Mapping[str, str], score: str, title: str) -> go.Figure:
    """A score against the number of training sequences, a line per method, with standard errors."""
    figure, labels = go.Figure(), list(dict.fromkeys(row["label"] for row in rows))
    for place, label in enumerate(labels):
        own, points = look(place), [row for row in rows if row["label"] == label and row[score] is not None]
        errors = [row[f"{score}_se"] for row in points]
        figure.add_scatter(
            x=[row["sequences"] for row in points], y=[row[score] for row in points], mode="lines+markers",
            name=in_lines(names.get(label, label)), line={"color": own.colour, "dash": own.dash, "width": 2.5},
            error_y={"type": "data", "array": errors, "thickness": 1.5} if None not in errors else None,
            marker={"symbol": own.marker, "size": 10},
            hovertemplate=f"%{{x:,}} sequences: {title} %{{y:.4f}}<extra>{label}</extra>",
        )  # fmt: skip
    sizes = sorted({row["sequences"] for row in rows})
    figure.update_layout(
        height=420, margin=MARGIN, legend=LEGEND, yaxis={"title": title},
        xaxis={"type": "log", "title": "training sequences", "tickvals": sizes, "ticktext": [f"{size:,}" for size in sizes]},
    )  # fmt: skip
    return figure


def curve_text(rows: Sequence[dict], score: str, title: str) -> str:
    """What `curve_chart` shows, in words."""
    shown = [f"{row['label']} at {row['sequences']} {row[score]:.3f}" for row in rows if row[score] is not None]
    return f"{title} against the number of training sequences: {'; '.join(shown)}"
