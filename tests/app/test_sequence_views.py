"""One sequence: of the views of one model only the open one is made, and what was chosen in another one is not lost."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from pages.ui.sequence import cached as sequence_data
from tests.app.conftest import problems, text

RUN = "default:spanish-ner"
# By view: the name of its chart, its headings, its tables and its files, besides those of labels side by side.
VIEWS = {
    "How sure": (
        ["labels"], ["How sure, label by label", "The 5 best labellings"], ["The best labellings"],
        ["These labellings as CSV"],
    ),
    "Step by step": (
        ["trellis"], ["Step by step", "This step", "What it takes together"], ["Terms of the step"], ["All nodes as CSV"],
    ),
    "Why this label": (
        ["why"], ["Why this label?"], [], ["These bars as CSV", "All parts as CSV"],
    ),
    "What if": (
        [], ["What if?"], ["Labels after one was forced", "What it costs"], ["The changed labels as CSV"],
    ),
}  # fmt: skip
TABLES = [table for _, _, tables, _ in VIEWS.values() for table in tables]
# A choice in each view that is not the one it begins with: the key of its widget, its name in the URL, its value.
CHOICES = {
    "Step by step": [("recursion", "recursion", "Backward"), ("node", "node", "B-MISC")],
    "Why this label": [("against", "against", "I-PER")],
    "What if": [("force", "force", "B-MISC")],
}


def show(app: AppTest, view: str) -> None:
    app.segmented_control(key="show").set_value(view).run()
    assert problems(app) == []


def widget(app: AppTest, key: str):
    (found,) = [each for kind in (app.selectbox, app.segmented_control) for each in kind if each.key == key]
    return found


def named(app: AppTest) -> dict[str, str]:
    """Which choices of views stand in the URL."""
    names = [name for choices in CHOICES.values() for _, name, _ in choices]
    return {name: app.query_params[name] for name in names if name in app.query_params}


def chosen_in(view: str) -> dict[str, str]:
    return {name: value for _, name, value in CHOICES.get(view, [])}


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_has_its_parts_and_no_others(open_page, view):
    app = open_page("sequence", run=RUN, n="2", step="2", look="CRF", show=view)
    assert problems(app) == []
    drawn, headings, tables, files = VIEWS[view]
    assert [each.proto.id.rpartition("chart.")[2] for each in app.get("plotly_chart")] == drawn
    shown = [each.value for kind in (app.header, app.subheader) for each in kind]
    assert shown == ["Labels side by side", "One model, one position", *headings]
    assert [table for table in TABLES if f'aria-label="{table}"' in text(app)] == tables
    assert 'aria-label="Labels of one sentence"' in text(app)
    assert [each.proto.label for each in app.get("download_button")] == ["These labels as CSV", *files]


def test_only_the_open_view_is_reckoned(open_page, monkeypatch):
    asked, reading = [], sequence_data.reading

    def why(*what):
        raise AssertionError("nobody asked why")

    def watched(sentence, label, force=None):
        asked.append(force)
        return reading(sentence, label, force)

    monkeypatch.setattr(sequence_data, "why", why)
    monkeypatch.setattr(sequence_data, "reading", watched)
    for view in ("How sure", "Step by step"):
        open_page("sequence", run=RUN, show=view)
    assert set(asked) == {None}, "no label was forced"


def test_choices_are_kept_in_other_views_and_stand_in_the_url_of_their_own(open_page):
    app = open_page("sequence", run=RUN, n="2", step="2", look="CRF")
    for view, choices in CHOICES.items():
        show(app, view)
        for key, _, value in choices:
            assert widget(app, key).value != value
            widget(app, key).set_value(value).run()
            assert problems(app) == []
    for view in (*VIEWS, *reversed(VIEWS)):
        show(app, view)
        assert app.query_params["show"] == view
        assert named(app) == chosen_in(view)
        for key, _, value in CHOICES.get(view, []):
            assert widget(app, key).value == value
    app.slider(key="step").set_value(3).run()
    for view in CHOICES:
        show(app, view)
        assert named(app) == ({"recursion": "Backward"} if view == "Step by step" else {}), "they were of position 2"


@pytest.mark.parametrize("view", CHOICES)
def test_a_link_that_names_no_view_opens_the_one_it_is_about(open_page, view):
    for _, name, value in CHOICES[view]:
        app = open_page("sequence", run=RUN, n="2", step="2", look="CRF", **{name: value})
        assert problems(app) == []
        assert app.segmented_control(key="show").value == view
        assert named(app) == {name: value}
    app = open_page("sequence", run=RUN, n="2", step="2", look="CRF", show="How sure", **chosen_in(view))
    assert app.segmented_control(key="show").value == "How sure", "a link that names one opens that"
    assert named(app) == {}
    show(app, view)
    assert named(app) == chosen_in(view), "and has not forgotten the rest"


def test_the_view_is_there_again_after_another_page(open_page):
    app = open_page("sequence", run=RUN, n="2", step="2", look="CRF", **chosen_in("What if"))
    app.query_params.clear()
    app.switch_page("pages/compare.py").run()
    app.query_params.clear()
    app.switch_page("pages/sequence.py").run()
    assert problems(app) == []
    assert app.segmented_control(key="show").value == "What if"
    assert app.selectbox(key="force").value == "B-MISC"
    assert named(app) == chosen_in("What if")
