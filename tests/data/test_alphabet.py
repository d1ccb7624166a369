from __future__ import annotations

import numpy as np
import pytest

from labseq_core.checks import LabSeqError
from labseq_core.data.alphabet import Alphabet


def test_numbers_are_places():
    alphabet = Alphabet(["O", "B", "I"])
    assert alphabet.names == ("O", "B", "I")
    assert len(alphabet) == 3
    assert "B" in alphabet
    assert "X" not in alphabet
    assert [alphabet.index(name) for name in alphabet.names] == [0, 1, 2]
    encoded = alphabet.encode(["I", "O", "I"])
    assert encoded.dtype == np.int64
    assert encoded.tolist() == [2, 0, 2]


def test_of_sorts_distinct_values():
    assert Alphabet.of(["b", "a", "b", "C"]).names == ("C", "a", "b")


def test_equal_alphabets_are_equal_and_frozen():
    assert Alphabet(["a", "b"]) == Alphabet(("a", "b"))
    assert hash(Alphabet(["a"])) == hash(Alphabet(["a"]))
    with pytest.raises(AttributeError):
        Alphabet(["a"]).names = ("b",)


def test_unknown_name_is_named_with_the_known_ones():
    alphabet = Alphabet([f"n{number:02d}" for number in range(12)])
    for attempt in (lambda: alphabet.index("zz"), lambda: alphabet.encode(["n01", "zz"])):
        with pytest.raises(LabSeqError) as caught:
            attempt()
        message = str(caught.value)
        assert "'zz'" in message
        assert "n09" in message
        assert "n10" not in message
        assert "2 more" in message


def test_unknown_names_become_minus_one_on_request():
    assert Alphabet(["a"]).encode(["a", "b"], unknown=-1).tolist() == [0, -1]
    with pytest.raises(LabSeqError, match="unknown is 'skip'"):
        Alphabet(["a"]).encode(["a"], unknown="skip")


@pytest.mark.parametrize(("names", "message"), [(["a", "b", "a"], "'a' stands twice"), ("abc", "list of strings")])
def test_bad_names_are_refused(names, message):
    with pytest.raises(LabSeqError, match=message):
        Alphabet(names)
