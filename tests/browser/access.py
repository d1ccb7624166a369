"""What axe finds on a page, in light and in dark."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.browser.elements import Element
from tests.browser.server import settle

BRIGHT = 382  # red, green and blue together: half of white


def expect_accessible(page: Page) -> None:
    """No serious finding in either theme, and the theme is that of the system."""
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_function(
            """([app, light, bright]) => {
                const ground = getComputedStyle(document.querySelector(app)).backgroundColor;
                const sum = ground.match(/\\d+/g).slice(0, 3).map(Number).reduce((a, b) => a + b);
                return (sum > bright) === light;
            }""",
            arg=[Element.APP.css, scheme == "light", BRIGHT],
        )
        settle(page)
        assert serious(page) == [], scheme


def serious(page: Page) -> list[str]:
    found = Axe().run(page).response["violations"]
    return [
        f"{finding['id']}: {finding['help']} at {[node['target'] for node in finding['nodes']]}"
        for finding in found
        if finding["impact"] in ("serious", "critical")
    ]
