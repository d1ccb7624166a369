"""Everything a page shows, as data, so that two screens can be compared; and choices as a visitor makes them."""

from __future__ import annotations

import re
from itertools import zip_longest

from playwright.sync_api import Page

from tests.browser.elements import Element
from tests.browser.server import SLIDER_MILLISECONDS, settle

_PLOTS = """plots => plots.map(plot => JSON.stringify({
    traces: plot.data.map(t => Object.fromEntries(
        ["name", "x", "y", "z", "text", "customdata"].map(key => [key, t[key]])
            .concat([["low", t.error_x?.array], ["high", t.error_y?.array]]))),
    shapes: plot.layout.shapes?.map(s => [s.x0, s.x1, s.y0, s.y1]),
    notes: plot.layout.annotations?.map(a => [a.x, a.y, a.text]),
}, (key, value) => ArrayBuffer.isView(value) ? Array.from(value) : value))"""
_BETWEEN_LOOKS = 100  # milliseconds
# The cells of a table come a little after the table: as many rows as it says, unless it has none.
_TABLES_ARE_FILLED = """id => [...document.querySelectorAll(id)].every(frame => {
    const grid = frame.querySelector('[role=grid]');
    return grid && (Number(grid.getAttribute('aria-rowcount')) <= 1 || grid.querySelector('[role=gridcell]'));
})"""
_INPUTS = "inputs => inputs.map(i => i.type === 'checkbox' ? i.checked : i.value)"


def shown(page: Page) -> dict:
    """All texts with their numbers, the cells of tables, the data of charts, and what stands in boxes and sliders.

    Taken when two looks see the same.
    """
    page.evaluate("document.activeElement?.blur()")  # a box in use counts its characters
    before, now = None, _look(page)
    while before != now:
        page.wait_for_timeout(_BETWEEN_LOOKS)
        before, now = now, _look(page)
    return now


def _look(page: Page) -> dict:
    page.wait_for_function(_TABLES_ARE_FILLED, arg=Element.DATA_FRAME.css)
    main = page.get_by_test_id(Element.MAIN)
    return {
        "texts": main.inner_text().splitlines(),
        "cells": main.get_by_test_id(Element.DATA_FRAME).locator("[role=gridcell]").all_text_contents(),
        "charts": main.locator(".js-plotly-plot").evaluate_all(_PLOTS),
        "inputs": main.locator("input:not([type=file])").evaluate_all(_INPUTS),
        "sliders": main.get_by_role("slider").evaluate_all("all => all.map(s => s.getAttribute('aria-valuenow'))"),
    }


def differences(screen: dict, other: dict) -> list[tuple]:
    """Where two screens differ: what kind of thing, its place, and both of them."""
    return [
        (kind, place, *both)
        for kind in screen
        for place, both in enumerate(zip_longest(screen[kind], other[kind]))
        if both[0] != both[1]
    ]


def numbers(screen: dict) -> int:
    """How many numbers a screen shows."""
    return len(re.findall(r"\d+(?:\.\d+)?", str(screen)))


def tab(page: Page, name: str) -> None:
    page.get_by_role("tab", name=name, exact=True).click()
    page.wait_for_url(re.compile(f"(view|tab)={name.replace(' ', '.')}"))
    settle(page)


def pill(page: Page, group: str, name: str) -> None:
    """One of a few, side by side."""
    page.get_by_role("radiogroup", name=group).first.get_by_text(name, exact=True).click()
    settle(page)


def toggle(page: Page, name: str) -> None:
    page.get_by_test_id(Element.MAIN).get_by_text(name, exact=True).click()
    settle(page)


def pick(page: Page, box: str, option: str) -> None:
    """Of a list: typed until only one is left."""
    found = page.get_by_role("combobox", name=re.compile(re.escape(box)))
    found.first.focus()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type(option)
    page.get_by_role("option").first.wait_for()
    page.keyboard.press("Enter")
    settle(page)


def enter(page: Page, box: str, text: str) -> None:
    """A number or words, with Enter."""
    found = page.get_by_label(box).and_(page.locator("input")).first
    found.fill(text)
    found.press("Enter")
    settle(page)


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()
    settle(page)


def slide(page: Page, name: str, key: str, times: int = 1) -> None:
    """A slider, by its keys."""
    handle = page.get_by_role("slider", name=re.compile(re.escape(name)))
    for _ in range(times):
        handle.press(key)
    settle(page, SLIDER_MILLISECONDS)
