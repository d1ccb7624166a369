"""Observations given labels, against counting in loops and scikit-learn's three kinds of naive Bayes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB

from labseq_core import FeatureTemplate, LabSeqError
from labseq_core.archives import LoadedArrays
from labseq_core.data.alphabet import Alphabet
from labseq_core.features import encode_attributes
from labseq_core.features.encoded import EncodedSequences
from labseq_core.scoring import column_counts as module
from labseq_core.scoring.column_counts import ColumnModel
from tests.reference import toy
from tests.reference.column_model import CountedColumns

LOG_PROBABILITY = {"rtol": 1e-10, "atol": 1e-10}
NO_PRIOR = {"class_prior": None, "fit_prior": False}
NAMES = [
    "word=a", "word=b", "word=c", "word[-1]=a", "word[-1]=b", "last[+2]=n", "last[+2]=", "cap", "cap[+1]", "cap+dot=10",
    "cap+dot=11", "length", "length[-1]", "vector=1", "vector=2", "word", "",
]  # fmt: skip
NUMBERS = st.sampled_from([1.0, 1.0, 1.0, -2.0, 0.25, 30.0])
TOKENS = st.dictionaries(st.sampled_from(NAMES), NUMBERS, max_size=9)


def learned(X, Y, k) -> tuple[ColumnModel, EncodedSequences]:
    encoded, alphabet = encode_attributes(X), Alphabet.of(label for y in Y for label in y)
    return ColumnModel.learn(encoded, alphabet.encode([label for y in Y for label in y]), len(alphabet), k), encoded


def assert_counted(model: ColumnModel, encoded: EncodedSequences, counted: CountedColumns, X) -> None:
    found = model.scores(encode_attributes(X, encoded.vocabulary))
    expected = [[counted.log_prob(x, t, label) for label in counted.labels] for x in X for t in range(len(x))]
    np.testing.assert_allclose(found, expected, **LOG_PROBABILITY)


@given(st.data(), st.sampled_from([1e-3, 0.1, 1.0, 7.0]))
def test_scores_equal_counting_in_loops(data, k):
    sequences = st.lists(st.lists(TOKENS, min_size=1, max_size=4), min_size=1, max_size=5)
    X = data.draw(sequences)
    Y = [data.draw(st.lists(st.sampled_from("ABC"), min_size=len(x), max_size=len(x))) for x in X]
    model, encoded = learned(X, Y, k)
    assert_counted(model, encoded, CountedColumns(X, Y, k), [*X, *data.draw(sequences)])


@pytest.mark.parametrize("template", ["S1", "S2", "S3", "POS"])
@pytest.mark.parametrize("joint", [False, True])
def test_templates(template, joint):
    X, Y = toy.corpus(seed=1)
    made = FeatureTemplate(template, joint=joint)
    as_dicts = [[dict.fromkeys(names, 1.0) for names in x] for x in made.encode(X).attributes()]
    model, encoded = learned(as_dicts, Y, 0.1)
    new = [["uno", "Nueva.", "dos"], ["Otra"]]
    new_dicts = [[dict.fromkeys(names, 1.0) for names in x] for x in made.encode(new).attributes()]
    assert_counted(model, encoded, CountedColumns(as_dicts, Y, 0.1), [*as_dicts, *new_dicts])
    # The same by the template, with and without the names that training did not know.
    by_dicts = model.scores(encode_attributes(new_dicts, encoded.vocabulary))
    np.testing.assert_array_equal(model.scores(made.encode(new, encoded.vocabulary)), by_dicts)


def test_outcomes_of_each_column_add_up_to_one():
    X, Y = toy.corpus(seed=2)
    encoded = FeatureTemplate("S3").encode(X)
    labels = Alphabet(["A", "B", "C"]).encode([label for y in Y for label in y])
    model = ColumnModel.learn(encoded, labels, 3, 0.3)
    sums = np.exp(model.missing_log_prob)
    np.add.at(sums, model.columns.of_attribute, np.exp(model.value_log_prob))
    np.testing.assert_allclose(sums, 1.0, rtol=1e-12)


def test_unknown_and_missing_values_by_hand():
    model, encoded = learned(
        [[["word=a", "shape=x"], ["word=b"], ["word=a", "cap"]]], [["A", "A", "B"]], k=1.0
    )  # fmt: skip

    def probability(*names) -> list[float]:
        return np.exp(model.scores(encode_attributes([[list(names)]], encoded.vocabulary)))[0].tolist()

    # word: a, b or unknown; shape: x or missing; cap: there or missing. A has two tokens, B one.
    assert probability("word=a", "shape=x", "cap") == pytest.approx([2 / 5 * 2 / 4 * 1 / 4, 2 / 4 * 1 / 3 * 2 / 3])
    assert probability("word=a") == pytest.approx([2 / 5 * 2 / 4 * 3 / 4, 2 / 4 * 2 / 3 * 1 / 3])
    unknown = [1 / 5 * 2 / 4 * 3 / 4, 1 / 4 * 2 / 3 * 1 / 3]
    assert probability("word=new") == probability("word=other", "shape=new", "digit") == pytest.approx(unknown)


def test_a_neighbour_that_is_not_there_is_no_observation():
    X = [[["word=a", "word[+1]=b", "cap[+1]"], ["word=b", "word[-1]=a"]], [["word=a"]]]
    model, encoded = learned(X, [["A", "B"], ["A"]], k=1.0)

    def probability(x) -> list[list[float]]:
        return np.exp(model.scores(encode_attributes(x, encoded.vocabulary))).tolist()

    # A alone has looked to the right, once, and B to the left.
    assert probability([[["word=a"]]]) == [pytest.approx([3 / 5, 1 / 4])]
    first, last = probability([[["word=a", "word[+1]=new"], ["word=a", "word[-1]=a"]]])
    assert first == pytest.approx([3 / 5 * 1 / 3 * 1 / 3, 1 / 4 * 1 / 2 * 1 / 2])
    assert last == pytest.approx([3 / 5 * 1 / 2, 1 / 4 * 2 / 3])


@pytest.mark.parametrize("k", [1e-2, 0.5, 3.0])
def test_values_as_in_scikit_learn(k):
    rng = np.random.default_rng(3)
    cells, labels = rng.integers(0, 4, (60, 3)), rng.integers(0, 3, 60)
    cells[:4] = np.arange(4)[:, np.newaxis]  # each value occurs
    X = [[{f"c{c}": str(value) for c, value in enumerate(row)}] for row in cells]
    model, encoded = learned(X, [["ABC"[label]] for label in labels], k)
    oracle = CategoricalNB(alpha=k, min_categories=5, **NO_PRIOR).fit(cells, labels)  # the fifth is the unknown one
    test = rng.integers(0, 5, (40, 3))
    names = [[{f"c{c}": "new" if value == 4 else str(value) for c, value in enumerate(row)}] for row in test]
    expected = oracle.predict_joint_log_proba(test) + np.log(3)
    np.testing.assert_allclose(model.scores(encode_attributes(names, encoded.vocabulary)), expected, **LOG_PROBABILITY)


@pytest.mark.parametrize("k", [1e-2, 0.5, 3.0])
def test_bare_names_as_in_scikit_learn(k):
    rng = np.random.default_rng(4)
    flags, labels = rng.integers(0, 2, (50, 6)), rng.integers(0, 3, 50)
    X = [[[f"flag{c}" for c in np.flatnonzero(row)]] for row in flags]
    model, encoded = learned(X, [["ABC"[label]] for label in labels], k)
    expected = BernoulliNB(alpha=k, **NO_PRIOR).fit(flags, labels).predict_joint_log_proba(flags) + np.log(3)
    np.testing.assert_allclose(model.scores(encoded), expected, **LOG_PROBABILITY)


@pytest.mark.parametrize(("factor", "shift"), [(1.0, 0.0), (1e150, 0.0), (1e-150, 0.0), (1.0, 1e9)])
def test_numbers_as_in_scikit_learn(factor, shift):
    """The Gaussian part is GaussianNB's; being there is BernoulliNB's. scikit-learn sees the numbers in friendly units."""
    rng = np.random.default_rng(5)
    labels = np.repeat([0, 1, 2], [20, 30, 10])
    numbers = rng.normal(labels[:, np.newaxis] - 1.0, 1.0 + labels[:, np.newaxis], (60, 4))
    k = 1e-9
    X = [[{f"n{c}": value * factor + shift for c, value in enumerate(row)}] for row in numbers]
    model, encoded = learned(X, [["ABC"[label]] for label in labels], k)
    gaussian = GaussianNB(priors=[1 / 3] * 3, var_smoothing=0.0).fit(numbers, labels).predict_joint_log_proba(numbers)
    there = BernoulliNB(alpha=k, **NO_PRIOR).fit(np.ones((60, 4)), labels).predict_joint_log_proba(np.ones((60, 4)))
    expected = gaussian + there + 2 * np.log(3) - 4 * np.log(factor)
    rounding = 1e-6  # of numbers near 1e9, and k observations that scikit-learn does not add
    np.testing.assert_allclose(model.scores(encoded), expected, rtol=rounding, atol=rounding)


def test_numbers_that_never_change_are_names():
    X = [[{"bias": 0.5, "word": "a"}, {"word": "b"}], [{"bias": 0.5, "word": "a"}]]
    Y = [["A", "B"], ["B"]]
    names = [[{"bias": True, "word": "a"}, {"word": "b"}], [{"bias": True, "word": "a"}]]
    one, encoded = learned(X, Y, 0.1)
    other, _ = learned(names, Y, 0.1)
    assert one.gaussians.attributes.size == 0
    np.testing.assert_array_equal(one.scores(encoded), other.scores(encode_attributes(names)))


def test_a_label_without_the_number_has_the_density_of_all():
    model, encoded = learned([[{"n": 1.5}, {"n": 2.5}, {"w": "a"}]], [["A", "A", "B"]], 0.1)
    mean, deviation = model.gaussians.mean[0], model.gaussians.deviation[0]
    assert mean.tolist() == [0.0, 0.0]
    np.testing.assert_allclose(deviation * model.gaussians.scale[0], 0.5, rtol=1e-12)
    assert np.isfinite(model.scores(encoded)).all()


def test_a_label_with_a_single_number_is_not_certain_of_it():
    """The variance has a floor: 1e-9 of that of all labels together."""
    k = 1e-9
    model, _ = learned([[{"n": -1.5}, {"n": 1.5}, *({"n": 2.5},) * 99]], [["A", "A", *"B" * 99]], k)
    everything = np.array([-1.5, 1.5, *[2.5] * 99])
    floor = np.sqrt(module.VARIANCE_FLOOR * everything.var())
    np.testing.assert_allclose(model.gaussians.deviation[0, 1] * model.gaussians.scale[0], floor, rtol=1e-9)


def test_numbers_beyond_all_measure_are_refused():
    with pytest.raises(LabSeqError, match=r"attribute 'n' has the value 1.7e.308; give a finite number between"):
        learned([[{"n": 1.7e308}, {"n": 1.6e308}]], [["A", "B"]], 0.1)
    model, encoded = learned([[{"m": 1.0, "n": 1.0}, {"m": 2.0, "n": 1e-300}]], [["A", "B"]], 0.1)
    assert np.isfinite(model.scores(encode_attributes([[{"n": 1e99}]], encoded.vocabulary))).all()
    with pytest.raises(LabSeqError, match="X: the numbers of attribute 'n' are too large to compare; scale them"):
        model.scores(encode_attributes([[{"n": -1e105}]], encoded.vocabulary))


def test_observations_without_any_attribute():
    model, encoded = learned([[[], []]], [["A", "B"]], 0.1)
    np.testing.assert_array_equal(model.scores(encoded), np.zeros((2, 2)))
    assert model.scores(encode_attributes([], encoded.vocabulary)).shape == (0, 2)


def test_compiled_and_plain_agree():
    encoded = encode_attributes([[["w=a", "w=b", "c", "w[-1]=a"], ["w=a", "w[-1]=a", "w[-1]=b"]], [["c", "c[+1]"]]])
    columns = module.Columns.of(encoded.vocabulary.names, np.zeros(encoded.n_attributes, dtype=np.bool_))
    arguments = (encoded.indptr, columns.of_attribute[encoded.indices], columns.offset, encoded.offsets)
    plain = module._is_extra.py_func(*arguments)
    np.testing.assert_array_equal(module._is_extra(*arguments), plain)
    assert plain.tolist() == [False, True, False, True, False, False, True, False, True]


def test_saved_arrays_give_the_model_back():
    X = [[{"w": "a", "n": 2.0}, {"w": "b", "n": 3.5, "c[-1]": True}], [{"w": "b"}]]
    model, encoded = learned(X, [["A", "B"], ["A"]], 0.1)
    again = ColumnModel.restore(LoadedArrays(model.arrays()), encoded.vocabulary.names, 2)
    np.testing.assert_array_equal(again.scores(encoded), model.scores(encoded))
