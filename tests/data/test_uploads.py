from __future__ import annotations

import gzip
import json
from dataclasses import replace

import pytest

from labseq_core.checks import LabSeqError
from labseq_core.data.catalogue import dataset_info, load_dataset, store_upload
from labseq_core.data.formats.registry import FORMATS, DataError
from labseq_core.data.limits import MAX_UPLOAD_MEGABYTES
from labseq_core.data.uploads import load_upload
from tests.outside import added

DATA = b"".join(b"w%d N B-X\nv O O\n\n" % number for number in range(20))


@pytest.fixture(autouse=True)
def user_files(tmp_path, monkeypatch):
    monkeypatch.setenv("LABSEQ_STORE", str(tmp_path / "runs.sqlite"))
    return tmp_path


def test_upload_comes_back_as_a_dataset():
    upload = store_upload(DATA, "folder/my.conll", columns=["pos"])
    dataset = load_dataset(upload)
    assert dataset.name == upload
    assert dataset.title == "my.conll"
    assert dataset.task == "segment"
    assert [len(part) for part in (dataset.train, dataset.dev, dataset.test)] == [16, 2, 2]
    words = {token for part in (dataset.train, dataset.dev, dataset.test) for token in part.flat_tokens}
    assert words == {f"w{number}" for number in range(20)} | {"v"}
    assert dataset.train.columns["pos"][0] == ["N", "O"]
    info = dataset_info(upload)
    assert (info.available, info.bundled, info.n_labels) == (True, False, 2)


def test_same_file_and_options_give_the_same_id_and_are_stored_once(user_files):
    first = store_upload(DATA, "a.conll")
    assert store_upload(DATA, "b.conll") == first
    assert len(list((user_files / "uploads").iterdir())) == 1


def test_other_options_give_another_id():
    first, second = store_upload(DATA, "a.conll"), store_upload(DATA, "a.conll", label_column=1)
    assert first != second
    assert load_dataset(first).labels == ["B-X", "O"]
    assert load_dataset(second).labels == ["N", "O"]
    assert load_dataset(second).task == "token"


def test_the_split_is_as_asked_for_and_part_of_the_id(user_files):
    usual = store_upload(DATA, "a.conll")
    assert store_upload(DATA, "a.conll", shares=(80, 10, 10), split_seed=0) == usual
    other_seed = store_upload(DATA, "a.conll", split_seed=7)
    in_order = store_upload(DATA, "a.conll", shares=(50, 25, 25), split_seed=None)
    assert len({usual, other_seed, in_order}) == 3
    kept = load_dataset(in_order)
    parts = [[row[0] for row in part.tokens] for part in (kept.train, kept.dev, kept.test)]
    assert list(map(len, parts)) == [10, 5, 5]
    assert [word for part in parts for word in part] == [f"w{number}" for number in range(20)]
    assert kept.description == "An uploaded file, split 50/25/25 in the order of the file."
    assert load_dataset(other_seed).test.tokens != load_dataset(usual).test.tokens
    assert load_dataset(other_seed).description.endswith("80/10/10 at random with seed 7.")
    about = user_files / "uploads" / in_order.removeprefix("upload:") / "about.json"
    about.write_text(about.read_text().replace("50", "60").replace("25", "20"))
    with pytest.raises(LabSeqError, match="no longer stored"):
        load_upload(in_order)


@pytest.mark.parametrize("shares", [(80, 20), (90, 0, 10), (80, 10, 20), (110, -20, 10)])
def test_shares_that_leave_a_part_empty_are_refused(shares):
    with pytest.raises(LabSeqError, match="sum to 100"):
        store_upload(DATA, "a.conll", shares=shares)


def test_name_decides_the_format_for_good():
    data = b"sequence,token,label\n1,a,X\n2,b,X\n3,c,Y\n"
    assert load_dataset(store_upload(data, "a.csv")).labels == ["X", "Y"]


def test_bad_files_are_refused_before_they_are_stored(user_files):
    cases = [
        (b"a O\nb\n\nc O\n", {}, "line 2"),
        (b"a O\n\nb O\n", {}, "2 sequences, too few"),
        (b"a O\nb O\n", {}, "1 sequence, too few"),
        (b"a O\n\nb O\n\nc O\n", {"label_column": None}, "no labels"),
    ]
    for data, options, part in cases:
        with pytest.raises(DataError) as caught:
            store_upload(data, "bad.conll", **options)
        assert str(caught.value).startswith("bad.conll")
        assert part in str(caught.value)
    assert not (user_files / "uploads").exists()


def test_three_sequences_are_enough():
    dataset = load_dataset(store_upload(b"a O\n\nb O\n\nc O\n", "x.conll"))
    assert [len(part) for part in (dataset.train, dataset.dev, dataset.test)] == [1, 1, 1]


def test_unknown_upload_must_be_uploaded_again():
    with pytest.raises(LabSeqError, match="upload it again"):
        load_dataset("upload:" + "0" * 64)


@pytest.mark.parametrize(
    "name",
    ["upload:", "upload:../../etc", "upload:" + "0" * 63 + "/", "upload:" + "A" * 64, "upload:" + "0" * 64 + "\n"],
)
def test_ids_cannot_point_elsewhere(name):
    with pytest.raises(LabSeqError, match="not the id of an upload"):
        load_dataset(name)


def test_changed_files_are_not_used(user_files):
    upload = store_upload(DATA, "a.conll")
    folder = user_files / "uploads" / upload.removeprefix("upload:")
    for file, contents in [("data", DATA + b"x O\n"), ("about.json", b"{}"), ("about.json", b"[")]:
        before = (folder / file).read_bytes()
        (folder / file).write_bytes(contents)
        with pytest.raises(LabSeqError, match="upload it again"):
            load_upload(upload)
        assert store_upload(DATA, "a.conll") == upload
        assert (folder / file).read_bytes() == before
    assert json.loads((folder / "about.json").read_text())["file"] == "a.conll"
    assert load_upload(upload).labels == ["B-X", "O"]


def test_unwritable_place_is_named(tmp_path, monkeypatch):
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("LABSEQ_STORE", str(tmp_path / "file" / "runs.sqlite"))
    with pytest.raises(LabSeqError, match="LABSEQ_STORE") as caught:
        store_upload(DATA, "a.conll")
    assert str(tmp_path) not in str(caught.value)


def test_names_of_files_are_short_and_turn_no_line_around():
    data = b"a O\n\nb O\n\nc O\n"
    names = {
        "/etc/\u202edwssap\u200b.conll": "dwssap.conll", "..\\..\\up.conll": "up.conll", "\0\n.conll": ".conll",
        "\u202e": "data",
        "n" * 5000 + ".conll": "n" * 60 + "…" + "n" * 54 + ".conll",
    }  # fmt: skip
    for number, (name, shown) in enumerate(names.items()):
        assert load_dataset(store_upload(data + b"\nx O\n" * number, name)).title == shown


def test_a_file_that_unpacks_to_more_than_may_be_uploaded_is_refused(user_files):
    small = b"word O\n" * 1000 + b"\n"
    packed = gzip.compress(small * (1 + (MAX_UPLOAD_MEGABYTES << 20) // len(small)))
    assert len(packed) < 1 << 20
    with pytest.raises(
        DataError, match=f"large.conll.gz: the file unpacks to more than {MAX_UPLOAD_MEGABYTES} MB; split it"
    ):
        store_upload(packed, "large.conll.gz")
    with pytest.raises(DataError, match=f"larger than {MAX_UPLOAD_MEGABYTES} MB; split it"):
        store_upload(b"\n" * ((MAX_UPLOAD_MEGABYTES << 20) + 1), "large.conll")
    assert not (user_files / "uploads").exists()


def test_an_id_keeps_its_split_whatever_the_usual_one_becomes(monkeypatch):
    usual = store_upload(DATA, "a.conll")
    monkeypatch.setattr("labseq_core.data.uploads.SHARES", (60, 20, 20))
    assert [len(part) for part in (load_upload(usual).train, load_upload(usual).test)] == [16, 2]
    assert store_upload(DATA, "a.conll", shares=(60, 20, 20)) != usual
    assert store_upload(DATA, "a.conll", shares=(80, 10, 10)) == usual


def test_an_upload_in_a_format_from_outside_says_which_file_it_needs():
    with added(FORMATS, replace(FORMATS["conll"], name="mine", extensions=(".mine",))):
        upload = store_upload(DATA, "a.mine")
        assert load_upload(upload).labels == ["B-X", "O"]
    with pytest.raises(LabSeqError, match=r"a\.mine is in the file format mine of own\.py; start with --with own\.py"):
        load_upload(upload)
