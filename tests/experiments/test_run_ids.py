"""What a run's id depends on: its configuration, its data, versions, and the code that can change its numbers."""

import ast
import json
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from labseq_core.checks import LabSeqError
from labseq_core.data.bundled_corpora import bundled_corpora
from labseq_core.data.catalogue import CORPORA, Corpus, _load_once
from labseq_core.data.formats.registry import FORMATS
from labseq_core.data.sequences import Sequences
from labseq_core.data.uploads import store_upload
from labseq_core.evaluation.metric import Metric
from labseq_core.evaluation.registry import METRICS
from labseq_core.experiments import ExperimentConfig
from labseq_core.experiments.run.one_task import data_hash
from labseq_core.experiments.store import run_ids as identity
from labseq_core.experiments.store import sources
from labseq_core.experiments.store.run_ids import run_id_of
from labseq_core.experiments.store.sources import CORE, COUNTED, NOT_COUNTED, counted_files, sources_digest
from labseq_core.experiments.store.versions import versions
from labseq_core.features.registry import TEMPLATES, Template
from labseq_core.kernels import KERNELS
from labseq_core.learners.registry import METHODS
from labseq_core.losses import LOG, LOSSES
from labseq_core.places import datasets_directory
from tests.experiments.runs import quick
from tests.outside import Laplace, added

ROOMS = {"chain", "data", "evaluation", "features", "kernels", "learners", "losses", "scoring", "solvers"}
SINGLE_FILES = {
    "compiling/routines.py", "progress.py", "csv_text.py", "explain/confidence.py", "explain/sparsity.py",
    "experiments/plan/config.py", "experiments/plan/variant.py", "experiments/plan/tasks.py",
    "experiments/run/one_task.py",
    "experiments/run/live_accuracy.py", "experiments/results/predictions.py", "experiments/results/collecting.py",
}  # fmt: skip
LEFT_OUT = {
    "data/limits.py",
    "data/guarded_uploads.py",
    "learners/cost.py",
    "learners/plugins.py",
    "data/downloads.py",
    "data/public_corpora.py",
    "data/formats/writers.py",
}


def names(files) -> set[str]:
    return {path.relative_to(CORE).as_posix() for path in files}


@pytest.fixture(scope="module")
def copied(tmp_path_factory) -> Path:
    """The core somewhere else, to be edited."""
    place = tmp_path_factory.mktemp("tree") / "labseq_core"
    shutil.copytree(CORE, place, ignore=shutil.ignore_patterns("__pycache__", "_dashboard"))
    return place


@pytest.fixture
def edit(copied):
    """Edits a file; the file is as it was after the test."""
    before = {}

    def change(name: str, old: str, new: str) -> None:
        path = copied / name
        before.setdefault(path, path.read_text(encoding="utf-8"))
        text = path.read_text(encoding="utf-8")
        assert old in text, f"{name} has no {old!r}"
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    yield change
    for path, text in before.items():
        path.write_text(text, encoding="utf-8")


def test_the_files_that_count():
    assert set(COUNTED) == ROOMS | SINGLE_FILES
    in_rooms = {path for room in ROOMS for path in names((CORE / room).rglob("*.py"))}
    assert names(counted_files()) == (in_rooms | SINGLE_FILES) - LEFT_OUT
    for name in [*COUNTED, *NOT_COUNTED]:
        assert (CORE / name).exists(), f"{name} is listed and is not there"
    assert all(NOT_COUNTED.values()), "each exception has a reason"


def imported(path: Path) -> set[Path]:
    """The files of ours that a file imports, anywhere in it. A package stands for its `__init__`."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        modules = [node.module, *(f"{node.module}.{name.name}" for name in node.names)] if isinstance(
            node, ast.ImportFrom) else [name.name for name in node.names] if isinstance(node, ast.Import) else []  # fmt: skip
        for module in modules:
            place = CORE.parent.joinpath(*module.split("."))
            found |= {file for file in (place.with_suffix(".py"), place / "__init__.py") if file.is_file()}
    return {file for file in found if file.is_relative_to(CORE)}


def test_whatever_trains_and_scores_counts_or_has_a_reason_not_to():
    counted, waiting, seen = names(counted_files()), [CORE / "experiments/run/one_task.py"], set()
    waiting += [CORE / "learners/registry.py", CORE / "experiments/results/collecting.py"]
    while waiting:
        path = waiting.pop()
        name = path.relative_to(CORE).as_posix()
        if name in seen:
            continue
        seen.add(name)
        assert name in counted or name in NOT_COUNTED, (
            f"{name} is used in training or scoring: count it, or say why not"
        )
        if name in counted:
            waiting += imported(path)
    assert len(seen) > 100
    used_or_in_a_room = seen | {name for name in NOT_COUNTED if name.split("/")[0] in ROOMS}
    assert set(NOT_COUNTED) == used_or_in_a_room - counted, "an exception that nobody needs any more"


def test_comments_docstrings_and_layout_do_not_count(copied, edit):
    before = sources_digest(copied)
    assert before == sources_digest() == versions()["core"]
    edit("chain/inference.py", '"""', '"""Another docstring. ')
    edit("chain/inference.py", "\ndef ", "\n# A comment.\n\n\ndef ")
    edit("learners/crf.py", "class CRF(", "class CRF(  # why\n    ")
    assert sources_digest(copied) == before


def test_code_that_cannot_change_a_number_does_not_count(copied, edit):
    before = sources_digest(copied)
    others = sorted(names(CORE.rglob("*.py")) - names(counted_files()))
    others = [name for name in others if not name.startswith("_dashboard/")]
    rooms = {name.split("/")[0] for name in others}
    assert {"commands", "serving", "compiling", "warm_up", "cli.py"} <= rooms
    for name in others:
        path = copied / name
        text = path.read_text(encoding="utf-8")
        path.write_text(text + "\nEDITED = 1\n", encoding="utf-8")
        assert sources_digest(copied) == before, name
        path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("name", sorted(names(counted_files())))
def test_code_of_each_file_that_counts_does(name):
    source = (CORE / name).read_bytes()
    assert sources._code_of(source + b"\nEDITED = 1\n") != sources._code_of(source)
    assert sources._code_of(source + b"\n# edited\n'''edited'''\n") == sources._code_of(source)


def test_a_line_of_code_changes_the_digest(copied, edit):
    before = sources_digest(copied)
    edit("experiments/run/one_task.py", "N_EXAMPLES = 30", "N_EXAMPLES = 31")
    after = sources_digest(copied)
    assert after != before
    edit("experiments/run/one_task.py", "N_EXAMPLES = 31", "N_EXAMPLES = 30")
    assert sources_digest(copied) == before
    edit("solvers/smooth/lbfgs.py", "\nimport ", "\nimport sys\nimport ")
    assert sources_digest(copied) not in (before, after)


def test_pages_and_their_colours_are_not_even_read():
    assert not any("pages" in path.parts or "_dashboard" in path.parts for path in counted_files())


def test_the_digest_is_kept_and_made_again_where_that_is_nonsense(tmp_path, monkeypatch):
    known = sources_digest()
    monkeypatch.setenv("LABSEQ_CACHE_DIR", str(tmp_path))
    kept = tmp_path / "source-digests.json"
    assert sources_digest() == known
    written = kept.read_bytes()
    monkeypatch.setattr(sources, "_code_of", lambda source: 1 / 0)  # is not asked
    assert sources_digest() == known
    monkeypatch.undo()
    monkeypatch.setenv("LABSEQ_CACHE_DIR", str(tmp_path))
    for nonsense in (b"", b"[1, 2]", b"\xff\xfe", json.dumps(dict.fromkeys(json.loads(written), "no")).encode()):
        kept.write_bytes(nonsense)
        assert sources_digest() == known
    kept.unlink()
    kept.mkdir()  # nothing can be written there
    assert sources_digest() == known
    assert list(tmp_path.glob("*.part")) == []


def test_a_start_does_not_wait_for_the_digest():
    """Beside parsing everything, which it would take: kept, it is a matter of reading the files."""
    sources_digest()
    began = time.perf_counter()
    sources_digest()
    kept = time.perf_counter() - began
    began = time.perf_counter()
    for path in counted_files():
        sources._code_of(path.read_bytes())
    assert kept < (time.perf_counter() - began) / 3


def test_another_process_has_the_same_id():
    script = (
        "import json, sys\nfrom labseq_core.experiments import ExperimentConfig\n"
        "from labseq_core.experiments.store.run_ids import run_id_of\n"
        "print(run_id_of(ExperimentConfig.from_dict(json.loads(sys.argv[1]))))"
    )
    words = [sys.executable, "-c", script, json.dumps(quick().to_dict())]
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip() == run_id_of(quick())


def test_other_data_is_another_run(tmp_path, monkeypatch):
    config, before = quick(), run_id_of(quick())
    place = tmp_path / config.dataset
    shutil.copytree(datasets_directory() / config.dataset, place)
    monkeypatch.setitem(CORPORA._things, config.dataset, bundled_corpora(tmp_path)[0])
    identity.data_identity.cache_clear()
    assert run_id_of(config) == before, "where it lies does not matter"
    identity.data_identity.cache_clear()
    with (place / "train.conll").open("a", encoding="utf-8") as file:
        file.write("palabra O\n\n")
    after = run_id_of(config)
    identity.data_identity.cache_clear()
    assert after != before
    assert after.split("-")[0] == before.split("-")[0] == config.hash


def test_what_a_corpus_from_outside_draws_is_part_of_the_id(monkeypatch):
    def drawn(label: str) -> str:
        part = Sequences.from_lists([["a", "b"]], [["X", label]])
        monkeypatch.setitem(CORPORA._things, "drawn", Corpus("drawn", "Drawn", "token", lambda: (part,) * 3))
        for remembered in (identity.data_identity, data_hash, _load_once):
            remembered.cache_clear()
        return identity.data_identity("drawn")

    found = [drawn("X"), drawn("Y"), drawn("X")]
    identity.data_identity.cache_clear()
    assert found[0] == found[2] != found[1]


def test_a_corpus_that_is_not_there_is_told():
    with pytest.raises(LabSeqError, match="unknown dataset 'toy-poss'; did you mean toy-pos"):
        identity.data_identity("toy-poss")


def test_every_corpus_has_an_identity_without_being_fetched(monkeypatch):
    from labseq_core.data import catalogue, corpus, public_corpora

    for reader in (corpus, public_corpora):
        monkeypatch.setattr(reader, "read_verified", lambda *arguments: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        CORPORA["conll2000"].load()
    identity.data_identity.cache_clear()
    found = [identity.data_identity(info.name) for info in catalogue.list_datasets()]
    found.append(identity.data_identity("upload:" + "0" * 64))
    assert len(set(found)) == len(found)
    assert all(len(each) == 12 for each in found)
    assert run_id_of(ExperimentConfig.from_dict(quick().to_dict())) == run_id_of(quick())


PART = Sequences.from_lists([["a", "b"]], [["X", "Y"]])
USED = [  # a registry, a thing from outside, and what a run that uses it chooses
    (KERNELS, Laplace, {"methods": [{"method": "gps", "options": {"kernel": "2*laplace:3"}}]}),
    (KERNELS, Laplace, {"methods": [{"method": "gps", "search": {"kernel": ["linear", "normalized(laplace:3)"]}}]}),
    (TEMPLATES, Template("S3 + shape", "spelling"), {"features": {"template": "S3 + shape"}}),
    (TEMPLATES, Template("my.shape", "spelling"), {"features": "my.shape"}),
    (CORPORA, Corpus("drawn", "Drawn", "token", lambda: (PART,) * 3), {"dataset": "drawn"}),
    (LOSSES, replace(LOG, name="tempered"), {"methods": [{"method": "tempered"}]}),
]


@pytest.mark.parametrize(("registry", "thing", "chosen"), USED)
def test_the_source_of_what_a_run_uses_from_outside_is_among_its_versions(registry, thing, chosen):
    ordinary = {"dataset": "toy-pos", "methods": [{"method": "gps", "options": {"kernel": "poly:2"}}]}
    plain = versions(ordinary)
    with added(registry, thing) as name:
        tempered = replace(METHODS["crf"], id="tempered", title="T", preset={"loss": name})
        METHODS._things["tempered"] = tempered  # as it is taken in with its loss
        try:
            assert versions({**ordinary, **chosen}) == {**plain, f"{registry.noun} {name}": "123abc"}
        finally:
            del METHODS._things["tempered"]
        assert versions(ordinary) == plain, "one that does not use it keeps its id"
    assert versions({**ordinary, **chosen}) == plain, "what is not here is not among the versions here"


def test_a_kernel_that_is_a_default_and_a_metric_count_without_being_named():
    ordinary = {"dataset": "toy-pos", "methods": ["gps"]}
    plain = versions(ordinary)
    with added(METRICS, Metric("mine", "Mine", "what I count", of=len)):
        assert versions(ordinary) == {**plain, "metric mine": "123abc"}, "every run computes it"
    method = replace(METHODS["gps"], id="own", title="Own", preset={"kernel": Laplace(2.0)})
    with added(KERNELS, Laplace), added(METHODS, method):
        own = {"kernel laplace": "123abc", "method own": "123abc"}
        assert versions({**ordinary, "methods": ["own"]}) == {**plain, **own}


def test_the_reader_of_an_uploaded_file_counts(tmp_path, monkeypatch):
    monkeypatch.setenv("LABSEQ_STORE", str(tmp_path / "runs.sqlite"))
    with added(FORMATS, replace(FORMATS["conll"], name="mine", extensions=(".mine",))):
        dataset = store_upload(b"a X\n\nb Y\n\nc X\n", "my.mine")
        found = versions({"dataset": dataset, "methods": ["hmm"]})
    assert found == {**versions(), "file format mine": "123abc"}
