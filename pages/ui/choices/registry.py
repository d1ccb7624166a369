"""All choices of all pages: what stands in the URL, under which name, in which views, and about what.

A name is declared once on a page, or once for all pages; a page that declares one twice cannot be loaded.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

import streamlit as st

from pages.ui.choices.choice import Asked, Choice, Number, OneOf, SeveralOf, Switch, Text, Texts
from pages.ui.choices.url import visit

Views = dict[OneOf, tuple[str, ...]]

RUN = OneOf("run", stays=True)
INSTEAD = OneOf("instead", about=(RUN,), stays=True)  # of the run in the URL, where that cannot be shown
DATASET = OneOf("dataset", stays=True)
FIGURES = OneOf("figures")
EVERYWHERE = (RUN, INSTEAD, DATASET, FIGURES)

CHOICES: dict[str, tuple[Choice, ...]] = {}  # by page


class PageChoices:
    """The choices of one page."""

    def __init_subclass__(cls, page: str) -> None:
        own = tuple(each for each in vars(cls).values() if isinstance(each, Choice))
        check_names(page, (*EVERYWHERE, *own))
        for each in own:
            each.declared_on(page)
        CHOICES[page] = own


def check_names(page: str, choices: Iterable[Choice]) -> None:
    names = [each.name for each in choices]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(f"the page {page} has two choices called {', '.join(sorted(twice))}")


class Start(PageChoices, page="start"):
    corpus = OneOf("corpus")
    typed = Text("typed")


class Data(PageChoices, page="data"):
    part = OneOf("part")
    page = Number("page", about=(DATASET, part))
    bring = Switch("bring")


class Train(PageChoices, page="train"):
    job = Text("job")
    variants = Texts("variant")  # each as the command line writes it
    tune = Switch("tune")
    features = OneOf("features")
    window = OneOf("window")
    columns = SeveralOf("columns", about=(features,))
    bins = OneOf("bins")
    joint = Switch("joint")
    folds = OneOf("folds")
    seed = Number("seed")
    sequences = Number("sequences")
    calibrate = Switch("calibrate")
    test_dataset = OneOf("test_dataset", about=(DATASET,))
    metrics = SeveralOf("metrics")


class Compare(PageChoices, page="compare"):
    view = OneOf("view")
    score = OneOf("score", within={view: ("Measures", "Significance", "Learning curve")})
    metric = OneOf("metric", within={view: ("Measures",)})
    pairs = OneOf("pairs", within={view: ("Significance",)})
    quality = OneOf("quality", within={view: ("Sparsity",)})
    method = OneOf("method", within={view: ("Labels",)})
    cell = OneOf("cell", within={view: ("Labels",)}, stays=True)
    mistakes = Number("mistakes", about=(RUN, method, cell), within={view: ("Labels",)})
    differ = Switch("differ", within={view: ("Sentences",)})
    page = Number("page", about=(RUN, differ), within={view: ("Sentences",)})


class Abstain(PageChoices, page="abstain"):
    threshold = Number("threshold")
    gaps = Switch("gaps")
    below = OneOf("below")
    model = OneOf("model", within={below: ("Withheld tokens",)})
    withheld = Number("withheld", about=(RUN, model), within={below: ("Withheld tokens",)})


class Inside(PageChoices, page="inside"):
    tab = OneOf("tab")

    weights = OneOf("weights", within={tab: ("Weights",)})
    _all_weights: ClassVar[Views] = {tab: ("Weights",), weights: ("Weights and transitions",)}
    weigh = OneOf("weigh", within=_all_weights)
    label = OneOf("label", within=_all_weights)
    attribute = Text("attribute", within=_all_weights)

    boosting = OneOf("boosting", within={tab: ("Boosting",)})
    boosted = OneOf("boosted", within={tab: ("Boosting",)})
    round = Number("round", within={tab: ("Boosting",), boosting: ("Round by round", "Bounds")}, stays=True)
    drawn = Asked("drawn", within={tab: ("Boosting",), boosting: ("Bounds",)})
    first = Number("first", within={tab: ("Boosting",), boosting: ("Chosen again",)}, stays=True)

    svm = OneOf("svm", within={tab: ("HM-SVM",)})
    sentence = OneOf("sentence", within={tab: ("HM-SVM",)}, lasting=True)

    scale = OneOf("scale", within={tab: ("Margins",)})
    theta = Number("theta", within={tab: ("Margins",)})
    margins = Asked("margins", within={tab: ("Margins",)})

    gpsc = OneOf("gpsc", within={tab: ("GPSC",)})
    across = OneOf("across", within={tab: ("GPSC",), gpsc: ("Sparseness",)})
    _observations: ClassVar[Views] = {tab: ("GPSC",), gpsc: ("Who decides", "Gram matrix")}
    observations = Asked("observations", within=_observations)
    gp = OneOf("gp", within=_observations)
    _who_decides: ClassVar[Views] = {tab: ("GPSC",), gpsc: ("Who decides",)}
    text = Number("text", within=_who_decides)
    token = OneOf("token", about=(RUN, text), within=_who_decides, stays=True)
    decided = OneOf("for", within=_who_decides)
    against = Switch("against", within=_who_decides)
    sample = Number("sample", within={tab: ("GPSC",), gpsc: ("Gram matrix",)})
    cosine = Switch("cosine", within={tab: ("GPSC",), gpsc: ("Gram matrix",)})


class OneSequence(PageChoices, page="sequence"):
    n = Number("n", stays=True)
    words = Text("words", about=(RUN, n))
    beside = SeveralOf("beside")
    look = OneOf("look")
    step = Number("step", about=(RUN, n, words), stays=True)
    show = OneOf("show", stays=True)
    recursion = OneOf("recursion", within={show: ("Step by step",)}, stays=True)
    node = OneOf("node", about=(RUN, n, words, step), within={show: ("Step by step",)}, stays=True)
    against = OneOf("against", about=(RUN, n, words, step), within={show: ("Why this label",)}, stays=True)
    force = OneOf("force", about=(RUN, n, words, step), within={show: ("What if",)}, stays=True)


class Learn(PageChoices, page="learn"):
    lesson = OneOf("lesson", stays=True)
    margin = Number("margin", within={lesson: ("losses",)})
    answered = Number("answered", within={lesson: ("abstain",)})


class History(PageChoices, page="history"):
    find = Text("find")
    of = OneOf("of")
    by = OneOf("by")
    state = OneOf("state")
    pinned = Switch("pinned")
    list = Number("list", about=(find, of, by, state, pinned))
    runs = Text("runs")
    differences = Switch("differences")


def begin(page: str) -> None:
    """Before a page runs. A link that says something of one view and does not name any means that one."""
    arrives = visit().page != page
    visit().begin(page)
    if arrives:
        for choice in CHOICES.get(page, ()):
            if choice.name in st.query_params:
                for view, names in choice.within.items():
                    if view.name not in st.query_params:
                        view.change(names[0])
