"""Links that somebody has changed by hand."""

from __future__ import annotations

from urllib.parse import parse_qs

import pytest

from tests.app.conftest import problems
from tests.app.form import open_card
from tests.app.visits import FramedPages

# Rows of buttons of which one is always chosen.
ROWS = [
    ("start", {"corpus": ""}), ("data", {"part": ""}), ("compare", {"score": ""}),
    ("compare", {"view": "Labels", "method": ""}), ("abstain", {"model": ""}), ("inside", {"weigh": ""}),
    ("inside", {"tab": "Boosting", "boosted": ""}), ("inside", {"tab": "Boosting", "boosting": ""}),
    ("inside", {"tab": "HM-SVM", "svm": ""}), ("inside", {"tab": "Margins", "scale": ""}),
    ("inside", {"tab": "GPSC", "across": ""}), ("inside", {"tab": "GPSC", "gpsc": ""}),
    ("inside", {"tab": "GPSC", "gpsc": "Who decides", "gp": ""}), ("sequence", {"look": "", "show": ""}),
    ("sequence", {"recursion": ""}),
]  # fmt: skip


@pytest.mark.parametrize(("page", "parameters"), ROWS)
def test_a_link_that_chooses_nothing_means_the_usual_choice(open_page, page, parameters):
    app = open_page(page, **parameters)
    assert problems(app) == []
    assert app.title


def test_a_link_keeps_each_of_several_choices(open_page):
    app = open_page("train", variant=["crf:l2=0.1", "hmm"])
    link = next(code.value for code in app.code if "?" in code.value)
    assert parse_qs(link.partition("?")[2])["variant"] == ["crf:l2=0.1", "hmm"]


@pytest.mark.parametrize("page", ["abstain", "compare", "inside", "sequence"])
def test_an_address_says_which_run_is_shown_though_nobody_chose_it(open_page, page):
    app = open_page(page)
    assert app.query_params["run"] == app.selectbox(key="run").value


@pytest.mark.parametrize("number", ["nan", "inf", "-1e999", "1001", "٣", "0x1", ""])
def test_what_is_no_number_within_bounds_is_dropped_from_the_address(open_page, number):
    app = open_page("inside", tab="Margins", theta=number)
    assert problems(app) == []
    assert app.number_input(key="theta").value == 0.0
    assert "theta" not in app.query_params


@pytest.mark.parametrize("number", ["9" * 400, "1e999", "-inf"])
def test_a_number_beyond_all_bounds_is_dropped_from_the_address(open_page, monkeypatch, number):
    monkeypatch.setattr("streamlit.testing.v1.app_test.PagesManager", FramedPages)
    app = open_page("train", sequences=number, seed="7", variant=f"crf:max_iter={number}")
    (told,) = problems(app)
    assert "Variant 1: max_iter is" in told
    assert app.title[0].value == "Train"
    assert app.number_input(key="sequences").value == 0
    assert app.number_input(key="seed").value == 7, "the rest of the link is followed"
    assert "sequences" not in app.query_params
    open_card(app, 0)
    assert problems(app) == []
    assert "variant" not in app.query_params or "max_iter" not in app.query_params["variant"], (
        "its widget cannot have it"
    )


def test_a_number_beyond_all_bounds_may_stand_for_a_choice_of_the_page_before(open_page, monkeypatch):
    monkeypatch.setattr("streamlit.testing.v1.app_test.PagesManager", FramedPages)
    app = open_page("start")
    app.query_params["corpus"] = "1e999"
    app.run()
    assert problems(app) == []
    assert app.title
