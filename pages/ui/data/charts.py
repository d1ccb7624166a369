"""Charts of a corpus: its labels, and how long its sequences are."""

from __future__ import annotations

from itertools import islice

import plotly.graph_objects as go

from pages.ui.drawing.charts import MARGIN, kept
from pages.ui.drawing.colours import look
from pages.ui.drawing.plain_text import names_in_chart
from pages.ui.drawing.tokens import LABELS_SHOWN


@kept
def label_bars(counts: dict[str, int]) -> go.Figure:
    """How often each label occurs, most frequent on top; only the most frequent ones of very many."""
    own = look(0)
    counts = dict(islice(counts.items(), LABELS_SHOWN))
    figure = go.Figure(
        go.Bar(
            x=list(counts.values()), y=names_in_chart(counts), orientation="h", marker={"color": own.colour},
            text=[f"{count:,}" for count in counts.values()], textposition="outside", cliponaxis=False,
            hovertemplate="%{y}: %{x:,} tokens<extra></extra>",
        )
    )  # fmt: skip
    figure.update_layout(
        height=max(260, 22 * len(counts) + 70), margin={**MARGIN, "t": 10}, bargap=0.2,
        xaxis={"title": "tokens", "range": [0, 1.15 * max(counts.values())]},
        yaxis={"autorange": "reversed", "type": "category", "title": None},
    )  # fmt: skip
    return figure


@kept
def length_histogram(bins: list[dict]) -> go.Figure:
    """How long the sequences are; bins: from, to, sequences."""
    own = look(2)
    ranges = [f"{each['from']} to {each['to']}" if each["to"] > each["from"] else f"{each['from']}" for each in bins]
    figure = go.Figure(
        go.Bar(
            x=[each["from"] for each in bins], y=[each["sequences"] for each in bins], customdata=ranges,
            width=[each["to"] - each["from"] + 1 for each in bins], offset=-0.5,
            marker={"color": own.colour, "line": {"width": 1, "color": "rgba(128,128,128,0.6)"}},
            hovertemplate="%{customdata} tokens: %{y:,} sequences<extra></extra>",
        )
    )  # fmt: skip
    figure.update_layout(
        height=260, margin={**MARGIN, "t": 10}, xaxis={"title": "tokens in a sequence"}, yaxis={"title": "sequences"}
    )
    return figure
