"""The form of the Train page, as a visitor uses it."""

from __future__ import annotations

import re

from streamlit.testing.v1 import AppTest

from labseq_core.experiments.plan.variant_text import VariantText

_WIDGETS = ("selectbox", "multiselect", "number_input", "toggle", "text_input")


def cards(app: AppTest) -> list[str]:
    """What the cards of variants say."""
    said = [element.value.partition("\u2002") for element in app.markdown]
    return [name.replace("\\", "") for number, space, name in said if space and number.isdigit()]


def open_card(app: AppTest, place: int) -> AppTest:
    app.session_state[f"variant.{place}"] = True
    return app.run()


def remove(app: AppTest, place: int) -> AppTest:
    return app.button(key=f"variant.{place}.remove").click().run()


def act(app: AppTest, place: int, action: str) -> AppTest:
    """By a button in the open card."""
    open_card(app, place)
    return app.button(key=f"variant.{place}.{action}").click().run()


def option(app: AppTest, place: int, name: str):
    """The widget of an option in an open card, which stays open in the next run: AppTest forgets what a browser would say."""
    app.session_state[f"variant.{place}"] = True
    wanted = re.compile(rf"variant\.{place}\.[a-z-]+\.{re.escape(name)}")
    (found,) = [each for kind in _WIDGETS for each in getattr(app, kind) if wanted.fullmatch(each.key or "")]
    return found


def choose(app: AppTest, place: int, name: str, value: object) -> AppTest:
    """Set an option in an open card."""
    widget = option(app, place, name)
    if getattr(widget.proto, "accept_new_options", False) and value not in widget.options:
        widget.options.append(value)  # AppTest asks that it is one of them
    return widget.set_value(value).run()


def given(app: AppTest) -> list[str]:
    """The variants in the address; empty where they are the usual ones."""
    texts = app.query_params.get("variant", [])
    return [texts] if isinstance(texts, str) else list(texts)


def command(app: AppTest) -> str:
    return next(code.value for code in app.code if code.value.startswith("labseq "))


def methods(app: AppTest) -> list[str]:
    return [VariantText.read(text).method for text in given(app)]
