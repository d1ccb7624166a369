"""Feature templates: which attributes an observation has, from its word, its columns and its neighbours.

Attributes are computed once per distinct word or column value; windows are index arithmetic. A window attribute is an
(offset, attribute) pair, named "word[-1]=de" or "cap_ini[+1]".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from labseq_core.checks import LabSeqError, require
from labseq_core.compiling.routines import compiled
from labseq_core.data.alphabet import Alphabet
from labseq_core.data.sequences import Sequences
from labseq_core.features.columns import ColumnCoder
from labseq_core.features.encoded import NO_VALUES, EncodedSequences
from labseq_core.features.registry import TEMPLATES, require_bins, require_window
from labseq_core.features.windows import TypePlaces, WindowLookup, gather_types, widen, window_names
from labseq_core.features.word_types import WordTypes

LOOKUP_FROM = 2000  # tokens; for a few sentences it does not pay to go through all names of a vocabulary


class FeatureTemplate:
    """What an observation looks like to a method.

    name: S1, S2, S3, POS, prosody, custom or another of `TEMPLATES`.
    window: odd; 3 = previous, current, next (None: as usual for the name).
    columns: further columns of the corpus to use (custom: the only ones; prosody: all unless named).
    bins: number of equally filled bins for real-valued columns; 0 keeps the values (None: 25 for prosody, else 0).
    joint: two-property spelling attributes as joint codes instead of conjunctions.

    Bin edges and word counts are learned from the first data encoded (or by `fit`) and kept from then on.
    """

    def __init__(
        self,
        name: str = "S3",
        window: int | None = None,
        columns: Sequence[str] | None = None,
        bins: int | None = None,
        joint: bool = False,
    ):
        require(name in TEMPLATES, f"features is {name!r}; choose one of {', '.join(TEMPLATES)}")
        self.name, usual = name, TEMPLATES[name]
        self.window = usual.window if window is None else window
        require_window(self.window)
        self.bins = usual.bins if bins is None else bins
        require_bins(self.bins)
        require(not isinstance(columns, str), f"columns is the string {columns!r}; give a list of column names")
        self.columns = None if columns is None else tuple(columns)
        odd = next((each for each in self.columns or () if not isinstance(each, str)), None)
        require(odd is None, f"columns has {odd!r}; give names of columns")
        given = not usual.only_columns or bool(self.columns)
        require(given, f"{name} features need columns; name at least one, or 'token'")
        self.joint = bool(joint)
        self.coder_: ColumnCoder | None = None
        self._lookup: WindowLookup | None = None

    def __repr__(self) -> str:
        return f"FeatureTemplate({', '.join(f'{key}={value!r}' for key, value in self.get_params().items())})"

    def get_params(self) -> dict:
        keys = ("name", "window", "columns", "bins", "joint")
        return {key: getattr(self, key) for key in keys}

    def to_dict(self) -> dict:
        """Options and what was learned, as JSON can hold it."""
        return {**self.get_params(), "coder": None if self.coder_ is None else self.coder_.to_dict()}

    @classmethod
    def from_dict(cls, saved: dict) -> FeatureTemplate:
        template = cls(**{key: value for key, value in saved.items() if key != "coder"})
        if saved["coder"] is not None:
            template.coder_ = ColumnCoder.from_dict(saved["coder"])
        return template

    def fit(self, sequences: Sequences | Iterable[Sequence[str]]) -> FeatureTemplate:
        """Learn bin edges and word counts from these sequences."""
        counted = TEMPLATES[self.name].word_probabilities
        self.coder_ = ColumnCoder.learn(_as_sequences(sequences), self._columns_of(sequences), self.bins, counted)
        return self

    def attributes(self, tokens: Sequence[str], columns: dict[str, Sequence] | None = None) -> list:
        """The attributes of each token of one sentence: lists of names, or name -> value where values are real."""
        one = _from_words([tokens], {name: [values] for name, values in (columns or {}).items()})
        return self.encode(one).attributes()[0]

    def encode(
        self, sequences: Sequences | Iterable[Sequence[str]], vocabulary: Alphabet | None = None
    ) -> EncodedSequences:
        """CSR arrays of a split or of plain token lists; with a vocabulary, attributes that it lacks are dropped.

        What is encoded first is learned from, if `fit` has not been called: bin edges, and word counts, from which each of
        these sentences is then left out itself.
        """
        sequences = _as_sequences(sequences)
        own = self.coder_ is None
        if own:
            self.fit(sequences)
        words = self._words(sequences)
        alone = words is not None and set(self.coder_.columns) <= {"token"}
        if alone and vocabulary is not None and sequences.n_tokens >= LOOKUP_FROM:
            places = TypePlaces.of(words.rows, words.table, sequences.offsets, self.window)
            known = np.where(places.used(words.n_attributes), self._lookup_in(vocabulary).numbers(words), -1)
            return self._encoded(places, known, sequences.offsets, vocabulary)
        names = [] if words is None else words.names()
        parts = [] if words is None else [(words.rows, words.table, None)]
        if not alone:
            numbers = {name: number for number, name in enumerate(names)}
            parts += self.coder_.parts(sequences, numbers, own)
            names = list(numbers)
        encode = self._encode_types if len(parts) == 1 and parts[0][2] is None else self._encode_positions
        encoded = encode(parts, names, sequences.offsets)
        return encoded if vocabulary is None else encoded.with_vocabulary(vocabulary)

    def _encode_types(self, parts: list, names: list[str], offsets: np.ndarray) -> EncodedSequences:
        """Where each position has one type, and all its attributes from that."""
        rows, table, _ = parts[0]
        places = TypePlaces.of(rows, table, offsets, self.window)
        present, dense = _dense(places.used(len(names)))
        return self._encoded(places, dense, offsets, Alphabet(window_names(names, present, self.window)))

    def _encoded(
        self, places: TypePlaces, numbers: np.ndarray, offsets: np.ndarray, vocabulary: Alphabet
    ) -> EncodedSequences:
        types = places.numbered(numbers)
        indptr, indices = gather_types(types.rows, types.before, types.after, types.window, types.indptr, types.indices)
        return EncodedSequences(indptr, indices, NO_VALUES, offsets, vocabulary, self, types)

    def _encode_positions(self, parts: list, names: list[str], offsets: np.ndarray) -> EncodedSequences:
        merged = _merge_parts(parts, int(offsets[-1]))
        indptr, indices, values = widen(*merged, offsets, self.window)
        used = np.zeros(len(names) * self.window, dtype=np.bool_)
        used[indices] = True
        present, dense = _dense(used)
        vocabulary = Alphabet(window_names(names, present, self.window))
        return EncodedSequences(indptr, dense[indices], values, offsets, vocabulary, self)

    def _lookup_in(self, vocabulary: Alphabet) -> WindowLookup:
        if self._lookup is None or self._lookup.vocabulary is not vocabulary:
            self._lookup = WindowLookup(vocabulary, self.window)
        return self._lookup

    def __getstate__(self) -> dict:
        return {**self.__dict__, "_lookup": None}  # can be made again

    def _columns_of(self, sequences) -> tuple[str, ...]:
        if self.columns is not None:
            return self.columns
        return tuple(getattr(sequences, "flat_columns", ())) if TEMPLATES[self.name].all_columns else ()

    def _words(self, sequences: Sequences) -> WordTypes | None:
        """The types of words, if the template uses words."""
        template = TEMPLATES[self.name]
        if template.only_columns and "token" not in self.coder_.columns:
            return None
        return WordTypes.of(sequences, template.spelling, template.of_word and template.names_of, self.joint)


def _as_sequences(sequences) -> Sequences:
    if isinstance(sequences, Sequences):
        return sequences
    require(isinstance(sequences, Iterable), f"sequences is of type {type(sequences).__name__}; give a list")
    return _from_words(list(sequences))


def _from_words(sentences: list, columns: dict[str, list] | None = None) -> Sequences:
    for number, sentence in enumerate(sentences):
        if isinstance(sentence, str) or not isinstance(sentence, Sequence | np.ndarray):
            fix = "give a list of sentences, each a list of words"
            raise LabSeqError(f"sentence {number} is of type {type(sentence).__name__}; {fix}")
    return Sequences.from_lists(sentences, columns=columns)


def _dense(used: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The numbers in use, and for each number its place among them, or -1."""
    present = np.flatnonzero(used)
    dense = np.full(used.size, -1, dtype=np.int32)
    dense[present] = np.arange(present.size, dtype=np.int32)
    return present, dense


def _merge_parts(parts: list, n_positions: int):
    """Put the attributes of several parts side by side, position by position."""
    counts = [np.diff(table[0])[rows] for rows, table, _ in parts]
    real = any(value is not None for _, _, value in parts)
    indptr = np.concatenate([[0], np.cumsum(sum(counts))]) if parts else np.zeros(n_positions + 1, dtype=np.int64)
    indices = np.empty(indptr[-1], dtype=np.int64)
    values = np.ones(indptr[-1]) if real else NO_VALUES
    begin = indptr[:-1].copy()
    for (rows, (table_indptr, table_indices), value), count in zip(parts, counts):
        own_indptr, own_indices = _gather_rows(rows, table_indptr, table_indices)
        places = np.repeat(begin - own_indptr[:-1], count) + np.arange(own_indptr[-1])
        indices[places] = own_indices
        if value is not None:
            values[places] = np.repeat(value, count)
        begin += count
    return indptr, indices, values


@compiled
def _gather_rows(rows, table_indptr, table_indices):
    """Row `rows[t]` of a ragged table for each position t."""
    indptr = np.zeros(rows.size + 1, dtype=np.int64)
    for t in range(rows.size):
        indptr[t + 1] = indptr[t] + table_indptr[rows[t] + 1] - table_indptr[rows[t]]
    indices = np.empty(indptr[-1], dtype=np.int64)
    for t in range(rows.size):
        begin = table_indptr[rows[t]]
        for k in range(indptr[t + 1] - indptr[t]):
            indices[indptr[t] + k] = table_indices[begin + k]
    return indptr, indices
