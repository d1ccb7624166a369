"""The tabs of Inside, from left to right. Each chooses a run that it can show, and draws it."""

from __future__ import annotations

from labseq_core.registry import Registry
from pages.ui.frame.tabs import Tab
from pages.ui.inside.boosting import tab as boosting
from pages.ui.inside.gpsc import tab as gpsc
from pages.ui.inside.hmsvm import tab as hmsvm
from pages.ui.inside.margins import tab as margins
from pages.ui.inside.weights import tab as weights

INSIDE_TABS = Registry(
    "tab of Inside",
    [
        Tab("Weights", weights.tab),
        Tab("Boosting", boosting.tab),
        Tab("HM-SVM", hmsvm.tab),
        Tab("Margins", margins.tab),
        Tab("GPSC", gpsc.tab),
    ],
    key="title",
)
