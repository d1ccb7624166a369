"""Whatever is clicked, typed or dragged in a real browser, nothing breaks and nobody else is asked.

A failure names its seed and every step; `pytest "tests/browser/test_random_clicks.py::test_...[SEED]"` takes them again.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Error, Locator

from pages.ui.frame.errors import UNEXPECTED
from tests.browser.conftest import Watched
from tests.browser.elements import Element
from tests.browser.server import SLIDER_MILLISECONDS, settle

pytestmark = pytest.mark.browser

STEPS = 20
SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 10))]  # 20 steps, 200
# Where visits begin; from there on they wander.
PLACES = (
    "/", "/sequence", "/compare?view=Labels", "/inside?tab=GPSC", "/train", "/data", "/history?runs=default:spanish-ner",
    "/abstain", "/inside?tab=Boosting", "/learn",
)  # fmt: skip
# Never clicked: what trains for long, what asks for files from the net, what takes runs from other tests.
LEFT_ALONE = re.compile("Start training|Go on|Make the learning curve|Download |Delete|Cancel|Import")
TEXTS = ("", "Ana vive en Lima", "<b>a</b> \u202e ![x](y) $z$", "w" * 500, "-1", "7", "NaN", "1e999", "*")
BUTTONS = (
    f"{Element.MAIN.css} :is(button, summary, [role=tab]):visible:not([disabled])"
    f":not({Element.TOOLBAR.css} *):not({Element.FILE_UPLOADER.css} *), {Element.SIDEBAR.css} a:visible"
)
LISTS = f"{Element.MAIN.css} :is({Element.SELECTBOX.css}, {Element.MULTISELECT.css}) input:visible"
BOXES = f"{Element.MAIN.css} :is({Element.TEXT_INPUT.css}, {Element.NUMBER_INPUT.css}) input:visible"
SLIDERS = f"{Element.MAIN.css} [role=slider]:visible"
TOGGLES = f"{Element.MAIN.css} {Element.CHECKBOX.css} label:visible"
UNSEEN_NAME = "button => button.ariaLabel || button.dataset.title || button.title || ''"
TRIES = 30
MILLISECONDS_TO_CLICK = 4000


class Visitor:
    """One browser tab, and what was done in it."""

    def __init__(self, watched: Watched, seed: int, place: str):
        self.watched, self.page, self.random = watched, watched.page, Random(seed)
        self.steps = [f"seed {seed}", f"open {place}"]

    def step(self) -> None:
        """Do one thing that can be done here, and look at the page."""
        doing: dict[Callable[[], str | None], int] = {
            self._click: 8, self._choose: 4, self._slide: 2, self._type: 3, self._toggle: 2, self._back: 1,
            self._forward: 1, self._reload: 1,
        }  # fmt: skip
        for _ in range(TRIES):
            (action,) = self.random.choices(list(doing), list(doing.values()))
            try:
                done = action()
            except Error as problem:
                # Something lies above it: an open list, or a box that has just come.
                done, reason = None, str(problem).splitlines()[0]
                self.steps.append(f"({action.__name__} came to nothing: {reason})")
                self.page.keyboard.press("Escape")
            if done:
                self.steps.append(done)
                return self._look()
        raise AssertionError(self._told(f"nothing to do in {TRIES} tries"))

    def _look(self) -> None:
        try:
            settle(self.page, SLIDER_MILLISECONDS)
            assert self.page.get_by_test_id(Element.EXCEPTION).count() == 0, "an exception is shown"
            assert self.page.get_by_text(UNEXPECTED).count() == 0, "an exception that nobody foresaw"
            self.watched.expect_clean()
        except (AssertionError, Error) as problem:
            raise AssertionError(self._told(str(problem))) from problem

    def _told(self, problem: str) -> str:
        return "\n".join([problem, f"at {self.page.url} after these steps:", *self.steps])

    def _one_of(self, selector: str) -> Locator | None:
        found = self.page.locator(selector)
        count = found.count()
        return found.nth(self.random.randrange(count)) if count else None

    def _click(self) -> str | None:
        target = self._one_of(BUTTONS)
        if target is None:
            return None
        shown = target.inner_text(timeout=MILLISECONDS_TO_CLICK)
        name = " ".join((shown.strip() or target.evaluate(UNSEEN_NAME)).split())[:60]
        if LEFT_ALONE.search(name):
            return None
        target.click(timeout=MILLISECONDS_TO_CLICK)
        if name in ("Fullscreen", "Open"):  # a chart, or a list of options: nothing else can be reached then
            self.page.keyboard.press("Escape")
        return f"click {name!r}"

    def _choose(self) -> str | None:
        """An option of a list, by keyboard."""
        box = self._one_of(LISTS)
        if box is None:
            return None
        down, label = self.random.randint(1, 4), box.get_attribute("aria-label")
        box.click(timeout=MILLISECONDS_TO_CLICK)
        for _ in range(down):
            self.page.keyboard.press("ArrowDown")
        self.page.keyboard.press("Enter")
        self.page.keyboard.press("Escape")
        return f"choose {down} further down in {label!r}"

    def _slide(self) -> str | None:
        slider = self._one_of(SLIDERS)
        if slider is None:
            return None
        keys = self.random.choices(["ArrowRight", "ArrowLeft", "Home", "End"], k=3)
        slider.focus(timeout=MILLISECONDS_TO_CLICK)
        for key in keys:
            self.page.keyboard.press(key)
        return f"press {keys} on the slider {slider.get_attribute('aria-label')!r}"

    def _type(self) -> str | None:
        box = self._one_of(BOXES)
        if box is None:
            return None
        text, label = self.random.choice(TEXTS), box.get_attribute("aria-label")
        box.click(timeout=MILLISECONDS_TO_CLICK)
        self.page.keyboard.press("Control+A")
        self.page.keyboard.insert_text(text)
        self.page.keyboard.press("Enter")
        return f"type {text!r} into {label!r}"

    def _toggle(self) -> str | None:
        toggle = self._one_of(TOGGLES)
        if toggle is None:
            return None
        toggle.click(timeout=MILLISECONDS_TO_CLICK)
        return f"switch {toggle.inner_text()!r}"

    def _back(self) -> str | None:
        before = self.page.url
        self.page.go_back()
        if (
            urlsplit(self.page.url).path.startswith("/_stcore/") or self.page.url == "about:blank"
        ):  # where this tab began
            self.page.go_forward()
            settle(self.page)
        return f"back from {before} to {self.page.url}"

    def _forward(self) -> str:
        self.page.go_forward()
        return f"forward to {self.page.url}"

    def _reload(self) -> str:
        self.page.reload()
        return f"reload {self.page.url}"


@pytest.mark.parametrize("seed", SEEDS)
def test_random_clicks_never_break_a_page(visit, seed):
    place = PLACES[seed % len(PLACES)]
    visitor = Visitor(visit(place), seed, place)
    for _ in range(STEPS):
        visitor.step()
    visitor.watched.expect_clean()


def test_a_link_with_numbers_beyond_all_bounds_opens_its_page(visit):
    watched = visit(f"/train?sequences={'9' * 400}&variant=crf:max_iter=1e999&seed=7")
    assert watched.page.get_by_test_id(Element.EXCEPTION).count() == 0
    assert watched.page.get_by_role("spinbutton", name="Seed", exact=True).input_value() == "7"
    assert "99999" not in watched.page.url
    watched.expect_clean()
