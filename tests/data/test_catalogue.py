from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from labseq_core.checks import LabSeqError
from labseq_core.data import catalogue
from labseq_core.data.bundled_corpora import bundled_corpora, bundled_corpus
from labseq_core.data.catalogue import CORPORA, Corpus, dataset_info, fetch_dataset, list_datasets, load_dataset
from labseq_core.data.sequences import Sequences
from labseq_core.places import datasets_directory

PUBLIC = ["conll2002-es", "conll2000", "treebank-sample", "prosody", "ud-english-ewt", "wnut17", "ocr-letters", "cb513"]
BUNDLED = [info.name for info in list_datasets() if info.bundled]


def make_bundled(folder: Path, **changes) -> None:
    folder.mkdir(parents=True)
    about = {"title": "Toy", "task": "token", "description": "Made up.", "licence": "MIT", "citation": "none"}
    about |= {"columns": ["token", "pos", "weight", "label"]} | changes
    (folder / "about.json").write_text(json.dumps({key: value for key, value in about.items() if value is not None}))
    for part in ("train", "dev", "test"):
        (folder / f"{part}.conll").write_text(f"{part} N 0.5 X\nb V NA Y\n\n")


def test_bundled_corpora_are_discovered(tmp_path):
    make_bundled(tmp_path / "toy")
    (tmp_path / "defaults").mkdir()
    (toy,) = bundled_corpora(tmp_path)
    assert (toy.name, toy.title, toy.bundled, toy.available, toy.licence) == ("toy", "Toy", True, True, "MIT")
    dataset = toy.dataset()
    assert [part.flat_tokens[0] for part in (dataset.train, dataset.dev, dataset.test)] == ["train", "dev", "test"]
    assert dataset.labels == ["X", "Y"]
    assert dataset.train.flat_columns["pos"] == ["N", "V"]
    assert dataset.train.flat_columns["weight"][0] == 0.5
    assert (dataset.title, dataset.citation, dataset.task) == ("Toy", "none", "token")


def test_fetching_a_bundled_corpus_is_done_at_once(tmp_path):
    make_bundled(tmp_path / "toy")
    seen = []
    bundled_corpora(tmp_path)[0].fetch(lambda *step: seen.append(step))
    assert seen == [(1.0, "toy is at hand")]


def test_incomplete_description_is_named(tmp_path):
    make_bundled(tmp_path / "toy", licence=None)
    with pytest.raises(LabSeqError, match=r"datasets/toy/about\.json has no licence"):
        bundled_corpus(tmp_path / "toy")
    (tmp_path / "toy" / "about.json").write_text("[")
    with pytest.raises(LabSeqError, match="not a JSON object"):
        bundled_corpus(tmp_path / "toy")
    for number, columns in enumerate((5, ["token"], ["token", 1], "token label")):
        make_bundled(tmp_path / f"columns{number}", columns=columns)
        with pytest.raises(LabSeqError, match=r"columns are .*; list the names, from token to label"):
            bundled_corpus(tmp_path / f"columns{number}")
    make_bundled(tmp_path / "parts")
    (tmp_path / "parts" / "train.conll").unlink()
    with pytest.raises(LabSeqError, match=r"datasets/parts has no train\.conll; add what is missing"):
        bundled_corpus(tmp_path / "parts")


def test_a_broken_folder_is_left_out_and_told_when_it_is_asked_for(tmp_path, monkeypatch):
    make_bundled(tmp_path / "toy")
    make_bundled(tmp_path / "broken", task="tokens")
    assert [corpus.name for corpus in bundled_corpora(tmp_path)] == ["toy"]
    monkeypatch.setattr(catalogue, "datasets_directory", lambda: tmp_path)
    with pytest.raises(LabSeqError, match="corpus broken: task is 'tokens'"):
        load_dataset("broken")


def test_the_eight_public_corpora_are_known():
    public = [info for info in list_datasets() if not info.bundled]
    assert [info.name for info in public] == PUBLIC
    for info in public:
        assert info.licence
        assert info.citation
        assert info.description
        assert info.task in ("token", "segment")
        assert dataset_info(info.name) == info


@pytest.mark.parametrize("ask", [load_dataset, dataset_info, fetch_dataset])
def test_unknown_names_lead_to_the_closest(ask):
    with pytest.raises(LabSeqError, match=r"unknown dataset 'conl2000'; did you mean conll2000"):
        ask("conl2000")
    with pytest.raises(LabSeqError, match=r"known are .*cb513"):
        ask("zzzzzz")


@pytest.mark.parametrize("name", ["../secret", ".", "", "/elsewhere"])
def test_names_cannot_point_elsewhere(name):
    with pytest.raises(LabSeqError, match="unknown dataset"):
        load_dataset(name)


def test_a_second_load_is_the_same_object(tmp_path, monkeypatch):
    from labseq_core.data.catalogue import store_upload

    monkeypatch.setenv("LABSEQ_STORE", str(tmp_path / "one" / "runs.sqlite"))
    upload = store_upload(b"a X\n\nb X\n\nc X\n", "x.conll")
    assert load_dataset(upload) is load_dataset(upload)
    monkeypatch.setenv("LABSEQ_STORE", str(tmp_path / "two" / "runs.sqlite"))
    with pytest.raises(LabSeqError, match="upload it again"):
        load_dataset(upload)


def test_the_source_tree_has_its_datasets_folder():
    assert datasets_directory().name == "datasets"
    assert datasets_directory().is_dir()


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_corpora_load_fast(name):
    begin = time.process_time()
    dataset = CORPORA[name].dataset()
    assert time.process_time() - begin < 0.3
    for part in (dataset.train, dataset.dev, dataset.test):
        assert len(part) >= 1
    assert len(dataset.labels) >= 2
    assert dataset.licence


def test_a_corpus_gives_three_labelled_parts_or_is_refused():
    part, plain = Sequences.from_lists([["a"]], [["X"]]), Sequences.from_lists([["a"]])
    for parts in ((part, part), (part, part, plain), ([["a"]],) * 3):
        with pytest.raises(LabSeqError, match="the corpus toy must load three labelled Sequences"):
            Corpus("toy", "Toy", "token", lambda parts=parts: parts).dataset()
    with pytest.raises(LabSeqError, match="corpus toy: task is 'tagging'; choose from 'token', 'segment'"):
        Corpus("toy", "Toy", "tagging", lambda: (part,) * 3)
