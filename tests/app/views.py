"""Every view of every page: page and what its URL says."""

from __future__ import annotations

from pages.ui.learn.lessons import LESSONS

_SPANISH = "default:spanish-ner"

VIEWS: list[tuple[str, dict[str, str]]] = [
    ("start", {}),
    ("start", {"corpus": "pitch-accent"}),
    ("data", {}),
    ("train", {}),
    ("train", {"dataset": "pitch-accent"}),
    *(("compare", {"run": _SPANISH, "view": view}) for view in (
        "Scores", "Measures", "Sparsity", "Significance", "Labels", "Sentences", "Learning curve"
    )),
    ("abstain", {"run": _SPANISH, "gaps": "true"}),
    ("abstain", {"run": _SPANISH, "below": "Reliability"}),
    ("inside", {"tab": "Weights"}),
    ("inside", {"tab": "Weights", "weights": "L1 path"}),
    *(("inside", {"tab": "Boosting", "boosting": view}) for view in ("Round by round", "Bounds", "Losses", "Chosen again")),
    ("inside", {"tab": "HM-SVM"}),
    ("inside", {"tab": "Margins"}),
    *(("inside", {"tab": "GPSC", "gpsc": view}) for view in ("Sparseness", "Fit", "Who decides", "Gram matrix")),
    *(("sequence", {"run": _SPANISH, "show": view}) for view in ("How sure", "Step by step", "Why this label", "What if")),
    *(("learn", {"lesson": lesson}) for lesson in (*LESSONS, "properties")),
    ("history", {}),
]  # fmt: skip
