"""Choices of all pages: each goes into the link and comes back, made from their registry; and how choices behave."""

from __future__ import annotations

import ast
import time
from collections import Counter

import pytest
from streamlit.testing.v1 import AppTest

from pages.ui.choices.choice import Asked, Choice, Number, OneOf, Switch
from pages.ui.choices.registry import (
    CHOICES,
    DATASET,
    EVERYWHERE,
    FIGURES,
    RUN,
    Compare,
    Data,
    History,
    Inside,
    OneSequence,
    Train,
    check_names,
)
from pages.ui.choices.url import UNDER_WAY
from pages.ui.learn.lessons import LESSONS
from pages.ui.learn.properties import PROPERTIES
from tests.app.conftest import problems
from tests.conftest import REPOSITORY


@pytest.fixture(autouse=True)
def no_runs(monkeypatch, tmp_path) -> None:
    """Runs of other tests would be shown in place of the default results."""
    monkeypatch.setenv("LABSEQ_STORE", str(tmp_path / "runs.sqlite"))


# Where all widgets of a page are to be seen.
SEEN_WITH = {
    "compare": {"run": "default:spanish-ner"},
    "abstain": {"run": "default:spanish-ner"},
    "sequence": {"run": "default:spanish-ner", "n": "2"},
    "history": {"runs": "default:spanish-ner,default:toy-pos"},
    "data": {"dataset": "toy-pos"},
}
# Not by a widget that AppTest can use: tabs, an expander, rows of a table, a run that was begun, pages of more runs than there
# are, what is asked for of large runs only, cards, and a list of corpora that are not here (test_variant_form.py has these).
BY_OTHER_MEANS = {
    Compare.view, Compare.pairs, Inside.tab, Data.bring, History.runs, Train.job, History.list, Train.variants,
    Train.test_dataset,
}  # fmt: skip
WIDGETS = ("selectbox", "segmented_control", "multiselect", "number_input", "slider", "toggle", "text_input")
LINKED = [
    *((page, choice) for page, choices in CHOICES.items() for choice in choices),
    ("compare", RUN), ("data", DATASET),
]  # fmt: skip


def linked(page: str, choice: Choice) -> bool:
    return choice not in BY_OTHER_MEANS and not isinstance(choice, Asked)


def widget(app: AppTest, name: str):
    (found,) = [each for kind in WIDGETS for each in getattr(app, kind) if each.key == name]
    return found


def another(choice: Choice, shown):
    """A value that the widget does not have now."""
    if isinstance(choice, Switch):
        return not shown.value
    if isinstance(choice, Number):
        step = shown.step or 1
        return shown.value + step if shown.value + step <= shown.max else shown.value - step
    if shown.type == "multiselect":
        return shown.value[:1] if len(shown.value) > 1 else shown.options[:2]
    if isinstance(choice, OneOf):
        values = [*getattr(shown, "options", [])]
        now = values.index(shown.format_func(shown.value)) if shown.type == "selectbox" else values.index(shown.value)
        return values[(now + 1) % len(values)]
    return "a b"


@pytest.mark.parametrize(
    ("page", "choice"),
    [pytest.param(page, choice, id=f"{page} {choice.name}") for page, choice in LINKED if linked(page, choice)],
)
def test_a_choice_goes_into_the_link_and_comes_back(open_page, page, choice):
    views = {view.name: names[-1] for view, names in choice.within.items()}
    app = open_page(page, **SEEN_WITH.get(page, {}), **views)
    assert choice.name not in app.query_params or choice.name in SEEN_WITH.get(page, {}) or choice is RUN
    wanted = another(choice, widget(app, choice.name))
    widget(app, choice.name).set_value(wanted).run()
    assert problems(app) == []
    chosen = widget(app, choice.name).value
    assert choice.name in app.query_params
    again = open_page(page, **app.query_params)
    assert problems(again) == []
    assert widget(again, choice.name).value == chosen
    assert {name: again.query_params[name] for name in again.query_params} == {
        name: app.query_params[name] for name in app.query_params
    }


def test_what_is_the_default_again_leaves_the_link(open_page):
    app = open_page("inside", tab="GPSC", gpsc="Gram matrix", cosine="true", sample="30")
    widget(app, "cosine").set_value(False).run()
    widget(app, "sample").set_value(60).run()
    assert not {"cosine", "sample"} & set(app.query_params)
    app = open_page("sequence", n="2")
    shown = widget(app, "step").value
    widget(app, "step").set_value(shown + 1).run()
    widget(app, "step").set_value(shown).run()
    assert app.query_params["step"] == str(shown), "the default follows the model: a link names the position"


def test_a_choice_is_forgotten_when_what_it_is_about_changes(open_page):
    app = open_page("sequence", run="default:spanish-ner", n="2", step="2", show="What if", force="B-MISC")
    widget(app, "n").set_value(3).run()
    assert not {"step", "force"} & set(app.query_params)
    app = open_page("history", find="a", list="1")
    app = open_page("data", dataset="toy-pos", page="3")
    widget(app, "part").set_value("dev").run()
    assert widget(app, "page").value == 1


def test_choices_of_a_closed_view_leave_the_link_and_are_kept(open_page):
    app = open_page("inside", tab="Boosting", round="7")
    widget(app, "boosting").set_value("Losses").run()
    assert "round" not in app.query_params
    widget(app, "boosting").set_value("Bounds").run()
    assert (app.query_params["round"], widget(app, "round").value) == ("7", 7)


@pytest.mark.parametrize(
    ("page", "choice"), [pytest.param(*each, id=each[1].name) for each in LINKED if each[1].within]
)
def test_a_link_that_names_no_view_opens_the_one_it_is_about(open_page, page, choice):
    app = open_page(page, **SEEN_WITH.get(page, {}), **{choice.name: "1"})
    assert problems(app) == []
    for view, names in choice.within.items():
        usual = view in (Compare.view, Inside.tab) and view.name not in app.query_params
        assert usual or app.query_params.get(view.name, names[0]) == names[0]


def test_what_was_chosen_on_a_page_is_there_again_after_another(open_page):
    app = open_page("abstain", run="default:spanish-ner", threshold="0.55")
    app.query_params.clear()
    app.switch_page("pages/data.py").run()
    widget(app, "dataset").set_value("toy-pos").run()
    app.query_params.clear()
    app.switch_page("pages/abstain.py").run()
    assert widget(app, "threshold").value == 0.55
    assert app.query_params["run"] == "default:spanish-ner"
    app.query_params.clear()
    app.switch_page("pages/train.py").run()
    assert widget(app, "dataset").value == "toy-pos", "one choice for all pages"


def test_a_lesson_leads_to_its_choices_and_forgets_no_others(open_page):
    app = open_page("inside", tab="HM-SVM", run="default:margins", svm="rescale=none, linear")
    app.query_params.clear()
    app.query_params.update({"threshold": "0.55", "run": "default:spanish-ner"})
    app.switch_page("pages/abstain.py").run()
    app.query_params.clear()
    app.query_params.update({"lesson": "losses", "figures": "SVG"})
    app.switch_page("pages/learn.py").run()
    next(button for button in app.button if button.label == "Support sequences of the hinge loss").click().run()
    assert app.title[0].value == "Inside"
    assert "svm" not in app.query_params, "the link says nothing of it"
    assert app.query_params["figures"] == "SVG"
    app.query_params.clear()
    app.switch_page("pages/abstain.py").run()
    assert widget(app, "threshold").value == 0.55, "another page is as it was left"


def test_the_same_name_on_two_pages_is_two_choices(open_page):
    app = open_page("data", dataset="toy-pos", page="3")
    app.query_params.clear()
    app.query_params.update({"run": "default:spanish-ner", "view": "Sentences"})
    app.switch_page("pages/compare.py").run()
    assert widget(app, "page").value == 1
    assert Inside.against.place != OneSequence.against.place


def test_back_takes_a_choice_back(open_page):
    """A browser that goes back runs the page with the address of before; no widget has changed."""
    app = open_page("inside", tab="Boosting", run="default:boosting")
    before = dict(app.query_params)
    usual = widget(app, "round").value
    widget(app, "round").set_value(3).run()
    time.sleep(1.2 * UNDER_WAY)
    app.query_params.clear()
    app.query_params.update(before)
    app.run()
    assert "round" not in app.query_params
    assert widget(app, "round").value == usual


@pytest.mark.parametrize("by_a_choice", [True, False])
def test_an_address_that_is_late_takes_nothing_back(open_page, by_a_choice):
    """Two quick clicks: the second, of a choice or of a button, comes with the address of before the first."""
    app = open_page("inside", tab="Boosting", run="default:boosting")
    before = dict(app.query_params)
    widget(app, "round").set_value(3).run()
    app.query_params.clear()
    app.query_params.update(before)
    if by_a_choice:
        widget(app, "boosted").set_value("loose")
    app.run()
    assert widget(app, "round").value == 3
    assert app.query_params["round"] == "3"


def test_links_of_this_version_by_the_text_that_was_shown_still_open(open_page):
    """Streamlit's own binding, which was used before, wrote the text of an option, not its id."""
    app = open_page("inside", tab="HM-SVM")
    line = widget(app, "sentence").options[2]
    old = open_page("inside", tab="HM-SVM", sentence=line)
    assert widget(old, "sentence").value == line.partition(":")[0]


def test_no_name_is_declared_twice():
    with pytest.raises(ValueError, match="two choices called first"):
        check_names("inside", (*EVERYWHERE, *CHOICES["inside"], Number("first")))
    with pytest.raises(ValueError, match="called run"):
        check_names("start", (*EVERYWHERE, OneOf("run")))


def test_only_choices_are_in_the_url_and_no_other_widget_has_their_key():
    """One mechanism: nothing but `url.py` writes the URL, and no widget is bound to it by Streamlit."""
    names = {choice.name for choices in (*CHOICES.values(), EVERYWHERE) for choice in choices}
    keys: Counter[str] = Counter()
    for path in sorted((REPOSITORY / "pages").rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        assert "bind=" not in source, path.name
        assert "query_params[" not in source or path.name == "url.py", path.name
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") != "Registry":
                given = [each.value for each in node.keywords if each.arg == "key"]
                keys.update(each.value for each in given if isinstance(each, ast.Constant))
    assert len(keys) > 5
    assert not names & set(keys)
    assert max(keys.values()) == 1


def test_links_within_the_product_name_choices_that_there_are():
    links = [(link.page, link.choices) for lesson in LESSONS.values() for link in lesson.links]
    links += [(cell.page, cell.choices) for row in PROPERTIES.values() for cell in row.cells]
    assert len(links) > 20
    for page, choices in links:
        known = {choice.name for choice in (*CHOICES[page], *EVERYWHERE)}
        assert set(choices) <= known, (page, choices)
    assert FIGURES in EVERYWHERE
