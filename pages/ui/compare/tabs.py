"""The tabs of Compare, from left to right. Each draws one finished run."""

from __future__ import annotations

from labseq_core.registry import Registry
from pages.ui.compare import labels, learning_curve, measures, scores, sentences, significance, sparsity
from pages.ui.frame.tabs import Tab

COMPARE_TABS = Registry(
    "tab of Compare",
    [
        Tab("Scores", scores.tab),
        Tab("Measures", measures.tab),
        Tab("Sparsity", sparsity.tab),
        Tab("Significance", significance.tab),
        Tab("Labels", labels.tab),
        Tab("Sentences", sentences.tab),
        Tab("Learning curve", learning_curve.tab),
    ],
    key="title",
)
