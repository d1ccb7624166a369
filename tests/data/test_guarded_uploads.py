"""Uploads are read by a process of their own and kept in a form that loads quickly; whatever goes wrong, nothing is left."""

from __future__ import annotations

import json
import math
import os
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labseq_core.archives import load_archive, save_archive
from labseq_core.checks import LabSeqError
from labseq_core.data.guarded_uploads import prepare_upload, store_upload_guarded
from labseq_core.data.parsed_upload import load_parsed, save_parsed
from labseq_core.data.sequences import Dataset, Sequences
from labseq_core.data.uploads import load_upload, must_be_parsed, staged, store_upload
from tests.data import test_uploads

DATA = b"".join(b"w%d N %s B-X\nv O 2.5 O\n\n" % (number, b"NA" if number % 3 else b"1e3") for number in range(20))


@pytest.fixture(autouse=True)
def user_files(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("LABSEQ_STORE", str(tmp_path / "runs.sqlite"))
    return tmp_path / "uploads"


def assert_same(one: Dataset, other: Dataset) -> None:
    assert (one.name, one.title, one.description, one.task) == (other.name, other.title, other.description, other.task)
    for name in ("train", "dev", "test"):
        part, again = getattr(one, name), getattr(other, name)
        assert part.tokens == again.tokens
        assert part.labels == again.labels
        assert repr(part.columns) == repr(again.columns)
        assert {key: type(column) for key, column in part.flat_columns.items()} == {
            key: type(column) for key, column in again.flat_columns.items()
        }


@pytest.mark.parametrize("settings", [{}, {"shares": (50, 25, 25), "split_seed": None, "columns": ["pos", "weight"]}])
def test_the_same_upload_as_in_this_process(settings, user_files):
    told: list[tuple[float, str]] = []
    guarded = store_upload_guarded(DATA, "my.conll", lambda *now: told.append(now), **settings)
    loaded = load_upload(guarded)
    assert store_upload(DATA, "my.conll", **settings) == guarded
    assert_same(load_upload(guarded), loaded)
    (folder,) = user_files.iterdir()
    assert {path.name for path in folder.iterdir()} == {"data", "about.json", "parsed.npz"}
    (folder / "parsed.npz").unlink()
    assert_same(load_upload(guarded), loaded)
    assert told[0] == (0.0, "Reading my.conll")
    assert [fraction for fraction, _ in told] == sorted(fraction for fraction, _ in told)


def test_the_file_is_not_read_again(monkeypatch):
    upload = store_upload_guarded(DATA, "my.conll")
    monkeypatch.setattr("labseq_core.data.uploads.read_file", None)
    assert load_upload(upload).labels == ["B-X", "O"]


def test_a_bad_file_is_told_with_its_line_and_leaves_nothing(user_files):
    with pytest.raises(
        LabSeqError, match=r"^bad\.conll, line 3: 1 column where 2 were expected; give every token line"
    ):
        store_upload_guarded(b"a O\nb O\nc\n", "/etc/bad.conll")
    with pytest.raises(LabSeqError, match="the format conll has no option 'delimiter'"):
        store_upload_guarded(DATA, "bad.conll", format="conll", delimiter=",")
    assert list(user_files.iterdir()) == []


def test_whoever_is_told_can_cancel_and_nothing_is_left(user_files):
    class Cancelled(BaseException):
        """As Streamlit interrupts a page."""

    def tell(fraction: float, text: str) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        store_upload_guarded(DATA, "my.conll", tell)
    assert list(user_files.iterdir()) == []


def test_what_a_killed_process_has_left_is_swept_away(user_files):
    old, new = user_files / "new-old", user_files / "new-one"
    for folder in (old, new):
        folder.mkdir(parents=True)
        (folder / "data").write_bytes(DATA)
    os.utime(old, (time.time() - 7200.0,) * 2)
    with staged():
        assert {path.name for path in user_files.iterdir() if path != new}.isdisjoint({"new-old"})
    assert list(user_files.iterdir()) == [new]


def test_an_upload_of_before_is_read_once_and_then_loads_quickly(user_files, monkeypatch):
    upload = store_upload(DATA, "my.conll")
    loaded, folder = load_upload(upload), user_files / upload.removeprefix("upload:")
    (folder / "parsed.npz").unlink()
    assert must_be_parsed(upload)
    prepare_upload(upload)
    assert not must_be_parsed(upload)
    monkeypatch.setattr("labseq_core.data.uploads.read_file", None)
    assert_same(load_upload(upload), loaded)
    prepare_upload(upload)  # nothing to do


def test_an_upload_that_is_not_there_needs_no_process(monkeypatch):
    monkeypatch.setattr("labseq_core.data.guarded_uploads.call_guarded", None)
    prepare_upload("upload:" + "0" * 64)


def test_where_nothing_can_be_written_it_is_read_each_time(user_files, monkeypatch):
    upload = store_upload(DATA, "my.conll")
    loaded, folder = load_upload(upload), user_files / upload.removeprefix("upload:")
    (folder / "parsed.npz").unlink()

    def full(**arguments) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.mkdtemp", full)
    assert_same(load_upload(upload), loaded)
    assert must_be_parsed(upload)
    with pytest.raises(LabSeqError, match=r"the upload cannot be stored .No space left on device.; set LABSEQ_STORE"):
        store_upload_guarded(DATA, "my.conll")


def test_formats_from_outside_are_read_by_the_process(tmp_path, monkeypatch, user_files):
    """The process loads what this one was started with; a reader that fails costs one message."""
    source = tmp_path / "own.py"
    source.write_text(
        "from labseq_core.data.formats.registry import FORMATS, Format\n"
        "from labseq_core.data.sequences import Sequences\n"
        "def read(source, *, name=None):\n"
        "    lines = [line.split() for line in source.decode().splitlines()]\n"
        "    return Sequences.from_lists(lines, [[word[0] for word in line] for line in lines])\n"
        "FORMATS.add(Format('words', 'a sequence per line', ('.words',), read))\n"
    )
    monkeypatch.setenv("LABSEQ_WITH", str(source))
    monkeypatch.setattr("labseq_core.data.guarded_uploads._has_formats_from_outside", lambda: True)
    upload = store_upload_guarded(b"an old tree\nit rains\nno\n", "my.words")
    about = json.loads((user_files / upload.removeprefix("upload:") / "about.json").read_text())
    assert (about["format"], about["format_source"]) == ("words", "own.py")
    with pytest.raises(
        LabSeqError, match=r"^reading odd\.words failed; it may be damaged\. Split it into smaller files$"
    ):
        store_upload_guarded(b"\xff\xfe", "odd.words")
    with pytest.raises(LabSeqError, match=r"start with --with own\.py"):
        load_upload(upload)


cells = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), min_size=1, max_size=3)


@given(st.lists(st.lists(st.tuples(cells, cells, st.text("ab", max_size=2), st.floats(allow_infinity=False))
                         , min_size=1, max_size=4), min_size=3, max_size=6))  # fmt: skip
def test_whatever_was_read_comes_back_from_the_compact_form(rows):
    columns = [[[token[place] for token in row] for row in rows] for place in range(4)]
    whole = Sequences.from_lists(columns[0], columns[1], {"=": columns[2], "number": columns[3]})
    parts = [whole.select(range(1)), whole.select(range(1, len(rows) - 1)), whole.select([len(rows) - 1])]
    path = Path(os.environ["LABSEQ_STORE"]).parent / "form.npz"
    save_parsed(path, parts, {"of": "this"})
    for part, loaded in zip(parts, load_parsed(path, {"of": "this"}), strict=True):
        assert (part.tokens, part.labels, part.columns["="]) == (loaded.tokens, loaded.labels, loaded.columns["="])
        assert part.flat_columns["number"].tobytes() == loaded.flat_columns["number"].tobytes()
    assert load_parsed(path, {"of": "another"}) is None


def _damaged() -> dict:
    """What may be wrong in the compact form: a change of its arrays and its JSON data."""
    return {
        "cut short": lambda arrays, meta: arrays.pop("tokens.codes"),
        "a number of no token": lambda arrays, meta: arrays["tokens.codes"].__setitem__(0, 10**6),
        "a negative number": lambda arrays, meta: arrays["labels.codes"].__setitem__(0, -1),
        "other types": lambda arrays, meta: arrays.update({"labels.codes": arrays["labels.codes"].astype(np.float64)}),
        "no text": lambda arrays, meta: arrays.update({"tokens.names": np.array([255, 254], dtype=np.uint8)}),
        "an empty token": lambda arrays, meta: arrays.update({"tokens.names": np.zeros(30, dtype=np.uint8)}),
        "an infinite number": lambda arrays, meta: arrays["column1.values"].__setitem__(0, math.inf),
        "an empty sequence": lambda arrays, meta: arrays["lengths"].__setitem__(slice(0, 2), [4, 0]),
        "parts that do not fit": lambda arrays, meta: meta.update(parts=[16, 2, 3]),
        "parts that are none": lambda arrays, meta: meta.update(parts="abc"),
        "no parts": lambda arrays, meta: meta.pop("parts"),
        "columns twice": lambda arrays, meta: meta.update(columns=["column2", "column2"]),
        "more than belongs there": lambda arrays, meta: arrays.update(more=np.zeros(3)),
        "another form": lambda arrays, meta: meta.update(form=0),
        "another file": lambda arrays, meta: meta.update(identity={}),
    }


@pytest.mark.parametrize("damage", _damaged())
def test_a_damaged_form_is_made_again(damage, user_files):
    upload = store_upload(DATA, "my.conll")
    loaded, path = load_upload(upload), user_files / upload.removeprefix("upload:") / "parsed.npz"
    arrays, meta = load_archive(path)
    _damaged()[damage](arrays, meta)
    save_archive(path, arrays, meta)
    assert load_parsed(path, {"upload": upload.removeprefix("upload:"), "format_source": None}) is None
    assert_same(load_upload(upload), loaded)
    assert load_parsed(path, {"upload": upload.removeprefix("upload:"), "format_source": None}) is not None


def test_a_form_with_any_byte_changed_gives_the_same_or_is_made_again(user_files):
    upload = store_upload(test_uploads.DATA, "my.conll")
    loaded, path = load_upload(upload), user_files / upload.removeprefix("upload:") / "parsed.npz"
    sound = path.read_bytes()
    for place in range(0, len(sound), 61):
        path.write_bytes(sound[:place] + bytes([sound[place] ^ 0x55]) + sound[place + 1 :])
        assert_same(load_upload(upload), loaded)
