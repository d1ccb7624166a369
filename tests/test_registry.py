"""Registries: names are unique, unknown ones are told, and what comes from outside is known as such."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from labseq_core.checks import LabSeqError
from labseq_core.registry import Registry, loading


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
    with loading("abc") as added:
        flavours.add(Flavour("sweet"))
    assert added == ["flavour sweet"]
    flavours.add(Flavour("salty"))
    assert [flavours.source_of(name) for name in flavours] == ["", "abc", ""]
