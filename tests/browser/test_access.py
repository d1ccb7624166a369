"""Every page for everyone: no serious finding of axe, in light and dark; nothing but the own host is asked."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from tests.browser.access import expect_accessible
from tests.browser.elements import Element

pytestmark = pytest.mark.browser

PAGES = (
    "/", "/data", "/data?dataset=pitch-accent&part=test", "/train", "/compare", "/compare?view=Significance",
    "/compare?view=Labels", "/compare?view=Sentences", "/compare?view=Learning+curve", "/abstain", "/abstain?gaps=true",
    "/inside", "/inside?tab=Boosting", "/inside?tab=HM-SVM", "/inside?tab=Margins", "/inside?tab=GPSC", "/sequence",
    "/inside?tab=Boosting&boosting=Bounds", "/inside?tab=Boosting&boosting=Losses",
    "/inside?tab=Boosting&boosting=Chosen+again", "/inside?tab=GPSC&gpsc=Fit",
    "/inside?tab=GPSC&gpsc=Who+decides", "/inside?tab=GPSC&gpsc=Gram+matrix",
    "/sequence?show=Step+by+step", "/sequence?show=Why+this+label", "/sequence?show=What+if",
    "/sequence?run=default:abstention&words=she+went+home",
    "/learn", "/learn?lesson=losses", "/learn?lesson=abstain", "/learn?lesson=properties",
    "/history", "/history?runs=default:spanish-ner", "/history?runs=default:spanish-ner,default:boosting",
    "/data?bring=true", "/compare?view=Measures", "/compare?view=Sparsity&run=default:l1-path",
    "/abstain?below=Reliability", "/inside?weights=L1+path",
)  # fmt: skip
# Pages that differ little from another one: with the full suite.
SELDOM = {
    "/data?dataset=pitch-accent&part=test", "/abstain?gaps=true", "/sequence?run=default:abstention&words=she+went+home",
    "/learn?lesson=losses", "/learn?lesson=abstain", "/history?runs=default:spanish-ner", "/train?job=nonsense",
    "/compare?run=nonsense", "/inside?run=default:toy-pos&tab=Boosting", "/history?find=nothing+is+called+so",
    "/inside?tab=Boosting&boosting=Bounds", "/inside?tab=Boosting&boosting=Chosen+again", "/inside?tab=GPSC&gpsc=Fit",
    "/compare?view=Measures", "/abstain?below=Reliability", "/inside?weights=L1+path", "/compare?view=Significance",
    "/compare?view=Learning+curve", "/inside?tab=Margins", "/inside?tab=Boosting&boosting=Losses", "/learn",
    "/inside?tab=GPSC&gpsc=Who+decides", "/inside?tab=GPSC&gpsc=Gram+matrix", "/sequence?show=Why+this+label",
    "/sequence?show=What+if", "/sequence?show=Step+by+step", "/compare?view=Labels", "/compare?view=Sentences",
    "/inside?tab=HM-SVM", "/data?bring=true", "/compare?view=Sparsity&run=default:l1-path",
}  # fmt: skip
WRONG = {
    "/data?dataset=nonsense": "nonsense",
    "/train?dataset=toy-pos&variant=hmm&variant=crf:l2=minus": "Variant 2: l2",
    "/train?job=nonsense": "nonsense",
    "/compare?run=nonsense": "nonsense",
    "/inside?run=default:toy-pos&tab=Boosting": "another run is shown",
    "/history?find=nothing+is+called+so": "No run fits",
}


def often_or_seldom(paths: Iterable[str]) -> list:
    return [pytest.param(path, marks=pytest.mark.slow) if path in SELDOM else path for path in paths]


@pytest.mark.parametrize("path", often_or_seldom(PAGES))
def test_page_is_accessible_and_keeps_to_itself(visit, path):
    watched = visit(path)
    expect_accessible(watched.page)
    watched.expect_clean()


@pytest.mark.parametrize("path", often_or_seldom(WRONG))
def test_what_is_wrong_is_told_to_everyone(visit, path):
    watched = visit(path)
    watched.page.get_by_test_id(Element.ALERT).filter(has_text=WRONG[path]).first.wait_for()
    expect_accessible(watched.page)
    watched.expect_clean()
