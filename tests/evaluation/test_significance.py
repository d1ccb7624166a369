from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from labseq_core.checks import LabSeqError
from labseq_core.evaluation import (
    METRICS,
    Metric,
    Ratio,
    SequenceCounts,
    compare_all,
    evaluate,
    holm,
    segment_scores,
    significance,
    standard_error,
    token_accuracy,
)
from tests.evaluation.strategies import BIO, labelling_pairs
from tests.outside import added
from tests.reference import significance as naive

TOLERANCE = 1e-12  # the same ratio of counts, rounded along another way
COMPARED = ("accuracy", "span_f1")
every_metric = pytest.mark.parametrize("metric", COMPARED)


def permutation_p(a: SequenceCounts, b: SequenceCounts, metric: str = "accuracy", **draws) -> float:
    (row,) = compare_all({"a": a, "b": b}, metric, **draws)
    return row["p"]


def bootstrap(a: SequenceCounts, b: SequenceCounts, metric: str = "accuracy", **draws) -> significance.Interval:
    (row,) = compare_all({"a": a, "b": b}, metric, **draws)
    return significance.Interval(row["difference"], row["low"], row["high"])


def counts_of(rows: naive.Rows) -> SequenceCounts:
    return SequenceCounts(*np.array(rows, dtype=np.int64).T)


@st.composite
def methods(draw, most_sequences=6, n_methods=2) -> list[naive.Rows]:
    """Counts of some methods on the same sequences; few values, so that ties are the rule. A sequence may lack spans."""
    rows = [[] for _ in range(n_methods)]
    for _ in range(draw(st.integers(1, most_sequences))):
        tokens, true = draw(st.integers(1, 3)), draw(st.integers(0, 3))
        for method in rows:
            predicted = draw(st.integers(0, 3))
            right = draw(st.integers(0, min(true, predicted)))
            method.append((tokens, draw(st.integers(0, tokens)), true, predicted, right))
    return rows


def random_methods(n_sequences: int, n_methods: int, seed: int, better: float = 0.0) -> list[naive.Rows]:
    """Larger ones; each method is right in a share of tokens that grows by `better` from method to method."""
    generator = np.random.default_rng(seed)
    tokens = generator.integers(1, 20, n_sequences)
    true = generator.binomial(tokens, 0.2)
    found = []
    for number in range(n_methods):
        predicted = np.maximum(true + generator.integers(-1, 2, n_sequences), 0)
        right = generator.binomial(np.minimum(true, predicted), 0.6 + better * number)
        correct = generator.binomial(tokens, 0.7 + better * number)
        found.append(list(zip(*(column.tolist() for column in (tokens, correct, true, predicted, right)))))
    return found


# Counts


def test_counts_by_hand():
    y_true = [["B-PER", "I-PER", "O", "B-LOC"], ["O"], ["B-LOC", "B-LOC"]]
    y_pred = [["B-PER", "I-PER", "O", "B-ORG"], ["B-PER"], ["B-LOC", "I-LOC"]]
    counts = SequenceCounts.of(y_true, y_pred)
    assert counts.tokens.tolist() == [4, 1, 2]
    assert counts.correct.tolist() == [3, 0, 1]
    assert counts.spans_true.tolist() == [2, 0, 2]
    assert counts.spans_predicted.tolist() == [2, 1, 1]
    assert counts.spans_right.tolist() == [1, 0, 0]
    assert (counts.accuracy, counts.span_f1) == (4 / 7, 2 / 8)
    assert len(counts) == 3


@given(pair=labelling_pairs(BIO))
def test_counts_are_those_of_each_sequence_alone(pair):
    counts = SequenceCounts.of(*pair)
    assert counts.accuracy == token_accuracy(*pair)
    assert counts.span_f1 == segment_scores(*pair).f1
    for number, (true, predicted) in enumerate(zip(*pair)):
        assert counts.tokens[number] == len(true)
        assert counts.correct[number] == sum(a == b for a, b in zip(true, predicted))
        alone = segment_scores([true], [predicted])
        found = (counts.spans_right[number], counts.spans_predicted[number], counts.spans_true[number])
        assert found == (alone.correct, alone.predicted, alone.true)


@given(pair=labelling_pairs((*BIO, "NN")), folds=st.integers(1, 4))
def test_folds_together_are_the_whole(pair, folds):
    y_true, y_pred = pair
    whole = SequenceCounts.of(y_true, y_pred)
    parts = [SequenceCounts.of(y_true[k::folds], y_pred[k::folds]) for k in range(min(folds, len(y_true)))]
    together = SequenceCounts.concatenate(parts)
    in_order = [number for k in range(folds) for number in range(k, len(y_true), folds)]
    for name, column in vars(whole).items():
        if column is None:
            assert getattr(together, name) is None
        else:
            assert getattr(together, name).tolist() == column[in_order].tolist()
            assert column.dtype == np.int64


def test_spans_where_the_report_has_them():
    for labels in (["NN", "O"], ["B-X", "NN"], ["B-X", "O"], ["S-X", "O"]):
        has_spans = evaluate([labels], [labels]).span_f1 is not None
        assert (SequenceCounts.of([labels], [labels]).spans_true is not None) is has_spans
    # A fold with nothing but O may stand beside others with spans.
    nothing, something = SequenceCounts.of([["O", "O"]], [["O", "O"]]), SequenceCounts.of([["B-X"]], [["B-X"]])
    assert SequenceCounts.concatenate([nothing, something]).spans_right.tolist() == [0, 1]
    assert SequenceCounts.concatenate([SequenceCounts.of([["NN"]], [["NN"]]), something]).spans_true is None


# Permutation


@every_metric
@given(pair=methods())
def test_few_sequences_are_enumerated(metric, pair):
    a, b = pair
    p = permutation_p(counts_of(a), counts_of(b), metric)
    assert p == pytest.approx(float(naive.exact_p(a, b, metric)), abs=TOLERANCE)
    assert p == permutation_p(counts_of(b), counts_of(a), metric)
    assert p == permutation_p(counts_of(a), counts_of(b), metric, rounds=1, seed=7)  # nothing is drawn


@every_metric
def test_drawn_swaps_as_by_loops(metric):
    a, b = random_methods(n_sequences=30, n_methods=2, seed=1, better=0.05)
    swaps = np.concatenate(list(significance._sign_blocks(30, 200, seed=5))) < 0
    p = permutation_p(counts_of(a), counts_of(b), metric, rounds=200, seed=5)
    assert p == pytest.approx(float(naive.drawn_p(a, b, metric, swaps.tolist())), abs=TOLERANCE)
    assert 0.01 < p < 0.99


@every_metric
def test_drawing_comes_near_enumeration(metric, monkeypatch):
    a, b = random_methods(n_sequences=12, n_methods=2, seed=3, better=0.1)
    exact = permutation_p(counts_of(a), counts_of(b), metric)
    assert exact == pytest.approx(float(naive.exact_p(a, b, metric)), abs=TOLERANCE)
    monkeypatch.setattr(significance, "EXACT_SWAPS", 0)
    rounds = 20_000
    drawn = permutation_p(counts_of(a), counts_of(b), metric, rounds=rounds)
    assert drawn != exact
    assert abs(drawn - exact) < 4 * np.sqrt(exact * (1 - exact) / rounds)


def test_agrees_with_scipy():
    for seed in range(5):
        a, b = (counts_of(rows) for rows in random_methods(n_sequences=11, n_methods=2, seed=seed, better=0.1))
        shares = a.correct / a.tokens.sum(), b.correct / a.tokens.sum()
        oracle = scipy.stats.permutation_test(
            shares, lambda one, other: np.sum(one) - np.sum(other), permutation_type="samples", n_resamples=np.inf
        )
        assert permutation_p(a, b) == pytest.approx(oracle.pvalue, abs=TOLERANCE)


@every_metric
@pytest.mark.parametrize("n_sequences", [1, 40])
def test_identical_predictions_differ_by_nothing(metric, n_sequences):
    (rows,) = random_methods(n_sequences, n_methods=1, seed=0)
    same = counts_of(rows)
    assert permutation_p(same, same, metric, rounds=50) == 1.0
    assert bootstrap(same, same, metric, rounds=50) == (0.0, 0.0, 0.0)


@every_metric
def test_different_errors_of_equal_weight_have_p_1(metric):
    """The difference is 0, which every swap reaches, also where swaps are drawn."""
    a = [(1, i % 2, 1, 1, i % 2) for i in range(40)]
    b = [(1, 1 - i % 2, 1, 1, 1 - i % 2) for i in range(40)]
    assert permutation_p(counts_of(a), counts_of(b), metric, rounds=100) == 1.0


@every_metric
def test_one_sequence_proves_nothing(metric):
    best, worst = counts_of([(9, 9, 3, 3, 3)]), counts_of([(9, 0, 3, 3, 0)])
    assert permutation_p(best, worst, metric) == 1.0
    assert bootstrap(best, worst, metric, rounds=10) == (1.0, 1.0, 1.0)


def test_the_smallest_p_is_one_over_the_rounds_and_one():
    a, b = counts_of([(2, 2, 0, 0, 0)] * 60), counts_of([(2, 0, 0, 0, 0)] * 60)
    assert permutation_p(a, b, rounds=99) == 0.01
    assert permutation_p(counts_of([(2, 2, 0, 0, 0)] * 10), counts_of([(2, 0, 0, 0, 0)] * 10)) == 2 / 2**10


@every_metric
def test_luck_is_called_significant_as_often_as_promised(metric):
    """Two methods that are equally good: p <= 0.05 in about 5 of 100 cases, p <= 0.5 in about half."""
    p = np.array(
        [
            permutation_p(*map(counts_of, random_methods(100, 2, seed)), metric, rounds=199, seed=1000 + seed)
            for seed in range(1000)
        ]
    )
    for level in (0.05, 0.5):
        spread = np.sqrt(level * (1 - level) / len(p))
        # Sums over swaps go in steps of two tokens: ties make the test a little more careful than its level.
        assert 0.9 * level - 3 * spread < np.mean(p <= level) < level + 3 * spread


def test_a_better_method_is_found():
    a, b = map(counts_of, random_methods(400, 2, seed=0, better=0.05))
    for metric in COMPARED:
        assert permutation_p(a, b, metric, rounds=999) <= 0.01
        assert bootstrap(a, b, metric, rounds=999).high < 0.0


# Bootstrap


@every_metric
@given(pair=methods())
def test_intervals_as_by_loops(metric, pair):
    a, b = pair
    weights = np.concatenate(list(significance._weight_blocks(len(a), 40, seed=3))).astype(np.int64)
    assert (weights.sum(axis=1) == len(a)).all()
    draws = [np.repeat(np.arange(len(a)), row).tolist() for row in weights]
    differences = naive.resampled_differences(a, b, metric, draws)
    found = bootstrap(counts_of(a), counts_of(b), metric, rounds=40, seed=3)
    assert found.difference == pytest.approx(float(naive.difference(a, b, metric)), abs=TOLERANCE)
    assert found[1:] == pytest.approx(tuple(np.quantile(differences, [0.025, 0.975])), abs=TOLERANCE)


@every_metric
def test_intervals_agree_with_scipy(metric):
    rows = random_methods(80, 2, seed=2, better=0.05)
    a, b = map(counts_of, rows)

    def difference(tokens, correct_a, correct_b, true, predicted_a, predicted_b, right_a, right_b):
        if metric == "accuracy":
            return (correct_a.sum() - correct_b.sum()) / tokens.sum()
        return 2 * right_a.sum() / (true + predicted_a).sum() - 2 * right_b.sum() / (true + predicted_b).sum()

    columns = (
        a.tokens, a.correct, b.correct, a.spans_true, a.spans_predicted, b.spans_predicted, a.spans_right, b.spans_right,
    )  # fmt: skip
    oracle = scipy.stats.bootstrap(
        columns, difference, paired=True, vectorized=False, method="percentile", n_resamples=4000, rng=0
    )
    ours = bootstrap(a, b, metric, rounds=20_000)
    # An end of the interval varies by about 2 % of its width from draw to draw.
    width = oracle.confidence_interval.high - oracle.confidence_interval.low
    assert ours.low == pytest.approx(oracle.confidence_interval.low, abs=0.05 * width)
    assert ours.high == pytest.approx(oracle.confidence_interval.high, abs=0.05 * width)
    assert ours.low < ours.difference < ours.high


def test_draws_of_sequences_are_uniform():
    weights = np.concatenate(list(significance._weight_blocks(5, 20_000, seed=0)))
    np.testing.assert_allclose(weights.mean(axis=0), 1.0, atol=0.03)
    np.testing.assert_allclose(weights.var(axis=0), 1.0 - 1 / 5, atol=0.04)
    signs = np.concatenate(list(significance._sign_blocks(70, 5000, seed=0)))
    assert set(np.unique(signs)) == {-1.0, 1.0}
    assert np.abs(signs.mean(axis=0)).max() < 0.06
    assert np.abs(np.corrcoef(signs.T) - np.eye(70)).max() < 0.08  # no sequence follows another


# Holm


@pytest.mark.parametrize(
    ("given_p", "corrected"),
    [
        # 4 · 0.005, 3 · 0.01, 2 · 0.03, and 0.04 is lifted to the one before.
        ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]),
        ([0.5, 0.6], [1.0, 1.0]),
        ([0.02], [0.02]),
        ([0.01, 0.01, 0.01], [0.03, 0.03, 0.03]),
        ([0.0, 1.0], [0.0, 1.0]),
        ([], []),
    ],
)
def test_holm_by_hand(given_p, corrected):
    assert holm(given_p).tolist() == pytest.approx(corrected, abs=TOLERANCE)


@given(
    p_values=st.lists(st.sampled_from([0.0, 0.001, 0.01, 0.013, 0.02, 0.3, 0.5, 1.0]) | st.floats(0, 1), max_size=12)
)
def test_holm_as_by_loops(p_values):
    corrected = holm(p_values)
    assert corrected.tolist() == pytest.approx(naive.holm(p_values), abs=TOLERANCE)
    # What Holm rejects: step down from the smallest and stop at the first p > level / (tests left).
    for level in (0.01, 0.05):
        rejected, left = set(), len(p_values)
        for number in np.argsort(p_values, kind="stable").tolist():
            if p_values[number] * left > level:
                break
            rejected.add(number)
            left -= 1
        assert set(np.flatnonzero(corrected <= level).tolist()) == rejected


# All pairs


@every_metric
def test_all_pairs_are_those_of_two_at_a_time(metric):
    rows = {f"m{number}": counts_of(one) for number, one in enumerate(random_methods(120, 4, seed=8, better=0.05))}
    rows["m0 again"] = rows["m0"]
    found = compare_all(rows, metric, rounds=300, seed=2)
    names = list(rows)
    assert [(row["method_a"], row["method_b"]) for row in found] == [
        (a, b) for place, a in enumerate(names) for b in names[place + 1 :]
    ]
    for row in found:
        a, b = rows[row["method_a"]], rows[row["method_b"]]
        assert row["p"] == permutation_p(a, b, metric, rounds=300, seed=2)
        interval = bootstrap(a, b, metric, rounds=300, seed=2)
        assert (row["difference"], row["low"], row["high"]) == interval
        assert row["difference"] == pytest.approx(getattr(a, metric) - getattr(b, metric), abs=TOLERANCE)
        assert row["significant"] is (row["p_holm"] <= 0.05)
        assert {type(row[name]) for name in ("difference", "low", "high", "p", "p_holm")} == {float}
    assert [row["p_holm"] for row in found] == holm([row["p"] for row in found]).tolist()
    assert {row["significant"] for row in found} == {True, False}


@every_metric
@pytest.mark.parametrize("cells", [1, 100, 1000])
def test_blocks_do_not_change_a_bit(metric, cells, monkeypatch):
    rows = {str(number): counts_of(one) for number, one in enumerate(random_methods(45, 3, seed=9))}
    before = compare_all(rows, metric, rounds=150, seed=4)
    assert before != compare_all(rows, metric, rounds=150, seed=5)
    monkeypatch.setattr(significance, "BLOCK_CELLS", cells)
    assert compare_all(rows, metric, rounds=150, seed=4) == before


def test_one_method_has_no_pair():
    assert compare_all({"a": counts_of([(1, 1, 0, 0, 0)])}) == []


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: SequenceCounts.of([], []), "nothing to evaluate"),
        (lambda: SequenceCounts.concatenate([]), "parts is empty"),
        (lambda: compare_all({}), "no method to compare"),
        (lambda: compare_all({"a": SequenceCounts(np.array([]), np.array([]))}), "the counts of a are empty"),
        (lambda: compare("accuracy", [(1, 1, 0, 0, 0)], [(2, 1, 0, 0, 0)]), "a and b have other sequences"),
        (lambda: compare("accuracy", [(1, 1, 0, 0, 0)], [(1, 1, 0, 0, 0)] * 2), r"other sequences \(1 and 2\)"),
        (lambda: compare("span_f1", [(1, 1, 1, 0, 0)], [(1, 1, 0, 0, 0)]), "a and b have other sizes in span_f1"),
        (lambda: compare("f1", [(1, 1, 0, 0, 0)], [(1, 1, 0, 0, 0)]), "choose from accuracy, span_f1"),
        (lambda: compare("accuracy", [(1, 1, 0, 0, 0)], [(1, 1, 0, 0, 0)], rounds=0), "rounds is 0; give a whole number"),
        (lambda: compare("accuracy", [(1, 1, 0, 0, 0)], [(1, 1, 0, 0, 0)], seed=-1), "seed is -1"),
        (lambda: compare_all({"pos": SequenceCounts.of([["NN"]], [["NN"]])}, "span_f1"), "pos has no span_f1"),
        (lambda: holm([0.5, np.nan]), "between 0 and 1"),
        (lambda: holm([[0.5]]), "flat list"),
    ],
)  # fmt: skip
def test_bad_input_is_named(call, message):
    with pytest.raises(LabSeqError, match=message):
        call()


def compare(metric, a, b, **options):
    return compare_all({"a": counts_of(a), "b": counts_of(b)}, metric, **options)


def test_any_ratio_of_counts_can_be_tested(monkeypatch):
    """Share of sequences without an error: its standard error is that of a mean of zeros and ones."""

    def whole(counts):
        return Ratio((counts.correct == counts.tokens).astype(np.int64), np.ones(len(counts), dtype=np.int64))

    metric = Metric("whole", "Whole", "sequences without an error", ratio=whole)
    monkeypatch.setitem(METRICS._things, "whole", metric)
    truth = [["a", "b"], ["a"], ["b"], ["b", "b"]]
    good = SequenceCounts.of(truth, [["a", "b"], ["a"], ["b"], ["a", "b"]])
    bad = SequenceCounts.of(truth, [["b"] * len(row) for row in truth])
    right = np.array([1.0, 1.0, 1.0, 0.0])
    assert standard_error(good, "whole") == pytest.approx(right.std(ddof=1) / 2.0)
    (row,) = compare_all({"good": good, "bad": bad}, "whole", rounds=50)
    assert row["difference"] == pytest.approx(0.75 - 0.5)


def test_a_ratio_need_not_be_of_whole_numbers():
    """The same accuracies in units of 10,000 tokens: the same differences, intervals and p values."""
    unit = 1e-4
    metric = Metric("scaled", "Scaled", "in other units",
                    ratio=lambda counts: Ratio(unit * counts.correct, unit * counts.tokens))  # fmt: skip
    rows = {name: counts_of(rows) for name, rows in zip("abc", random_methods(20, 3, seed=1, better=0.1))}
    with added(METRICS, metric):
        scaled = compare_all(rows, "scaled", rounds=200)
    for found, expected in zip(scaled, compare_all(rows, "accuracy", rounds=200)):
        assert found["difference"] != 0.0
        assert [found[name] for name in ("difference", "low", "high", "p")] == pytest.approx(
            [expected[name] for name in ("difference", "low", "high", "p")], rel=1e-9
        )


def test_methods_that_are_measured_against_other_sizes_are_not_compared():
    metric = Metric("own", "Own", "of its own", ratio=lambda counts: Ratio(counts.correct, counts.correct + 1))
    with added(METRICS, metric), pytest.raises(LabSeqError, match="a and b have other sizes in own"):
        compare("own", [(2, 1, 0, 0, 0)], [(2, 2, 0, 0, 0)])
