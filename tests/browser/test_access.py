"""Every page for everyone: no serious finding of axe, in light and dark; nothing but the own host is asked."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe

pytestmark = pytest.mark.browser

PAGES = (
    "/", "/data", "/train", "/compare", "/compare?view=Significance", "/compare?view=Labels",
    "/compare?view=Sentences", "/compare?view=Learning+curve", "/abstain", "/abstain?gaps=true", "/inside",
    "/inside?tab=Boosting", "/inside?tab=HM-SVM", "/inside?tab=Margins", "/inside?tab=GPSC", "/sequence",
    "/sequence?run=default:abstention&words=she+went+home",
    "/learn", "/learn?lesson=losses", "/learn?lesson=abstain", "/learn?lesson=properties",
    "/history", "/history?runs=default:spanish-ner", "/history?runs=default:spanish-ner,default:boosting",
)  # fmt: skip


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", PAGES)
def test_page_is_accessible_and_keeps_to_itself(visit, path, scheme):
    watched = visit(path, color_scheme=scheme)
    found = Axe().run(watched.page).response["violations"]
    serious = [
        f"{finding['id']}: {finding['help']} at {[node['target'] for node in finding['nodes']]}"
        for finding in found
        if finding["impact"] in ("serious", "critical")
    ]
    assert serious == []
    background = watched.page.evaluate("getComputedStyle(document.querySelector('.stApp')).backgroundColor")
    assert (sum(map(int, background.removeprefix("rgb(").removesuffix(")").split(","))) > 382) == (scheme == "light")
    watched.expect_clean()
