"""All feature templates by name. A new one is an object here; forms, command line and documentation follow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

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
    of_word: Callable[[str], tuple[str, ...]] | None = None  # names of further attributes that follow from the word
    word_probabilities: bool = False  # of words and pairs of words, counted in the training data
    all_columns: bool = False  # every column of the corpus, unless some are chosen
    only_columns: bool = False  # nothing but the columns chosen, which are needed; "token" is the word itself

    @property
    def said(self) -> str:
        """What it is, and where it is described."""
        return f"{self.summary} ({self.where})" if self.where else self.summary


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
