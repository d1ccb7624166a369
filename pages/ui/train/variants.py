"""The variants of the form: a list of texts in the URL, each as the command line writes it, and what a visitor does with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from labseq_core.checks import LabSeqError
from labseq_core.experiments import MethodChoice
from labseq_core.experiments.plan.config import MAX_METHODS
from labseq_core.experiments.plan.variant import TUNE
from labseq_core.experiments.plan.variant_text import VariantText, columns_in, columns_text, listed
from labseq_core.features import TEMPLATES
from labseq_core.learners.options import OF_VARIANTS
from labseq_core.learners.registry import METHODS, method_options
from pages.ui.choices.choice import Choice, Part
from pages.ui.choices.registry import Train

USUAL = ("crf", "hmsvm", "gps")
Kind = TypeVar("Kind", bound=Choice)


def typed_texts() -> list[str]:
    """Of a link with very many variants one more than a run may have: that is told, and not thousands of cards are drawn."""
    return Train.variants.given(USUAL)[: MAX_METHODS + 1]


def put(texts: Sequence[str]) -> None:
    Train.variants.put(texts, USUAL)


def without_defaults(text: str) -> str:
    """The text as links have it, which leave out what is usual; one that says nonsense stays as it is."""
    try:
        return MethodChoice.parse(text).on_command_line()
    except LabSeqError:
        return text


def add(method: str) -> None:
    put([*typed_texts(), method])


def duplicate(place: int) -> None:
    texts = typed_texts()
    put([*texts[: place + 1], *texts[place:]])


def remove(place: int) -> None:
    texts = typed_texts()
    put([*texts[:place], *texts[place + 1 :]])


def move(place: int, to: int) -> None:
    texts = typed_texts()
    moved = texts[place : place + 1]
    rest = [*texts[:place], *texts[place + 1 :]]
    put([*rest[:to], *moved, *rest[to:]])


def own_features(template: str) -> dict[str, str]:
    """What a variant says of features of its own, or of none; these have the usual window and bins."""
    needs_columns = template in TEMPLATES and TEMPLATES[template].only_columns
    return {"features": template, "window": "", "bins": "", "columns": "token" if needs_columns else "", "joint": ""}


@dataclass(frozen=True)
class Typed:
    """One variant of the list, by its place there. Its options are choices that are parts of its text."""

    place: int

    @property
    def text(self) -> VariantText:
        texts = typed_texts()  # the Back button may have made it shorter than it was when a widget was drawn
        return VariantText.read(texts[self.place] if self.place < len(texts) else "")

    def replace(self, text: VariantText) -> None:
        texts = typed_texts()
        if self.place < len(texts):
            put([*texts[: self.place], without_defaults(str(text)), *texts[self.place + 1 :]])

    def change(self, texts: Mapping[str, str]) -> None:
        """An empty text takes an option back to what is usual."""
        self.replace(self.text.but(texts))

    def choice(self, kind: type[Kind], name: str, part: Part | None = None, **more: Any) -> Kind:
        """A widget whose value is a part of the text: by itself the value of the option of this name."""
        return kind(f"variant.{self.place}.{self.text.method}.{name}", part=part or self._value(name), **more)

    def _value(self, name: str) -> Part:
        return self.part(lambda text: text.given.get(name, ""), lambda value: {name: value})

    def part(self, read: Callable[[VariantText], str], put: Callable[[str], Mapping[str, str]]) -> Part:
        """One text in another form than the variant has it. put: gives the texts that follow from it, by name."""
        return Part(
            lambda: [value] if (value := read(self.text)) else [],
            lambda texts: self.change(put(texts[-1] if texts else "")),
        )

    def whole(self) -> Part:
        """All of it as one text."""

        def change(texts: Sequence[str]) -> None:
            for text in texts:
                self.replace(VariantText.read(text))

        return Part(lambda: [str(self.text)], change)

    def method(self) -> Part:
        """Another method keeps what it has an option for."""

        def change(texts: Sequence[str]) -> None:
            for method in texts:
                known = {*method_options(method), *OF_VARIANTS}
                if not METHODS[method].probabilistic:
                    known.remove("decode")
                given = {name: value for name, value in self.text.given.items() if name in known}
                self.replace(VariantText(method, given))

        return Part(lambda: [self.text.method] if self.text.method in METHODS else [], change)

    def tuning(self) -> Part:
        """Whether it is tuned by itself."""
        return self.part(
            lambda text: "true" if text.given.get("search") == TUNE else "",
            lambda on: {"search": TUNE, **dict.fromkeys(self.text.tried, "")} if on else {"search": ""},
        )

    def searched(self, usual: Mapping[str, str]) -> Part:
        """The options that are chosen on development data. usual: the values to try at first, by option."""

        def change(names: Sequence[str]) -> None:
            tried = self.text.tried
            gone = dict.fromkeys((name for name in tried if name not in names), "")
            come = {name: listed(usual[name].split()) for name in names if name in usual and name not in tried}
            self.change({**gone, **come})

        return Part(lambda: list(self.text.tried), change)

    def values_tried(self, name: str, usual: str) -> Part:
        """With spaces between them."""
        return self.part(
            lambda text: " ".join(text.tried.get(name, [])),
            lambda values: {name: listed(values.split() or usual.split())},
        )

    def features(self) -> Part:
        return self.part(lambda text: text.given.get("features", ""), own_features)

    def columns(self) -> Part:
        return Part(
            lambda: list(columns_in(self.text.given.get("columns", ""))),
            lambda names: self.change({"columns": columns_text(names) if any(names) else ""}),
        )
