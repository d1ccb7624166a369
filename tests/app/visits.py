"""A visitor who wanders through the whole app at random: one seed, one walk, every step written down."""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.state.common import TESTING_KEY
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Element

from labseq_core.serving.settings import app_path
from tests.app.conftest import SECONDS_PER_RUN

# Never clicked: what trains for long, and what asks for files from the net.
LEFT_ALONE = re.compile("Start training|Go on|Make the learning curve|Download .*")
# Texts that a visitor may type, and that a link may carry.
TEXTS = (
    "", "cap", "Ana vive en Lima", "<b>a</b> \u202e ![x](y) *", "x" * 1500, "a " * 300, "$\\frac{1}{0}$ :red[b]", "0", "-1",
    "1e999", "NaN", "None", "\0", "../../..", "%s %d {0}", "\ud7ff\uffff", "9" * 400, "true", ",", "default:nothing",
    "upload:" + "0" * 64, "Spanish", "CRF", "٣",
)  # fmt: skip
# Files that a visitor may bring: name and contents.
FILES = (
    ("good.conll", b"Ana B-PER\nsleeps O\n\nIn O\nLima B-LOC\n\nIt O\nrains O\n\nEva B-PER\nsings O\n"),
    ("<img src=x onerror=alert(1)>.conll", b"<script>alert(1)</script> B-$x$\n:red[b] O\n\n\xe2\x80\xae O\n\n*c* O\n"),
    ("../../up.csv", b"token,label\na,X\n\nb,Y\n\nc,X\n"), ("ragged.conll", b"a b O\nc O\n"), ("empty.tsv", b""),
    ("archive.conll", b"PK\x03\x04\x14\0\0\0\x08\0"), ("latin.conll", b"a\xf1o O\n"), ("cut.jsonl", b'{"tokens": ["a'),
)  # fmt: skip
_CHANGED = (
    "selectbox",
    "multiselect",
    "segmented_control",
    "pagination",
    "number_input",
    "slider",
    "toggle",
    "text_input",
)
_MACHINE = re.compile(
    "|".join(
        ["Traceback", "site-packages", *(re.escape(str(place)) for place in (
            app_path().parent, tempfile.gettempdir() + "/", sys.prefix, Path.home() / "."
        ))]
    ).encode()
)  # fmt: skip


class FramedPages(PagesManager):
    """Pages within app.py at every run, as a server has them once `st.navigation` has been called."""

    def __init__(self, *arguments, **more) -> None:
        super().__init__(*arguments, **more)
        PagesManager.uses_pages_directory = False


class Visit:
    """One browser tab. A place is a page and what its URL says, as in `compare?view=Labels`."""

    def __init__(self, seed: int, places: Mapping[str, dict[str, str]], runs: list[str]):
        self.random, self.places, self.runs = Random(seed), places, runs
        self.steps = [f"seed {seed}"]
        self._begin()

    def _begin(self) -> None:
        self.app = AppTest.from_file(str(app_path()), default_timeout=SECONDS_PER_RUN)

    def step(self) -> None:
        """One thing that a visitor does, and what the page then looks like."""
        doing: dict[Callable[[], str | None], int] = {
            self._change: 10, self._click: 5, self._open_tab: 2, self._go: 1, self._reload: 1, self._follow_nonsense: 2,
            self._choose_rows: 1, self._upload: 1, self._open_popover: 4,
        }  # fmt: skip
        while True:
            (action,) = self.random.choices(list(doing), list(doing.values()))
            done = action()
            if done:
                return self._run(done)

    def _run(self, done: str) -> None:
        self.steps.append(done)
        try:
            self.app.run()
        except Exception as problem:
            raise AssertionError(self._told(repr(problem))) from problem
        # The page where the run has ended is where the next one begins; switch_page() would be obeyed for ever.
        self.app._page_hash = ""
        problem = found_wrong(self.app)
        assert not problem, self._told(problem)

    def _told(self, problem: str) -> str:
        return "\n".join([problem, "after these steps:", *self.steps])

    def go_to(self, place: str) -> None:
        """By an address typed into the browser."""
        self._begin()
        self._land(place, self.places[place])
        self._run(f"open {place}")

    def _land(self, place: str, parameters: Mapping[str, str | list[str]]) -> None:
        self.app.run()
        self.app.query_params.clear()
        self.app.query_params.update(parameters)
        self.app.switch_page(f"pages/{place.partition(',')[0]}.py")

    def _go(self) -> str:
        """By the navigation: what was chosen elsewhere is kept."""
        page = self.random.choice([place for place in self.places if "," not in place])
        self.app.query_params.clear()
        self.app.switch_page(f"pages/{page}.py")
        return f"go to {page}"

    def _reload(self) -> str:
        """All that the server knew of this visitor is gone but what stands in the URL."""
        page, chosen = self._page(), {**self.app.query_params, **self._bound()}
        self._begin()
        self._land(page, chosen)
        return f"reload {page} with {chosen}"

    def _page(self) -> str:
        """The file of the page that is shown."""
        pages = {info["page_script_hash"]: info["script_path"] for info in self.app._registered_pages.values()}
        return Path(pages[self.app._finished_page_script_hash]).stem

    def _bound(self) -> dict[str, str | list[str]]:
        """What a browser writes into the URL by itself: choices that are not the usual ones."""
        found = {}
        for widget in self._widgets():
            key = getattr(widget.proto, "query_param_key", "")
            if key and widget.value is not None:
                values = widget.value if isinstance(widget.value, list) else [widget.value]
                found[key] = [str(value).lower() if isinstance(value, bool) else str(value) for value in values]
        return found

    def _follow_nonsense(self) -> str:
        """A link of our own with some of its values spoiled."""
        page = self._page()
        names = [*self.app.query_params, *self._bound(), "run", "dataset", "tab", "view", "runs", "job", "unheard_of"]
        chosen = {name: self.random.choice([*TEXTS, *self.runs]) for name in self.random.sample(sorted(set(names)), 3)}
        self._begin()
        self._land(page, chosen)
        return f"follow a link to {page} with {chosen}"

    def _widgets(self) -> list:
        return [
            widget for kind in _CHANGED for widget in getattr(self.app, kind, self.app.get(kind)) if not widget.disabled
        ]

    def _change(self) -> str | None:
        widgets = self._widgets()
        if not widgets:
            return None
        widget = self.random.choice(widgets)
        value = self._value(widget)
        if hasattr(widget, "options"):
            # A browser sends what is shown: the options here are texts already.
            widget.root.session_state[TESTING_KEY][widget.id] = str
        widget.set_value(value)
        return f"set {type(widget).__name__} {widget.key!r} to {value!r}"

    def _value(self, widget) -> object:
        """Some value that the widget can have."""
        kind = type(widget).__name__
        if kind == "Toggle":
            return not widget.value
        if kind == "Pagination":
            return self.random.randint(1, widget.num_pages)
        if kind in ("NumberInput", "Slider"):
            low = -50 if widget.min is None else widget.min
            high = min(low + 100, 50 if widget.max is None else widget.max)
            if isinstance(widget.value, (tuple, list)):  # a slider with two ends
                return sorted(self.random.randint(int(low), int(high)) for _ in widget.value)
            number = int if widget.value is None else type(widget.value)
            return self.random.choice(
                [number(low), number(max(low, high)), number(low + self.random.random() * (high - low))]
            )
        if kind == "TextInput":
            return self.random.choice(TEXTS)[: widget.proto.max_chars or None]
        if kind == "Multiselect":
            return self.random.sample(widget.options, self.random.randint(0, min(3, len(widget.options))))
        return self.random.choice(widget.options)

    def _click(self) -> str | None:
        buttons = [each for each in self.app.button if not each.disabled and not LEFT_ALONE.fullmatch(each.label)]
        if not buttons:
            return None
        button = self.random.choice(buttons)
        button.click()
        return f"click {button.label!r}"

    def _open_tab(self) -> str | None:
        """Only tabs whose choice stands in the URL make the page run."""
        boxes = [block for block in self.app._tree if getattr(block, "type", "") == "tab_container" and _tab_key(block)]
        if not boxes:
            return None
        box = self.random.choice(boxes)
        tab = self.random.choice([tab.label for tab in box.children.values()])
        self.app.session_state[_tab_key(box)] = tab
        return f"open the tab {tab!r}"

    def _open_popover(self) -> str | None:
        """One whose contents the page makes when it is open. AppTest forgets that it is when something else is done."""
        kept = [block.proto.popover.id for block in self.app.get("popover") if block.proto.popover.id]
        if not kept:
            return None
        key = self.random.choice(kept).rpartition("-")[2]
        self.app.session_state[key] = True
        return f"open the popover {key!r}"

    def _choose_rows(self) -> str | None:
        """Of the list of runs, by what ticking leaves in the URL."""
        if self._page() != "history":
            return None
        ids = self.random.sample(self.runs, self.random.randint(1, 3))
        self.app.query_params["runs"] = ",".join(ids)
        return f"tick {ids}"

    def _upload(self) -> str | None:
        uploaders = list(self.app.file_uploader)
        if not uploaders:
            return None
        name, contents = self.random.choice(FILES)
        allowed = uploaders[0].proto.type
        if not any(name.endswith(ending) for ending in allowed):
            name += allowed[0]
        uploaders[0].set_value((name, contents, "text/plain"))
        return f"choose the file {name!r}"


def _tab_key(block) -> str:
    return block.proto.tab_container.query_param_key


def found_wrong(app: AppTest) -> str:
    """What a page must never show: an exception, a place of this machine, nothing at all."""
    if app.exception:
        return f"an exception: {[(each.message, each.stack_trace) for each in app.exception]}"
    if not app.title:
        return "no title"
    for element in app._tree:
        if isinstance(element, Element):
            found = _MACHINE.search(element.proto.SerializeToString())
            if found:
                return f"{found[0]!r} is shown: {element.proto}"
    return ""
