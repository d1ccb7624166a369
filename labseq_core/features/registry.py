"""All feature templates by name. A new one is an object here; forms, command line and documentation follow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from labseq_core.checks import LabSeqError, require
from labseq_core.features.spelling import affix_attributes
from labseq_core.registry import Registry


@dataclass(frozen=True)
class Template:
    """Which attributes an observation has; those of the positions around it are added by the window."""

    name: str
    summary: str
    where: str = ""  # table in the documents
    window: int = 1  # unless another is chosen
    bins: int = 0  # for real-valued columns, unless another number is chosen; 0 keeps the values
    spelling: bool = False  # the properties of spelling, beside the word
    of_word: Callable[[str], Sequence[str]] | None = None  # names of further attributes that follow from the word
    word_probabilities: bool = False  # of words and pairs of words, counted in the training data
    all_columns: bool = False  # every column of the corpus, unless some are chosen
    only_columns: bool = False  # nothing but the columns chosen, which are needed; "token" is the word itself

    def __post_init__(self) -> None:
        require_window(self.window, f"feature template {self.name}: ")
        require_bins(self.bins, f"feature template {self.name}: ")

    def names_of(self, word: str) -> tuple[str, ...]:
        """What `of_word` gives, checked: a window puts a mark such as "[+1]" behind the key, before the first "="."""
        if self.of_word is None:
            return ()
        names, where = self.of_word(word), f"feature template {self.name}: of_word gives"
        if not isinstance(names, tuple | list):
            kind = type(names).__name__
            raise LabSeqError(f"{where} the {kind} {names!r} for the word {word!r}; return a tuple of names")
        for name in names:
            if fault := _fault(name):
                raise LabSeqError(f"{where} the name {name!r} for the word {word!r}{fault}")
        return tuple(names)

    @property
    def said(self) -> str:
        """What it is, and where it is described."""
        return f"{self.summary} ({self.where})" if self.where else self.summary


def _fault(name: object) -> str:
    if not isinstance(name, str):
        return "; return a tuple of names, each a str"
    if "[" in name and "[" in name.partition("=")[0]:
        return "; leave out the bracket, which says a place in the window"
    return ", which every token has already; leave it out" if name.startswith("word=") else ""


def require_window(window: object, where: str = "") -> None:
    fits = isinstance(window, int) and 1 <= window <= 21 and window % 2 == 1
    require(fits, f"{where}window is {window!r}; choose an odd number from 1 to 21, such as 1, 3 or 5")


def require_bins(bins: object, where: str = "") -> None:
    fits = isinstance(bins, int) and (bins == 0 or 2 <= bins <= 1000)
    require(fits, f"{where}bins is {bins!r}; choose 2 to 1000, or 0 to keep real values")


TEMPLATES: Registry[Template] = Registry(
    "feature template",
    [
        Template("S1", "the current word only, as in an HMM"),
        Template("S2", "the word and its spelling", "thesis, Table B.2", spelling=True),
        Template("S3", "word and spelling in a window around the position", window=3, spelling=True),
        Template(
            "POS", "S3 and the endings for part-of-speech tagging", "thesis, Table B.3", window=3, spelling=True,
            of_word=affix_attributes,
        ),
        Template(
            "prosody", "words, log-probabilities in bins and every column", "thesis, Table B.1", window=5, bins=25,
            word_probabilities=True, all_columns=True,
        ),
        Template("custom", "the chosen columns; 'token' is the word itself", only_columns=True),
    ],
)  # fmt: skip
