"""Saving and loading: the same model comes back, and nothing but a model is taken for one."""

import json
import pickle
import zipfile
from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest

from labseq_core import CRF, FeatureTemplate, LabSeqError, StructuredPerceptron, load_model
from labseq_core.archives import LoadedArrays, load_archive, save_archive
from labseq_core.data.alphabet import Alphabet
from labseq_core.data.sequences import Sequences
from labseq_core.learners import METHODS, make_learner
from labseq_core.scoring.kernel_expansion import restored_observations
from tests.outside import added
from tests.reference import toy

X, Y = toy.corpus(seed=40)
every_method = pytest.mark.parametrize("method", METHODS)


def assert_same_model(one, other, data=X) -> None:
    assert type(one) is type(other)
    assert one.get_params() == other.get_params()
    assert one.classes_ == other.classes_
    assert one.predict(data) == other.predict(data)
    for a, b in zip(one.potentials(data), other.potentials(data), strict=True):
        for name in ("start", "node", "edge", "stop"):
            np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


@every_method
def test_the_same_model_comes_back(method, tmp_path):
    model = make_learner(method).fit(FeatureTemplate("S3", joint=True).encode(X), Y)
    model.save(tmp_path / "modelo ñ.npz")
    loaded = load_model(str(tmp_path / "modelo ñ.npz"))
    assert_same_model(model, loaded, [*X, ["nunca", "visto"]])
    assert loaded.score(X, Y) == model.score(X, Y)
    assert loaded.history_.equals(model.history_)
    assert loaded.template_.get_params() == model.template_.get_params()
    assert [path.name for path in tmp_path.iterdir()] == ["modelo ñ.npz"]
    # A loaded model can be saved, and trained again.
    loaded.save(tmp_path / "again.npz")
    assert_same_model(model, load_model(tmp_path / "again.npz"))
    assert_same_model(loaded.fit(X, Y), make_learner(method).fit(X, Y))


@every_method
def test_models_without_a_template_and_with_odd_names(method, tmp_path):
    odd = [["", " ", "a=b", "日本", "👍", '"', "\\", "\x00"]]
    model = make_learner(method).fit(odd, [["A", "b c", "A", "é", "A", '"', "\\", "A"]])
    model.save(tmp_path / "m")
    assert_same_model(model, load_model(tmp_path / "m"), odd)


@every_method
def test_learned_bins_are_saved(method, tmp_path):
    lengths = [[float(len(word)) for word in x] for x in X]
    data = Sequences.from_lists(X, Y, {"length": lengths})
    model = make_learner(method).fit(FeatureTemplate("prosody", bins=4).encode(data), Y)
    model.save(tmp_path / "m.npz")
    assert_same_model(model, load_model(tmp_path / "m.npz"), data.select([2, 0]))


def test_start_and_stop_weights_are_saved(tmp_path):
    model = CRF(start_stop=True, max_iter=5).fit(X, Y)
    model.save(tmp_path / "m.npz")
    assert np.any(load_model(tmp_path / "m.npz").potentials(X)[0].start)
    assert_same_model(model, load_model(tmp_path / "m.npz"))


def test_options_of_numpy_are_saved_as_plain_ones(tmp_path):
    model = StructuredPerceptron(epochs=np.int64(2), averaged=np.bool_(False)).fit(X, Y)
    model.save(tmp_path / "m.npz")
    params = load_model(tmp_path / "m.npz").get_params()
    assert params["epochs"] == 2
    assert type(params["epochs"]) is int
    assert params["averaged"] is False


class Counting(CRF):
    """With facts and a history of numpy's numbers, as a solver may well have them."""

    facts: ClassVar = {**CRF.facts, "n_effective_": float, "n_seen_": int}

    def _learn(self, encoded, labels, dev, recorder):
        super()._learn(encoded, labels, dev, recorder)
        self.n_effective_, self.n_seen_ = np.float64(3.7), np.int64(len(labels))
        recorder.record(np.int64(1), np.float32(0.5), 1.0, step=np.float64(0.25))


def test_facts_and_history_of_numpy_are_saved_as_plain_ones(tmp_path):
    model = Counting(max_iter=2).fit(X, Y)
    model.save(tmp_path / "m.npz")
    with added(METHODS, replace(METHODS["crf"], id="counting", learner=Counting)):
        loaded = load_model(tmp_path / "m.npz")
    assert (loaded.n_effective_, loaded.n_seen_) == (3.7, sum(map(len, Y)))
    assert type(loaded.n_seen_) is int
    assert loaded.history_.equals(model.history_)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [("n_seen_", 3.5, "no count"), ("n_seen_", -1, "no count"), ("n_effective_", "x", "no number"),
     ("stop_reason_", None, "no text"), ("converged_", 1, "no yes or no"), ("n_seen_", np.ones(2), "no count")],
)  # fmt: skip
def test_a_fact_of_another_kind_is_named_when_it_is_saved(name, value, said, tmp_path):
    model = Counting(max_iter=2).fit(X, Y)
    setattr(model, name, value)
    with pytest.raises(LabSeqError, match=f"{name} is .*, which is {said}"):
        model.save(tmp_path / "m.npz")


def test_a_model_file_holds_no_pickle_and_no_path(tmp_path):
    CRF(max_iter=2).fit(X, Y).save(tmp_path / "m.npz")
    with zipfile.ZipFile(tmp_path / "m.npz") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    assert all(content.startswith(b"\x93NUMPY") and b"'|O'" not in content[:128] for content in members.values())
    assert str(tmp_path).encode() not in b"".join(members.values())


def test_an_unfitted_model_cannot_be_saved(tmp_path):
    with pytest.raises(LabSeqError, match="not fitted yet"):
        CRF().save(tmp_path / "m.npz")
    assert list(tmp_path.iterdir()) == []


def test_places_that_cannot_be_written(tmp_path):
    model = CRF(max_iter=1).fit(X, Y)
    (tmp_path / "folder").mkdir()
    for place in (tmp_path / "missing" / "m.npz", tmp_path / "folder"):
        with pytest.raises(LabSeqError, match=f"cannot write {place.name}: .*choose a place") as caught:
            model.save(place)
        assert str(tmp_path) not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def foreign_files() -> dict[str, bytes]:
    return {
        "empty": b"",
        "text": b"word label\n",
        "pickle": pickle.dumps({"weights": 1}),
        "zip without an end": b"PK\x03\x04" + b"\0" * 40,
    }


@pytest.mark.parametrize("kind", foreign_files())
def test_foreign_files(kind, tmp_path):
    (tmp_path / "file").write_bytes(foreign_files()[kind])
    with pytest.raises(LabSeqError) as caught:
        load_model(tmp_path / "file")
    assert str(caught.value) == "file is not a LabSeq model file, or it is damaged; train and save the model again"


def test_other_arrays_are_not_models(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros(3))
    np.savez(tmp_path / "b.npz", weights=np.zeros(3))
    np.savez(tmp_path / "c.npz", meta=np.frombuffer(b"[1, 2]", dtype=np.uint8))
    np.savez(tmp_path / "d.npz", meta=np.frombuffer(b"{not json", dtype=np.uint8))
    np.savez(tmp_path / "e.npz", meta=np.array([{"a": 1}], dtype=object))
    (tmp_path / "f.npz").mkdir()
    for path in sorted(tmp_path.iterdir()):
        with pytest.raises(LabSeqError, match=f"{path.name} is not a LabSeq model file") as caught:
            load_model(path)
        assert str(tmp_path) not in str(caught.value)


def test_a_missing_file(tmp_path):
    with pytest.raises(LabSeqError) as caught:
        load_model(tmp_path / "nowhere" / "m.npz")
    assert str(caught.value) == "there is no file m.npz; check the name of the model file"


def test_other_versions_and_other_learners(tmp_path):
    path = tmp_path / "m.npz"
    save_archive(path, {}, {"learner": "Transformer"})
    with pytest.raises(LabSeqError, match=r"m.npz holds a Transformer, which this version does not know"):
        load_model(path)
    np.savez(path, meta=np.frombuffer(json.dumps({"labseq_format": 99}).encode(), dtype=np.uint8))
    with pytest.raises(LabSeqError, match=r"m.npz has format 99, this version reads 1"):
        load_model(path)


def test_an_array_that_nobody_takes_is_refused(tmp_path):
    CRF(max_iter=2).fit(X, Y).save(tmp_path / "m.npz")
    arrays, meta = load_archive(tmp_path / "m.npz")
    save_archive(tmp_path / "m.npz", {**arrays, "more": np.zeros(2)}, meta)
    with pytest.raises(LabSeqError, match=r"m.npz is no whole CRF: 'more' is no part of such a model; train and save"):
        load_model(tmp_path / "m.npz")


def test_a_name_that_no_file_can_hold_is_named_when_it_is_saved(tmp_path):
    model = CRF(max_iter=2).fit([["half", "\ud800"]], [["A", "B"]])
    with pytest.raises(
        LabSeqError, match=r"cannot write m.npz: a name has '\\ud800', which is no character; replace it"
    ):
        model.save(tmp_path / "m.npz")
    assert list(tmp_path.iterdir()) == []


ODD_TEMPLATES = [
    ("template", {"window": 2}), ("template", {"name": ["S3"]}), ("template", {"columns": [1]}), ("template", {"more": 1}),
    *[("coder", {key: value}) for key in ("columns", "numeric") for value in ([1], ["length", "length"], "length", None)],
    ("coder", {"numeric": ["other"]}),
    *[("coder", {"bin_edges": edges}) for edges in (
        {"length": [[1.0], [2.0]]}, {"length": ["x"]}, {"length": [2.0, 1.0]}, {"length": [float("nan")]},
        {"length": 1.0}, {"other": [1.0]}, [1.0], None)],
    *[("coder", {key: counts}) for key in ("word_counts", "pair_counts") for counts in (
        {"a": "x"}, {"a": 0}, {"a": 1.5}, {"a": True}, {"a": 10**400}, [1], None)],
]  # fmt: skip


def test_an_altered_template_is_refused_before_it_is_used(tmp_path):
    path = tmp_path / "m.npz"
    data = Sequences.from_lists(X, Y, {"length": [[float(len(word)) for word in x] for x in X]})
    make_learner("hmm").fit(FeatureTemplate("prosody", bins=4).encode(data), Y).save(path)
    arrays, meta = load_archive(path)
    template, coder = meta["template"], meta["template"]["coder"]
    for part, odd in ODD_TEMPLATES:
        altered = {**template, **odd} if part == "template" else {**template, "coder": {**coder, **odd}}
        save_archive(path, arrays, {**meta, "template": altered})
        with pytest.raises(LabSeqError, match=r"m.npz (is no whole|lacks parts)"):
            pytest.fail(f"{part}, {odd}: {load_model(path)}")
    save_archive(path, arrays, meta)
    load_model(path).predict(data)


def test_to_look_for_an_array_is_not_to_take_it():
    loaded = LoadedArrays({"weights": np.zeros(2)})
    assert "weights" in loaded
    with pytest.raises(LabSeqError, match="'weights' is no part of such a model"):
        loaded.require_all_taken()


def test_pointers_that_fall_or_leave_their_array_are_refused():
    for pointers in ([1, 2], [0, 3, 2], [], [0, 9]):
        arrays = {"support_indptr": np.array(pointers, dtype=np.int64), "support_indices": np.zeros(2, dtype=np.int32)}
        with pytest.raises(LabSeqError, match=r"does not rise from 0|does not fit the rest"):
            restored_observations(LoadedArrays({**arrays, "support_values": np.zeros(0)}), Alphabet(["a"]))


@every_method
def test_archives_with_missing_parts(method, tmp_path):
    path = tmp_path / "m.npz"
    make_learner(method).fit(X, Y).save(path)
    with np.load(path) as stored:
        arrays = {name: stored[name] for name in stored.files}
    meta = json.loads(arrays.pop("meta").tobytes())
    for part in ("params", "classes", "attributes", "template", "history", "facts"):
        save_archive(path, arrays, {key: value for key, value in meta.items() if key != part})
        with pytest.raises(LabSeqError, match=r"m.npz lacks parts of"):
            load_model(path)
    for name in arrays:
        save_archive(path, {key: array for key, array in arrays.items() if key != name}, meta)
        with pytest.raises(LabSeqError, match=r"m.npz is no whole"):
            load_model(path)
    save_archive(path, arrays, meta)
    load_model(path)


def test_damaged_files_are_refused_or_harmless(tmp_path):
    """One altered byte or a cut: an error, or, where the byte does not matter, the very same model."""
    model = CRF(max_iter=3).fit(X, Y)
    path = tmp_path / "m.npz"
    model.save(path)
    whole, rng, errors = path.read_bytes(), np.random.default_rng(0), []
    for number in range(200):
        altered = bytearray(whole)
        altered[rng.integers(len(altered))] ^= int(rng.integers(1, 256))
        path.write_bytes(altered[: rng.integers(len(altered))] if number % 4 == 0 else altered)
        try:
            assert_same_model(model, load_model(path))
        except LabSeqError as error:
            errors.append(str(error))
    assert len(errors) > 100
    assert not any(str(tmp_path) in error for error in errors)


def test_a_loaded_crf_still_knows_how_its_fit_ended(tmp_path):
    tokens, labels = toy.corpus(seed=1)
    learner = CRF(max_iter=7, tol=0.0).fit(tokens, labels, dev=(tokens, labels))
    learner.save(tmp_path / "model.npz")
    again = load_model(tmp_path / "model.npz")
    for name in CRF.facts:
        assert getattr(again, name) == getattr(learner, name)
    assert again.n_iter_ == 7
    assert again.history_["dev_accuracy"].dropna().iloc[-1] == learner.score(tokens, labels)
