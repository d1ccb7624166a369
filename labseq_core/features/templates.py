"""Feature templates: which attributes an observation has, from its word, its columns and its neighbours.

Attributes are computed once per distinct word or column value; windows are index arithmetic. A window attribute is an
(offset, attribute) pair, named "word[-1]=de" or "cap_ini[+1]".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from labseq_core._checks import LabSeqError, require
from labseq_core._jit import compiled
from labseq_core.data.alphabet import Alphabet
from labseq_core.data.sequences import Sequences
from labseq_core.features.columns import ColumnCoder, distinct_rows
from labseq_core.features.encoded import NO_VALUES, EncodedSequences, WindowTypes
from labseq_core.features.spelling import affix_attributes, spelling_attributes

# name -> (default window, uses spelling, uses affixes, uses all columns, what it is)
TEMPLATES = {
    "S1": (1, False, False, False, "the current word only, as in an HMM"),
    "S2": (1, True, False, False, "the word and its spelling (thesis, Table B.2)"),
    "S3": (3, True, False, False, "word and spelling in a window around the position"),
    "POS": (3, True, True, False, "S3 and the endings for part-of-speech tagging (thesis, Table B.3)"),
    "prosody": (5, False, False, True, "words, log-probabilities in bins and every column (thesis, Table B.1)"),
    "custom": (1, False, False, False, "the chosen columns; 'token' is the word itself"),
}
DEFAULT_BINS = {"prosody": 25}


class FeatureTemplate:
    """What an observation looks like to a method.

    name: S1, S2, S3, POS, prosody or custom.   window: odd; 3 = previous, current, next (None: as usual for the name).
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
        self.name = name
        self.window = TEMPLATES[name][0] if window is None else window
        fits = isinstance(self.window, int) and 1 <= self.window <= 21 and self.window % 2 == 1
        require(fits, f"window is {window!r}; choose an odd number from 1 to 21, such as 1, 3 or 5")
        self.bins = DEFAULT_BINS.get(name, 0) if bins is None else bins
        fits = isinstance(self.bins, int) and (self.bins == 0 or 2 <= self.bins <= 1000)
        require(fits, f"bins is {bins!r}; choose 2 to 1000, or 0 to keep real values")
        require(not isinstance(columns, str), f"columns is the string {columns!r}; give a list of column names")
        self.columns = None if columns is None else tuple(columns)
        require(name != "custom" or bool(self.columns), "custom features need columns; name at least one, or 'token'")
        self.joint = bool(joint)
        self.coder_: ColumnCoder | None = None

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
        self.coder_ = ColumnCoder.learn(_as_sequences(sequences), self._columns_of(sequences), self.bins, self.name)
        return self

    def attributes(self, tokens: Sequence[str], columns: dict[str, Sequence] | None = None) -> list:
        """The attributes of each token of one sentence: lists of names, or name -> value where values are real."""
        one = _from_words([tokens], {name: [values] for name, values in (columns or {}).items()})
        return self.encode(one).attributes()[0]

    def encode(
        self, sequences: Sequences | Iterable[Sequence[str]], vocabulary: Alphabet | None = None
    ) -> EncodedSequences:
        """CSR arrays of a split or of plain token lists; with a vocabulary, attributes that it lacks are dropped."""
        sequences = _as_sequences(sequences)
        if self.coder_ is None:
            self.fit(sequences)
        names, types, indptr, indices, values = self._current_position_attributes(sequences)
        indptr, indices, values = _widen(indptr, indices, values, sequences.offsets, self.window)
        used = np.zeros(len(names) * self.window, dtype=np.bool_)
        used[indices] = True
        present = np.flatnonzero(used)
        shown = _window_names(names, present, self.window)
        dense = np.full(used.size, -1, dtype=np.int32)
        dense[present] = np.arange(present.size, dtype=np.int32)
        if types is not None:
            rows, table = types
            bundles = _widen_types(*table, dense, self.window)
            types = WindowTypes.of(rows, sequences.offsets, self.window, *bundles)
        encoded = EncodedSequences(indptr, dense[indices], values, sequences.offsets, Alphabet(shown), self, types)
        return encoded if vocabulary is None else encoded.with_vocabulary(vocabulary)

    def _columns_of(self, sequences) -> tuple[str, ...]:
        if self.columns is not None:
            return self.columns
        return tuple(getattr(sequences, "flat_columns", ())) if TEMPLATES[self.name][3] else ()

    def _current_position_attributes(self, sequences: Sequences):
        """Attributes of each position without its neighbours: names of all of them, (row per position, table) if that is all
        there is to it, and CSR arrays with values.
        """
        numbers: dict[str, int] = {}
        parts = []  # (row of a small table per position, (indptr, indices) of that table, value per position or None)
        columns = self.coder_.columns
        if self.name != "custom" or "token" in columns:
            parts.append(self._word_part(sequences, numbers))
        parts += self.coder_.parts(sequences, numbers)
        if len(parts) == 1 and parts[0][2] is None:
            rows, table, _ = parts[0]
            return list(numbers), (rows, table), *_gather_rows(rows, *table), NO_VALUES
        return list(numbers), None, *_merge_parts(parts, len(sequences.flat_tokens))

    def _word_part(self, sequences: Sequences, numbers: dict[str, int]):
        words, rows = distinct_rows(sequences.flat_tokens)
        _, spelling, affixes, _, _ = TEMPLATES[self.name]
        # Row 2w is the word, row 2w + 1 the same word at the start of a sentence.
        rows *= 2
        if spelling:
            rows[sequences.offsets[:-1]] += 1
        needed = np.bincount(rows, minlength=2 * len(words)) > 0
        indptr, indices = [0], []
        numbered: dict[tuple[str, ...], list[int]] = {}  # many words have all attributes but themselves in common
        for row in np.flatnonzero(needed).tolist():
            word = words[row >> 1]
            indices.append(numbers.setdefault(f"word={word}", len(numbers)))
            shared = spelling_attributes(word, bool(row & 1), self.joint) if spelling else ()
            if affixes:
                shared += affix_attributes(word)
            if shared not in numbered:
                numbered[shared] = [numbers.setdefault(name, len(numbers)) for name in shared]
            indices += numbered[shared]
            indptr.append(len(indices))
        table = np.array(indptr, dtype=np.int64), np.array(indices, dtype=np.int64)
        return (np.cumsum(needed) - 1)[rows], table, None


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
    made = Sequences.from_lists(sentences, columns=columns)
    if not all(issubclass(kind, str) for kind in set(map(type, made.flat_tokens))):
        place, odd = next((t, word) for t, word in enumerate(made.flat_tokens) if not isinstance(word, str))
        number = np.searchsorted(made.offsets, place, side="right") - 1
        raise LabSeqError(f"sentence {number} has the word {odd!r} of type {type(odd).__name__}; words are strings")
    return made


def _window_names(names: list[str], numbers: np.ndarray, window: int) -> list[str]:
    """The names of widened attributes: number a * window + place is attribute a at that place of the window."""
    offsets = range(-(window // 2), window // 2 + 1)
    marks = [f"[{offset:+d}]" if offset else "" for offset in offsets]
    parts = [name.partition("=") for name in names]
    shown = []
    for number in numbers.tolist():
        key, equals, value = parts[number // window]
        shown.append(f"{key}{marks[number % window]}{equals}{value}")
    return shown


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


@compiled
def _widen(indptr, indices, values, offsets, window):
    """Attribute a of the position at offset o becomes a * window + (o + window // 2); values are empty if all are 1."""
    half = window // 2
    n_positions = indptr.size - 1
    wide_indptr = np.zeros(n_positions + 1, dtype=np.int64)
    for i in range(offsets.size - 1):
        for t in range(offsets[i], offsets[i + 1]):
            first, last = max(t - half, offsets[i]), min(t + half, offsets[i + 1] - 1)
            wide_indptr[t + 1] = wide_indptr[t] + indptr[last + 1] - indptr[first]
    wide_indices = np.empty(wide_indptr[-1], dtype=np.int64)
    wide_values = np.empty(wide_indptr[-1] if values.size else 0)
    for i in range(offsets.size - 1):
        for t in range(offsets[i], offsets[i + 1]):
            place = wide_indptr[t]
            for source in range(max(t - half, offsets[i]), min(t + half, offsets[i + 1] - 1) + 1):
                for k in range(indptr[source], indptr[source + 1]):
                    wide_indices[place] = indices[k] * window + (source - t + half)
                    if values.size:
                        wide_values[place] = values[k]
                    place += 1
    return wide_indptr, wide_indices, wide_values


@compiled
def _widen_types(table_indptr, table_indices, dense, window):
    """The attributes of each type at each place of the window, in the numbers `dense` gives; those never seen there are -1."""
    n_types = table_indptr.size - 1
    indptr = np.zeros(n_types * window + 1, dtype=np.int64)
    indices = np.empty(table_indices.size * window, dtype=np.int32)
    filled = 0
    for w in range(n_types):
        for place in range(window):
            for k in range(table_indptr[w], table_indptr[w + 1]):
                number = dense[table_indices[k] * window + place]
                if number >= 0:
                    indices[filled] = number
                    filled += 1
            indptr[w * window + place + 1] = filled
    return indptr, indices[:filled].copy()
