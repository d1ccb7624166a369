"""What comes from outside: from files and from installed packages; and models that need it."""

from __future__ import annotations

import os
import sys
from dataclasses import replace

import pytest

from labseq_core.archives import load_archive, save_archive
from labseq_core.checks import LabSeqError
from labseq_core.data.catalogue import load_dataset
from labseq_core.features import TEMPLATES, FeatureTemplate, Template
from labseq_core.kernels import KERNELS
from labseq_core.learners import CRF, GPSC, HMM, load_model
from labseq_core.learners.options import KERNEL
from labseq_core.learners.plugins import outside_learners
from labseq_core.learners.registry import METHODS, Method, _take_in
from labseq_core.losses import LOG, LOSSES
from labseq_core.registry import Source
from labseq_core.worker_processes import WITH_VARIABLE
from tests.outside import OWN, Laplace, added

LEARNERS = """
from dataclasses import replace
from labseq_core.learners import CRF
from labseq_core.losses import LOG, LOSSES

class Base(CRF):
    pass

class Mine(Base):
    method_id, title, summary, where = "mine", "Mine", "Mine.", "here"

LOSSES.add(replace(LOG, name="mine"))
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """An installed package with an entry point, as Python sees it."""
    about = tmp_path / "mypackage-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: mypackage\nVersion: 1.0\n", encoding="utf-8")
    (about / "entry_points.txt").write_text("[labseq.methods]\nmine = mypackage.methods\n", encoding="utf-8")
    folder = tmp_path / "mypackage"
    folder.mkdir()
    (folder / "__init__.py").write_text("", encoding="utf-8")
    (folder / "methods.py").write_text(LEARNERS, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delenv(WITH_VARIABLE, raising=False)
    yield folder
    forget()


def forget():
    for name in [name for name in sys.modules if name.startswith("mypackage")]:
        del sys.modules[name]
    LOSSES._things.pop("mine", None)
    LOSSES._sources.pop("mine", None)


def test_a_package_is_loaded_like_a_file(package, tmp_path, monkeypatch):
    mine = list(outside_learners())
    assert [learner.method_id for learner, _ in mine] == ["mine"], "a base class without an id of its own is no method"
    learner, source = mine[0]
    assert source == learner.source == LOSSES.source_of("mine") == Source("mypackage.methods", source.hash)

    forget()
    (package / "other.py").write_text("x = 1\n", encoding="utf-8")
    assert next(outside_learners())[1].hash != source.hash, "all files of a package count"

    forget()
    (package.parent / "mypackage-1.0.dist-info" / "entry_points.txt").unlink()
    file = tmp_path / "own.py"
    file.write_text(LEARNERS, encoding="utf-8")
    monkeypatch.setenv(WITH_VARIABLE, os.fspath(file))
    ((loaded, source),) = outside_learners()
    assert loaded.source == LOSSES.source_of("mine") == source == Source("own.py", source.hash)


def test_a_package_that_cannot_be_imported_is_named(package):
    (package / "methods.py").write_text("import nosuchmodule\n", encoding="utf-8")
    with pytest.raises(LabSeqError, match=r"mypackage\.methods cannot be loaded: ModuleNotFoundError: No module named"):
        list(outside_learners())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"title": "CRF"}, "title 'CRF' already"),
        ({"id": "crf"}, "a method 'crf' already"),
        ({"learner": type("HMM", (CRF,), {})}, "class name 'HMM' already"),
    ],
)
def test_who_brings_a_method_that_is_there_already_is_named(change, said):
    method = replace(Method.of(type("Mine", (CRF,), {})), **{"id": "mine", "title": "Mine", **change})
    with pytest.raises(LabSeqError, match=f"own.py: .*{said}"):
        _take_in(method, OWN)
    assert "mine" not in METHODS


def test_the_help_of_a_kernel_names_those_that_there_are():
    assert KERNEL.about.startswith("How alike two observations are. linear: what they share; poly: ")
    with added(KERNELS, Laplace):
        assert KERNEL.about.endswith("; laplace: by distance, with heavy tails.")
    assert "laplace" not in KERNEL.about


class Mine(HMM):
    method_id, title = "mine", "Mine"
    source = OWN


@pytest.mark.parametrize(
    ("registry", "thing", "learner", "template", "said"),
    [
        (KERNELS, Laplace, GPSC(kernel=2.0 * Laplace(2.0)), "S1", "kernel laplace"),
        (LOSSES, replace(LOG, name="tempered"), CRF(loss="tempered"), "S1", "loss tempered"),
        (TEMPLATES, Template("S1 + shape", "shapes"), HMM(), "S1 + shape", "feature template S1 \\+ shape"),
        (METHODS, Method.of(Mine), Mine(), "S1", "method Mine"),
    ],
)
def test_a_model_says_which_file_it_needs(registry, thing, learner, template, said, tmp_path):
    data, path = load_dataset("toy-pos").train.select(range(5)), tmp_path / "m.npz"
    with added(registry, thing):
        learner.fit(FeatureTemplate(template).encode(data), data.labels).save(path)
        assert load_model(path).predict(data) == learner.predict(data)
    with pytest.raises(
        LabSeqError, match=f"m.npz cannot be loaded: it needs the {said} of own.py; start with --with own.py"
    ):
        load_model(path)


def test_a_model_of_an_earlier_version_and_a_strangers_say_what_is_not_here(tmp_path):
    data, path = load_dataset("toy-pos").train.select(range(5)), tmp_path / "m.npz"
    with added(KERNELS, Laplace):
        GPSC(kernel=Laplace()).fit(data).save(path)
    arrays, meta = load_archive(path)
    save_archive(path, arrays, {name: value for name, value in meta.items() if name != "outside"})
    with pytest.raises(LabSeqError, match="there is no kernel 'laplace'; choose from linear"):
        load_model(path)
    save_archive(path, arrays, {**meta, "outside": {}, "learner": "Nobody"})
    with pytest.raises(LabSeqError, match=r"holds a Nobody, .* or start with --with and the file that defines it"):
        load_model(path)
    for odd in ([], {"kernel": 1}, {"a\nb": "c"}, {"a": "b" * 200}):
        save_archive(path, arrays, {**meta, "outside": odd})
        with pytest.raises(LabSeqError, match="outside is no list of files"):
            load_model(path)
