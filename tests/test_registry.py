"""Registries: names are unique, unknown ones are told, and what comes from outside is known as such."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from labseq_core.checks import LabSeqError
from labseq_core.registry import Registry, Source, from_outside, loading

SWEETS = Source("sweets.py", "abc")


@dataclass(frozen=True)
class Flavour:
    name: str


def test_things_keep_their_order_and_are_found_by_name():
    flavours = Registry("flavour", [Flavour("sour"), Flavour("bitter")])
    assert list(flavours) == ["sour", "bitter"]
    assert flavours.find("bitter") is flavours["bitter"]
    with pytest.raises(LabSeqError, match="no flavour 'sweet'; choose from sour, bitter"):
        flavours.find("sweet")


def test_a_name_that_is_taken_is_refused_and_nothing_changes():
    flavours = Registry("flavour", [Flavour("sour")])
    first = flavours["sour"]
    with pytest.raises(LabSeqError, match="a flavour 'sour' already"):
        flavours.add(Flavour("sour"))
    assert flavours["sour"] is first


def test_the_source_of_what_comes_from_outside_is_known():
    flavours = Registry("flavour", [Flavour("sour")])
    with loading(SWEETS) as added:
        flavours.add(Flavour("sweet"))
    assert added == ["flavour sweet"]
    flavours.add(Flavour("salty"))
    assert [flavours.source_of(name) for name in flavours] == [None, SWEETS, None]


def test_what_plain_data_name_from_outside_is_found_by_its_whole_name():
    flavours = Registry("flavour", [Flavour("sour")])
    with loading(SWEETS):
        for name in ("S3 + sweet", "sweet.er", "sweet"):
            flavours.add(Flavour(name))
    said = {"menu": [{"taste": "S3 + sweet"}, ("sour", 3, None)], "sweet.er": "a sweet one"}
    assert from_outside(said, flavours) == {"flavour S3 + sweet": SWEETS}


def test_what_is_no_name_is_not_there():
    flavours = Registry("flavour", [Flavour("sour")])
    for odd in (["sour"], {"sour": 1}, None, 3):
        assert odd not in flavours
        with pytest.raises(LabSeqError, match=r"there is no flavour .*; choose from sour"):
            flavours.find(odd)


def test_where_it_comes_from_says_how_to_load_it():
    assert SWEETS.remedy == "start with --with sweets.py (in Python: LABSEQ_WITH)"
    assert Source("sweets.methods", "abc").remedy == "install sweets.methods"
