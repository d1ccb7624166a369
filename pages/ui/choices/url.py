"""What one visitor has chosen so far: the URL says it of the open page, this keeps it for when the visitor comes back."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import streamlit as st

_KEY = "visit"
UNDER_WAY = 0.5  # seconds that a new address may take to the browser and back
Place = tuple[str, str]  # a page, empty for what is chosen once for all of them, and a name in the URL


@dataclass
class Visit:
    page: str = ""
    kept: dict[Place, list[str]] = field(default_factory=dict)
    # What is shown at each place, chosen or not: what was chosen about something else than this is of no use any more.
    shown: dict[Place, str] = field(default_factory=dict)
    # What a part of a page took by itself, such as the newest run: the part, and what it took.
    implied: dict[Place, tuple[str, str]] = field(default_factory=dict)
    in_url: set[Place] = field(default_factory=set)  # put there by the last run of this page
    put_at: float = 0.0  # when something was last put there
    # What stood there before, of what was changed a moment ago: an address that says so again is late.
    older: dict[Place, list[list[str]]] = field(default_factory=dict)

    def begin(self, page: str) -> None:
        """Before a page runs. What it had put into the URL and is not there any more was taken back by the Back button; or the
        browser does not have it yet, after two quick clicks.
        """
        if page != self.page or not self._is_under_way():
            self.older.clear()
        if page == self.page and not self._is_under_way():
            for place in [place for place in self.in_url if place[1] not in st.query_params]:
                self.kept.pop(place, None)
        self.page = page
        self.in_url = {place for place in self.in_url if place[1] in st.query_params and place[0] in ("", page)}

    def texts(self, place: Place) -> list[str]:
        """What the URL says or, after a change of page, what it said; empty where nothing was chosen."""
        in_url = st.query_params.get_all(place[1])
        if in_url in self.older.get(place, ()) and self._is_under_way():
            self._put(place, self.kept.get(place, []))
            return self.kept.get(place, [])
        if in_url:
            self.in_url.add(place)
            if not self.is_implied(place):
                self.kept[place] = in_url
        elif place in self.kept:
            self._put(place, self.kept[place])
        return in_url or self.kept.get(place, [])

    def choose(self, place: Place, texts: Sequence[str]) -> None:
        self.kept[place] = list(texts)
        self.implied.pop(place, None)
        self._put(place, texts)

    def imply(self, place: Place, text: str, where: str) -> None:
        """Put into the URL what the page took by itself, so that a link shows the same when there is something newer."""
        self.implied[place] = (where, text)
        self._put(place, [text])

    def leave(self, place: Place, where: str) -> None:
        """Take back what another part of a page, or another page, has implied."""
        if self.is_implied(place) and self.implied[place][0] != where:
            self.set_aside(place)

    def is_implied(self, place: Place) -> bool:
        return place in self.implied and st.query_params.get(place[1]) == self.implied[place][1]

    def set_aside(self, place: Place) -> None:
        """Keep what the URL says, but take it out of there while what it is about is not shown."""
        if place[1] in st.query_params:
            self.texts(place)
            self._put(place, [])
        self.in_url.discard(place)

    def forget(self, place: Place) -> None:
        if place[0] in ("", self.page):
            self.set_aside(place)
        self.kept.pop(place, None)

    def forget_page(self, page: str) -> None:
        """All that was chosen there."""
        for place in [place for place in self.kept if place[0] == page]:
            del self.kept[place]

    def _put(self, place: Place, texts: Sequence[str]) -> None:
        self.in_url.add(place)
        before = st.query_params.get_all(place[1])
        if before == list(texts):
            return
        if texts:
            st.query_params[place[1]] = list(texts)
        else:
            st.query_params.pop(place[1], None)  # an address that is just coming may have taken it out
        self.put_at = time.monotonic()
        self.older[place] = [other for other in [*self.older.get(place, []), before] if other != list(texts)]

    def _is_under_way(self) -> bool:
        return time.monotonic() - self.put_at <= UNDER_WAY


def visit() -> Visit:
    return st.session_state.setdefault(_KEY, Visit())
