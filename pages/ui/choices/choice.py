"""Kinds of choices. A choice is a widget whose value stands in the URL: it knows its name there, where it is shown, and what
it is about. `registry.py` declares all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.ui.choices.url import Place, Visit, visit

Option = TypeVar("Option")
Bound = TypeVar("Bound", int, float)
_DIGITS = 25  # a number in the URL with more is none of ours


@dataclass(frozen=True)
class Part:
    """Where a choice is kept that is no parameter of the URL by itself, but part of one: how it is read and how it is put."""

    read: Callable[[], list[str]]
    put: Callable[[Sequence[str]], None]

    def texts(self, _place: Place) -> list[str]:
        return self.read()

    def choose(self, _place: Place, texts: Sequence[str]) -> None:
        self.put(texts)

    def forget(self, _place: Place) -> None:
        if self.read():
            self.put([])


@dataclass(frozen=True, eq=False)
class Choice:
    """name: in the URL, and of the widget. about: choices without which this one means nothing; when one of them changes, it
    is forgotten. within: the views in which it is shown, as the choice of a view and the names of these views. stays: in the
    URL even at its default, because that changes with other choices. lasting: what is shown stays when another choice changes
    the default, whether somebody chose it or not. part: where it is kept, if that is not a parameter of its own.
    """

    name: str
    about: tuple[Choice, ...] = ()
    within: Mapping[OneOf, tuple[str, ...]] = field(default_factory=dict)
    stays: bool = False
    lasting: bool = False
    part: Part | None = None
    dependents: list[Choice] = field(default_factory=list, init=False)  # the choices about this one
    # The choices within views of this one, and the names of these views.
    inner: list[tuple[Choice, tuple[str, ...]]] = field(default_factory=list, init=False)
    owner: str = field(default="", init=False)  # the page that declares it; empty if that is not one page

    def __post_init__(self) -> None:
        for other in self.about:
            other.dependents.append(self)
        for view, names in self.within.items():
            view.inner.append((self, names))

    def declared_on(self, page: str) -> None:
        object.__setattr__(self, "owner", page)

    @property
    def place(self) -> Place:
        return self.owner, self.name

    @property
    def _keeper(self) -> Visit | Part:
        return self.part or visit()

    @property
    def texts(self) -> list[str]:
        """What was chosen, as the URL has it; empty: nothing."""
        return self._keeper.texts(self.place)

    @property
    def text(self) -> str:
        return self.texts[-1] if self.texts else ""

    def change(self, *texts: str) -> None:
        """Choose; nothing takes the choice back. Choices about what was chosen before are forgotten."""
        self._keeper.choose(self.place, texts) if texts else self.forget()
        for other in self.dependents:
            other.forget()

    def forget(self) -> None:
        self._keeper.forget(self.place)

    def _draw(self, draw: Callable, value: Any, default: Any, *arguments: Any, **more: Any) -> Any:
        """The widget, with this value; on a change the URL follows, which has no defaults."""
        if value == default and not self.stays:
            self.forget()
        if not more.get("live") or st.session_state.get(self.name) != value:
            st.session_state[self.name] = value  # of a live box not again: more has been typed meanwhile
        return draw(*arguments, key=self.name, on_change=self._changed, args=(default,), **more)

    def _changed(self, default: Any) -> None:
        value = st.session_state[self.name]
        usual = value in (None, "") or (value == default and not self.stays)
        self.change(*([] if usual else self._texts(value)))

    def _texts(self, value: Any) -> list[str]:
        return [str(value)]

    def _shown(self, value: Any) -> None:
        """What was chosen about another value than this, and is not in the URL, is of no use any more. Choices of closed views
        leave the URL, and are kept for when these are open again.
        """
        now = visit()
        for other, names in self.inner:
            if value not in names:
                now.set_aside(other.place)
        if now.shown.setdefault(self.place, str(value)) != str(value):
            for other in self.dependents:
                if other.name not in st.query_params:
                    now.forget(other.place)
            now.shown[self.place] = str(value)


class OneOf(Choice):
    """One of several, in the URL by its id, which is not always the text that is shown."""

    def choose(
        self,
        label: str,
        options: Sequence[Option],
        default: Option | None = None,
        describe: Callable[[Option], str] = str,
        draw: Callable = st.selectbox,
        keep: bool = False,
        **more: Any,
    ) -> Option:
        """default: the first, unless it is given. keep: leave what is no option in the URL. more: as `draw` takes it."""
        default = default if default is not None and default in options else options[0]
        last = visit().shown.get(self.place, "")
        if self.lasting and not self.texts and last in map(str, options) and last != str(default):
            self.change(last)
        wanted = self._option(options, describe)
        if wanted is None and self.texts and not keep:
            self.forget()
        value = default if wanted is None else wanted
        chosen = self._draw(draw, value, default, label, options, format_func=describe, **more)
        self._shown(chosen)
        return chosen if chosen in options else default

    def buttons(self, label: str, options: Sequence[Option], default: Option | None = None, **more: Any) -> Option:
        """A row of buttons of which one is always pressed."""
        return self.choose(label, options, default, draw=st.segmented_control, required=True, **more)

    def typed(self, label: str, options: Sequence[str], default: str, **more: Any) -> str:
        """One of several, or any other text."""
        value = self.text or default
        offered = list(dict.fromkeys([*options, value]))
        return self._draw(st.selectbox, value, default, label, offered, accept_new_options=True, **more) or default

    def tabs(self, names: Sequence[str]) -> Iterator[tuple[str, DeltaGenerator]]:
        """A row of tabs; gives the open one by its name."""
        wanted = self._option(names, str)
        if wanted is None:
            self.forget()
        tabs = self._draw(st.tabs, wanted or names[0], names[0], names)
        for name, tab in zip(names, tabs):
            if tab.open:
                self._shown(name)
                yield name, tab

    def _option(self, options: Sequence[Option], describe: Callable[[Option], str]) -> Option | None:
        """What the URL means: an id or, in older links, the text that is shown."""
        text = self.text
        by_id = [option for option in options if text and str(option) == text]
        return next(iter(by_id or [option for option in options if text and describe(option) == text]), None)


class SeveralOf(Choice):
    """Some of several, each in the URL; an empty text there means none of them."""

    def choose(self, label: str, options: Sequence[str], default: Sequence[str], **more: Any) -> list[str]:
        texts = self.texts
        wanted = [option for option in texts if option in options]
        if texts and not wanted and texts != [""]:
            self.forget()
        value = wanted if wanted or texts == [""] else list(default)
        return self._draw(st.multiselect, value, list(default), label, options, **more)

    def _texts(self, value: Sequence[str]) -> list[str]:
        return list(value) or [""]


class Texts(Choice):
    """Any number of texts, each in the URL; an empty text there means none of them. What draws them changes them."""

    def given(self, default: Sequence[str]) -> list[str]:
        texts = self.texts
        return [text for text in texts if text] if texts else list(default)

    def put(self, texts: Sequence[str], default: Sequence[str]) -> None:
        usual = list(texts) == list(default)
        self.change(*([] if usual else list(texts) or [""]))


class Number(Choice):
    """A number within bounds; one that is none or out of bounds is dropped from the URL."""

    def choose(
        self,
        label: str,
        low: Bound | None,
        high: Bound | None,
        default: Bound | None,
        draw: Callable = st.number_input,
        **more: Any,
    ) -> Bound:
        """low, high: None where there is no end; one kind of number with the default. more: as `draw` takes it."""
        wanted = self._number(low, high, whole=isinstance(next(x for x in (low, high, default) if x is not None), int))
        if wanted is None and self.texts:
            self.forget()
        if low is not None and low == high:
            return low
        value = default if wanted is None else wanted
        chosen = self._draw(draw, value, default, label, low, high, **more)
        self._shown(chosen)
        return chosen

    def leaf(self, n_pages: int) -> int:
        """A page of a list."""
        return self.choose(f"Page (of {n_pages:,})", 1, n_pages, 1, width=160)

    def pagination(self, n_pages: int) -> int:
        """The same as a row of page numbers."""
        return self.choose("", 1, n_pages, 1, lambda _label, _first, last, **more: st.pagination(last, **more))

    def _number(self, low: float | None, high: float | None, whole: bool) -> float | None:
        text = self.text
        if len(text) > _DIGITS or not text.isascii():
            return None
        try:
            number = int(text) if whole else float(text)
        except ValueError:
            return None
        outside = not isfinite(number) or (low is not None and number < low)
        return None if outside or (high is not None and number > high) else number


class Switch(Choice):
    """On or off."""

    def choose(self, label: str, default: bool = False, draw: Callable = st.toggle, **more: Any) -> Any:
        """Whether it is on, or what `draw` gives."""
        value = self.text == "true" if self.text in ("true", "false") else default
        return self._draw(draw, value, default, label, **more)

    def _texts(self, value: bool) -> list[str]:
        return [str(value).lower()]


class Text(Choice):
    """Something typed."""

    def choose(self, label: str, default: str = "", longest: int | None = None, **more: Any) -> str:
        """longest: characters; the rest of a longer text is left out."""
        value = (self.text or default)[:longest]
        chosen = self._draw(st.text_input, value, default, label, max_chars=longest, **more)
        self._shown(chosen)
        return chosen


class Asked(Choice):
    """Something that takes long, which is done when it is asked for: by a button, or by a link from there."""

    def asked(self, what: str, button: str, note: str, **more: Any) -> bool:
        """what: of which run, model or round; for another one it has to be asked for anew. more: as a button takes it."""
        if self.text != what:
            st.caption(note)
            if not st.button(button, **more):
                return False
            self.change(what)
        return True
