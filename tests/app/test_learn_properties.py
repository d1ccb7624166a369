"""The table of properties (thesis, Table 5.2): it says what the thesis says, and each of its links shows what it promises."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from labseq_core.serving.settings import app_path
from labseq_core.warm_up import ahead
from pages.ui.learn.properties import COMPARED, PROPERTIES, Cell
from tests.app.conftest import SECONDS_PER_RUN, problems, text

THESIS = {
    "Loss function": ["log", "exp", "hinge", "log"],
    "Overlapping features": ["yes", "yes", "yes", "yes"],
    "Regularisation": ["penalty", "ensemble margin", "margin", "Gaussian prior"],
    "Few features": ["no", "yes", "no", "no"],
    "Probabilities": ["yes", "no", "no", "yes"],
    "Kernels": ["no", "no", "yes", "yes"],
    "Computation": ["forward-backward", "forward-backward", "Viterbi", "forward-backward"],
}
# What must stand on the page that a cell leads to.
PROMISED = {
    ("Loss function", "CRF"): "Log loss: mean of -log p(true label)",
    ("Loss function", "Boosting"): "How fast the loss falls",
    ("Loss function", "HM-SVM"): "pile up at 1",
    ("Loss function", "GPSC"): "minus log-likelihood plus the penalty",
    ("Overlapping features", "CRF"): "Parts of the decision, largest first: ",
    ("Overlapping features", "Boosting"): "Parts of the decision, largest first: ",
    ("Overlapping features", "HM-SVM"): "Parts of the decision, largest first: ",
    ("Overlapping features", "GPSC"): "The training words that decided most",
    ("Regularisation", "CRF"): "Fewer weights: the L1 path",
    ("Regularisation", "Boosting"): "Cumulative distribution of margin / Σ|λ|",
    ("Regularisation", "HM-SVM"): "Cumulative distribution of margin / ‖F‖",
    ("Regularisation", "GPSC"): "The Gram matrix",
    ("Few features", "CRF"): "100.00%",
    ("Few features", "Boosting"): "Chosen until round 50, newest first",
    ("Few features", "HM-SVM"): "Support sequences of a sentence",
    ("Few features", "GPSC"): "100.00%",
    ("Probabilities", "CRF"): "**CRF** withholds",
    ("Probabilities", "Boosting"): "Reliability diagram",
    ("Probabilities", "HM-SVM"): "**HM-SVM · score gap, not a probability** withholds",
    ("Probabilities", "GPSC"): "**GP sequence classification** withholds",
    ("Kernels", "CRF"): "Bar chart of scores. CRF (tuned): Token accuracy 0.5",
    ("Kernels", "Boosting"): "--dataset parity --methods boost,gps",
    ("Kernels", "HM-SVM"): "**HM-SVM** is better than **CRF**",
    ("Kernels", "GPSC"): "Who decides on a word",
    ("Computation", "CRF"): "forward",
    ("Computation", "Boosting"): "backward",
    ("Computation", "HM-SVM"): "viterbi",
    ("Computation", "GPSC"): "forward",
}
CELLS = {
    (name, method): cell for name, kept in PROPERTIES.items() for method, cell in zip(COMPARED, kept.cells, strict=True)
}


@pytest.fixture(scope="module")
def visitor() -> AppTest:
    """One visitor who follows all links: what was chosen on one page must not spoil what the next link shows."""
    ahead.load("boost")
    app = AppTest.from_file(str(app_path()), default_timeout=SECONDS_PER_RUN)
    app.run()
    return app


def table(app: AppTest) -> None:
    app.query_params.clear()
    app.query_params["lesson"] = "properties"
    app.switch_page("pages/learn.py").run()
    assert problems(app) == []


def everything(app: AppTest) -> str:
    """All that is written, in tables and under headings too, and what charts say to those who cannot see them."""
    tables = "\n".join(table.value.to_string() for table in app.table)
    alternatives = "\n".join(chart.proto.alt for chart in app.get("plotly_chart"))
    return "\n".join([text(app), tables, alternatives, *(heading.value for heading in app.subheader)])


def chosen(app: AppTest, name: str) -> list[str]:
    """What the page took from the URL: a choice that it does not know it drops."""
    if name == "variant":  # no widget has them all
        return app.session_state["visit"].kept["train", name]
    value = app.session_state[name]
    return [str(each).lower() for each in (value if isinstance(value, list) else [value])]


def asked(value: str | list[str]) -> list[str]:
    return [each.lower() for each in (value if isinstance(value, list) else [value])]


def test_the_table_is_that_of_the_thesis():
    assert {name: [cell.says for cell in kept.cells] for name, kept in PROPERTIES.items()} == THESIS
    assert COMPARED == ("CRF", "Boosting", "HM-SVM", "GPSC")


def test_every_cell_says_its_method_and_what_to_look_for(visitor):
    table(visitor)
    assert len(CELLS) == len(PROMISED) == 28
    for (name, method), cell in CELLS.items():
        button = visitor.button(key=f"cell.{name}.{method}")
        assert button.label == f"**{method}:** {cell.says}"
        assert button.help == cell.look_for
        assert cell.look_for in text(visitor)


def test_links_name_what_they_show():
    assert all("run" in cell.choices or "dataset" in cell.choices for cell in CELLS.values())


@pytest.mark.parametrize("place", CELLS, ids=" / ".join)
def test_a_link_shows_what_it_promises(visitor, place):
    cell: Cell = CELLS[place]
    table(visitor)
    visitor.button(key="cell.{}.{}".format(*place)).click().run()
    assert problems(visitor) == []
    assert visitor.title[0].value.lower() in (cell.page, "one sequence")
    for name, value in cell.choices.items():
        assert chosen(visitor, name) == asked(value), name
    assert PROMISED[place] in everything(visitor)


def test_the_way_back_leads_to_the_table(visitor):
    table(visitor)
    visitor.button(key="cell.Kernels.CRF").click().run()
    visitor.query_params.clear()
    visitor.switch_page("pages/learn.py").run()
    assert "What each method has" in text(visitor)
