"""A tour through the dashboard in a real browser: fifty clicks, and how long each takes until what it changed is painted."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page

from tests.browser.elements import Element
from tests.browser.server import settle

# From the press of a button or key on: every change of the page and the moment when it is painted. The hidden table that data
# frames keep for screen readers is not painted.
WATCH = """([app, hidden]) => {
    window.clicked = {at: 0, painted: []};
    const press = () => { window.clicked = {at: performance.now(), painted: []}; };
    for (const kind of ['pointerdown', 'keydown']) document.addEventListener(kind, press, true);
    const element = node => node.closest ? node : node.parentElement;
    new MutationObserver(changes => {
        const now = window.clicked;
        const places = changes.map(change => element(change.target)).filter(
            place => place && !place.closest(hidden));
        if (places.length) requestAnimationFrame(() => setTimeout(() => {
            now.painted.push({after: performance.now() - now.at, places: new Set(places)});
        }));
    }).observe(
        document.querySelector(app), {subtree: true, childList: true, characterData: true, attributeFilter: ['value']}
    );
}"""
# When the last change was painted: of the whole page, and of the part of it that is on the screen. A place that is gone by
# then was not seen last.
PAINTED = """() => {
    const seen = place => {
        const box = place.getBoundingClientRect();
        return box.width > 0 && box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
    };
    const last = changes => Math.max(0, ...changes.map(change => change.after));
    return {
        whole: last(window.clicked.painted),
        seen: last(window.clicked.painted.filter(change => [...change.places].some(seen))),
    };
}"""


def link(name: str) -> Callable[[Page], None]:
    return lambda page: (
        page.get_by_test_id(Element.SIDEBAR_NAVIGATION).get_by_role("link", name=name, exact=True).click()
    )


def radio(name: str) -> Callable[[Page], None]:
    return lambda page: page.get_by_role("radio", name=name, exact=True).first.click()


def tab(name: str) -> Callable[[Page], None]:
    return lambda page: page.get_by_role("tab", name=name, exact=True).click()


def button(name: str, exact: bool = False) -> Callable[[Page], None]:
    return lambda page: page.get_by_role("button", name=name, exact=exact).first.click()


def switch(name: str) -> Callable[[Page], None]:
    return lambda page: page.get_by_test_id(Element.CHECKBOX).filter(has_text=name).locator("label").first.click()


def key(slider: str, name: str) -> Callable[[Page], None]:
    return lambda page: page.get_by_role("slider", name=slider).first.press(name)


def option(box: str, name: str) -> Callable[[Page], None]:
    """The press on the option is what counts, not the opening of the list."""

    def choose(page: Page) -> None:
        page.get_by_role("combobox", name=box).first.click()
        page.get_by_role("option", name=name).first.click()

    return choose


TOUR: tuple[tuple[str, Callable[[Page], None]], ...] = (
    ("Start: parity", radio("parity")),
    ("Start: toy-pos", radio("toy-pos")),
    ("Start: spanish-ner", radio("spanish-ner")),
    ("to Data", link("Data")),
    ("Data: development part", radio("dev")),
    ("Data: next page", button("Increment", exact=True)),
    ("Data: parity", option("Corpus", "parity")),
    ("to Train", link("Train")),
    ("Train: another seed", button("Increment", exact=True)),
    ("Train: features S2", option("Features", "S2")),
    ("Train: no HM-SVM", button("Remove HM-SVM", exact=True)),
    ("Train: five folds", option("Folds", "5")),
    ("to Compare", link("Compare")),
    ("Compare: measures", tab("Measures")),
    ("Compare: by span F1", radio("Span F1")),
    ("Compare: significance", tab("Significance")),
    ("Compare: labels", tab("Labels")),
    ("Compare: labels of the CRF", radio("CRF")),
    ("Compare: next sentences", button("Increment", exact=True)),
    ("Compare: sentences", tab("Sentences")),
    ("Compare: learning curve", tab("Learning curve")),
    ("to Abstain", link("Abstain")),
    ("Abstain: lower threshold", key("Threshold", "ArrowLeft")),
    ("Abstain: lower still", key("Threshold", "ArrowLeft")),
    ("Abstain: withheld by the CRF", radio("CRF")),
    ("Abstain: reliability", radio("Reliability")),
    ("Abstain: by score gap too", switch("Add methods without")),
    ("to Inside", link("Inside")),
    ("Inside: weights of the HM-SVM", radio("HM-SVM (rescale=margin)")),
    ("Inside: weights of I-PER", option("Label", "I-PER")),
    ("Inside: boosting", tab("Boosting")),
    ("Inside: a round earlier", key("Round", "ArrowLeft")),
    ("Inside: tight bound", radio("tight")),
    ("Inside: losses", radio("Losses")),
    ("Inside: HM-SVM", tab("HM-SVM")),
    ("Inside: margins", tab("Margins")),
    ("Inside: GPSC", tab("GPSC")),
    ("Inside: who decides", radio("Who decides")),
    ("to One sequence", link("One sequence")),
    ("One sequence: step by step", radio("Step by step")),
    ("One sequence: next position", button("Next")),
    ("One sequence: backward", radio("Backward")),
    ("One sequence: of the CRF", radio("CRF")),
    ("One sequence: next sentence", button("Increment", exact=True)),
    ("to Learn", link("Learn")),
    ("Learn: losses", option("Lesson", "Log, exp and hinge loss")),
    ("Learn: another margin", key("Margin of the example", "ArrowLeft")),
    ("to History", link("History")),
    ("History: of parity", option("Corpus", "parity")),
    ("to Start", link("Start")),
)


def take_tour(page: Page, address: str) -> list[dict]:
    """Milliseconds of each click until what is on the screen is painted, and until all is; the page is quiet before each."""
    page.goto(address)
    settle(page)
    page.evaluate(WATCH, [Element.APP.css, Element.HIDDEN_GRID.css])
    rows = []
    for name, click in TOUR:
        click(page)
        page.wait_for_function("window.clicked.painted.length > 0")
        settle(page)
        rows.append({"click": name, **page.evaluate(PAINTED)})
    return rows
