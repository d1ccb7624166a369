"""The Learn page: every lesson is there, its links lead where they say, its numbers are those of the core."""

from __future__ import annotations

import pytest

from labseq_core.experiments.lessons import lessons
from labseq_core.explain.loss_curves import losses_at
from pages.ui.lessons import LESSONS, PROPERTIES
from tests.app.conftest import problems, text


@pytest.mark.parametrize("lesson", LESSONS)
def test_every_lesson_opens_by_its_link(open_page, lesson):
    app = open_page("learn", lesson=lesson)
    assert problems(app) == []
    assert LESSONS[lesson].title in text(app)
    assert LESSONS[lesson].question in text(app)


@pytest.mark.parametrize(
    ("lesson", "place"), [(key, place) for key, lesson in LESSONS.items() for place in range(len(lesson.links))]
)
def test_links_lead_to_pages_that_work(open_page, lesson, place):
    link = LESSONS[lesson].links[place]
    app = open_page(link.page, **link.choices)
    assert problems(app) == []
    if link.page == "train":
        assert app.multiselect(key="methods").value == link.choices["methods"]
        assert f"--dataset {link.choices['dataset']}" in text(app)


def test_a_click_carries_the_choices_over(open_page):
    app = open_page("learn", lesson="kernel")
    next(button for button in app.button if button.label == "Linear against degree 2").click().run()
    assert problems(app) == []
    assert app.title[0].value == "Train"
    assert app.multiselect(key="methods").value == ["CRF", "GP sequence classification"]


def test_the_margin_slider_gives_the_losses(open_page):
    app = open_page("learn", lesson="losses", margin="-1.0")
    assert app.dataframe[0].value.to_dict("records") == losses_at(-1.0)
    app.slider(key="margin").set_value(2.0).run()
    assert app.dataframe[0].value.to_dict("records") == losses_at(2.0)


def test_mistakes_are_shown_with_their_bound(open_page):
    app = open_page("learn", lesson="margin")
    assert app.dataframe[0].value.to_dict("records") == lessons()["mistakes"]


def test_the_table_of_properties_leads_to_lessons(open_page):
    app = open_page("learn", lesson="properties")
    assert problems(app) == []
    assert list(app.table[0].value.index) == list(PROPERTIES)
    next(button for button in app.button if button.label == "Kernels").click().run()
    assert problems(app) == []
    assert LESSONS["kernel"].title in text(app)


def test_an_unknown_lesson_opens_the_first(open_page):
    app = open_page("learn", lesson="nonsense")
    assert problems(app) == []
    assert next(iter(LESSONS.values())).title in text(app)
