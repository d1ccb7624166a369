"""Links to every page: choices are made by hand, and the address shows the same numbers to somebody else, now and later."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Page

from labseq_core.experiments import ExperimentConfig, MethodChoice
from labseq_core.experiments.store.run_store import RunStore
from pages.ui.choices.url import UNDER_WAY
from tests.browser.conftest import new_profile
from tests.browser.screen import differences, enter, numbers, pick, pill, press, shown, slide, tab, toggle
from tests.browser.server import Dashboard, settle
from tests.experiments.runs import finished_run

pytestmark = pytest.mark.browser

TRAINED = "trained"  # stands for the id of the run that is trained here


def start(page: Page) -> None:
    pill(page, "Corpus", "toy-pos")
    enter(page, "Type a sentence, and press Enter", "the old man saw her")


def data(page: Page) -> None:
    pick(page, "Corpus", "pitch-accent")
    pill(page, "Part", "test")
    enter(page, "Page (of", "2")


def form(page: Page) -> None:
    pick(page, "Add a variant", "Naive Bayes")
    press(page, "Options of variant 1")
    pick(page, "l2", "0.1")
    page.keyboard.press("Escape")
    settle(page)
    toggle(page, "Tune")
    pick(page, "Features", "S2")
    enter(page, "Seed", "7")
    pick(page, "Folds", "3")


def nothing(page: Page) -> None:
    """The link is that of a button."""


def scores(page: Page) -> None:
    pick(page, "Measure", "Whole sequences")
    pill(page, "Score", "Span F1")


def significance(page: Page) -> None:
    tab(page, "Significance")


def labels(page: Page) -> None:
    tab(page, "Labels")
    page.get_by_role("radiogroup", name="Method").get_by_role("radio").nth(1).click()
    settle(page)
    pick(page, "Cell", "NOUN → NOUN")


def sentences(page: Page) -> None:
    tab(page, "Sentences")
    toggle(page, "Only where methods disagree")
    enter(page, "Page (of", "3")


def learning_curve(page: Page) -> None:
    tab(page, "Learning curve")
    pill(page, "Score", "Span F1")


def threshold(page: Page) -> None:
    slide(page, "Threshold", "ArrowRight", 12)
    pill(page, "Method", "CRF")


def gaps(page: Page) -> None:
    toggle(page, "Add methods without probabilities, by score gap")
    enter(page, "Page (of", "2")


def weights(page: Page) -> None:
    pill(page, "Method", "HMM")
    pick(page, "Label", "VERB")
    enter(page, "Attributes with", "a")


def boosting(page: Page) -> None:
    tab(page, "Boosting")
    pill(page, "Model", "loose")
    slide(page, "Round", "ArrowLeft", 3)
    pill(page, "Show", "Bounds")


def chosen_again(page: Page) -> None:
    tab(page, "Boosting")
    pill(page, "Show", "Chosen again")
    enter(page, "In the first rounds", "60")


def support(page: Page) -> None:
    tab(page, "HM-SVM")
    page.get_by_role("radiogroup", name="Model").get_by_role("radio").first.click()
    settle(page)
    page.get_by_role("combobox", name="Sentence").press("ArrowDown")
    page.get_by_role("option").nth(4).click()
    settle(page)


def margins(page: Page) -> None:
    tab(page, "Margins")
    page.get_by_role("radiogroup", name="Scale").get_by_role("radio").nth(1).click()
    settle(page)
    enter(page, "θ", "0.1")


def sparseness(page: Page) -> None:
    tab(page, "GPSC")
    pill(page, "Across", "observations touched")


def witnesses(page: Page) -> None:
    tab(page, "GPSC")
    pill(page, "Show", "Who decides")
    pill(page, "Model", "sparse: best, all")
    enter(page, "Sentence", "7")
    pick(page, "Word", "2:")
    toggle(page, "Against an average word")


def kernels(page: Page) -> None:
    tab(page, "GPSC")
    pill(page, "Show", "Gram matrix")
    slide(page, "Observations", "ArrowLeft", 20)
    toggle(page, "Same length for all")


def trellis(page: Page) -> None:
    pick(page, "Run", "toy-pos: CRF")
    enter(page, "Sentence (of", "6")
    pill(page, "Model", "CRF")
    press(page, "Next")
    pill(page, "Show", "Step by step")
    pill(page, "Recursion", "Forward")
    pick(page, "Node at position", "VERB")


def decision(page: Page) -> None:
    pill(page, "Show", "Why this label")
    press(page, "Next")
    pick(page, "Against", "PRON")


def forced(page: Page) -> None:
    pill(page, "Show", "What if")
    pick(page, "shall have the label", "ADJ")


def typed(page: Page) -> None:
    enter(page, "Its words: change them as you like", "Juan Carlos fue a Madrid <b>hoy</b>")
    page.get_by_role("button", name=re.compile("Remove HM-SVM|HM-SVM, close")).first.click()
    settle(page)
    press(page, "Next")


def losses(page: Page) -> None:
    pick(page, "Lesson", "Log, exp and hinge loss")
    slide(page, "Margin of the example", "ArrowRight", 7)


def pair(page: Page) -> None:
    toggle(page, "Only differences")


# By name: where the visit begins, what is chosen there, and what the address must say of it.
LINKS: dict[str, tuple[str, Callable[[Page], None], set[str]]] = {
    "start": ("/", start, {"corpus", "typed"}),
    "data": ("/data", data, {"dataset", "part", "page"}),
    "form": ("/train?dataset=toy-pos", form, {"dataset", "variant", "tune", "features", "seed", "folds"}),
    "finished run": (f"/train?job={TRAINED}", nothing, {"job"}),
    "scores": ("/compare?run=default:spanish-ner&view=Measures", scores, {"run", "metric", "score"}),
    "newest run": ("/compare", significance, {"run", "view"}),
    "labels": ("/compare?run=default:toy-pos", labels, {"view", "method", "cell"}),
    "sentences": (f"/compare?run={TRAINED}", sentences, {"view", "differ", "page"}),
    "learning curve": ("/compare?run=default:spanish-ner", learning_curve, {"view", "score"}),
    "threshold": ("/abstain?run=default:spanish-ner", threshold, {"run", "threshold", "model"}),
    "score gaps": (f"/abstain?run={TRAINED}", gaps, {"run", "gaps", "withheld"}),
    "weights": ("/inside", weights, {"run", "weigh", "label", "attribute"}),
    "boosting": ("/inside", boosting, {"tab", "run", "boosted", "boosting", "round"}),
    "chosen again": ("/inside", chosen_again, {"tab", "run", "boosting", "first"}),
    "support": (f"/inside?run={TRAINED}", support, {"tab", "run", "instead", "svm", "sentence"}),
    "margins": ("/inside", margins, {"tab", "run", "scale", "theta"}),
    "sparseness": ("/inside", sparseness, {"tab", "run", "across"}),
    "witnesses": ("/inside", witnesses, {"tab", "run", "gpsc", "gp", "text", "token", "against"}),
    "kernels": ("/inside", kernels, {"tab", "run", "gpsc", "sample", "cosine"}),
    "trellis": ("/sequence", trellis, {"run", "n", "step", "show", "recursion", "node"}),
    "decision": ("/sequence?run=default:toy-pos&n=6", decision, {"run", "n", "step", "show", "against"}),
    "forced": ("/sequence?run=default:toy-pos&n=6", forced, {"run", "n", "show", "force"}),
    "typed": ("/sequence?run=default:spanish-ner", typed, {"run", "words", "beside", "step"}),
    "lesson": ("/learn", losses, {"lesson", "margin"}),
    "two runs": (f"/history?runs={TRAINED},default:toy-pos", pair, {"runs", "differences"}),
}
# Of these some choices are followed in tests of their own page too: with the full suite.
SELDOM = {
    "sparseness",
    "witnesses",
    "kernels",
    "form",
    "scores",
    "labels",
    "sentences",
    "score gaps",
    "boosting",
    "chosen again",
    "margins",
    "trellis",
    "decision",
    "forced",
    "typed",
    "learning curve",
}
AGAIN = ("newest run", "finished run", "support")  # followed on another day


@pytest.fixture(scope="module")
def two_runs() -> list[tuple]:
    """Of the one who chooses, and of one who comes later."""
    methods = (MethodChoice("hmm"), MethodChoice("perceptron"))
    runs = [finished_run(ExperimentConfig("toy-pos", methods, folds=2, seed=seed)) for seed in (3, 4)]
    now = time.time()
    return [({**row, "created": now + later}, *rest) for later, (row, *rest) in enumerate(runs)]


@pytest.fixture
def trained(server: Dashboard, two_runs: list[tuple]) -> str:
    RunStore(server.store).insert(*two_runs[0])
    return two_runs[0][0]["id"]


@pytest.fixture(scope="module")
def somebody(browser: Browser) -> Iterator[Page]:
    """One who is sent the links, in a profile of his own, and never chooses anything."""
    with closing(new_profile(browser)) as context:
        yield context.new_page()


def made(page: Page, name: str, address: str, trained: str) -> tuple[str, dict]:
    """A link, and what is shown there when it is made."""
    path, choose, expected = LINKS[name]
    opened(page, address + path.replace(TRAINED, trained))
    choose(page)
    link, screen = page.url, shown(page)
    assert expected <= set(parse_qs(urlsplit(link).query))
    assert numbers(screen) > 20
    return link, screen


def opened(page: Page, address: str) -> Page:
    page.goto(address)
    settle(page)
    return page


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow) if name in SELDOM else name for name in LINKS if name not in AGAIN],
)
def test_a_link_shows_somebody_else_the_same(name, server, new_tab, somebody, trained):
    link, screen = made(new_tab().page, name, server.address, trained)
    opened(somebody, link)
    assert differences(shown(somebody), screen) == []
    assert somebody.url == link


def test_links_show_somebody_else_the_same_on_another_day(server, new_tab, somebody, trained, two_runs):
    """Another run has come since, the server was started again, and its caches are empty."""
    page = new_tab().page
    links = {name: made(page, name, server.address, trained) for name in AGAIN}
    RunStore(server.store).insert(*two_runs[1])
    server.stop()
    server.start()
    for name, (link, screen) in links.items():
        opened(somebody, link)
        assert differences(shown(somebody), screen) == [], name
        assert somebody.url == link


def test_back_takes_choices_back_one_by_one(visit):
    watched = visit("/inside?tab=Boosting&run=default:boosting")
    page = watched.page
    screens = [(page.url, shown(page))]
    for choose in (lambda: slide(page, "Round", "ArrowLeft", 1), lambda: pill(page, "Show", "Bounds")):
        choose()
        screens.append((page.url, shown(page)))
    assert len({address for address, _ in screens}) == 3
    for address, screen in reversed(screens[:-1]):
        page.wait_for_timeout(1200 * UNDER_WAY)
        page.go_back()
        settle(page)
        assert page.url == address
        assert differences(shown(page), screen) == []
    watched.expect_clean()
