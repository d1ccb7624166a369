"""Synthetic corpora: the posterior is exact, the truth cannot be beaten, the bundled files are what the generator makes."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import product
from random import Random

import numpy as np
import pytest

from labseq_core import CRF, FeatureTemplate, load_dataset
from labseq_core.checks import LabSeqError
from labseq_core.data.sequences import Sequences
from labseq_core.data.synthetic.emissions import Choice
from labseq_core.data.synthetic.hidden_chain import TOKEN, HiddenChain
from labseq_core.data.synthetic.registry import (
    GENERATORS,
    PARTS,
    bayes_accuracy,
    bayes_labels,
    bayes_posterior,
    generate,
    write_bundled,
)
from labseq_core.places import datasets_directory

NAMES = list(GENERATORS)
SAMPLE = 1500  # sentences
POSTERIOR_TOLERANCE = 1e-9
LARGEST_Z = 4.5  # a right posterior exceeds it once in 150 000 statistics
SMALLEST_Z_OF_A_GAIN = 4.5

every_corpus = pytest.mark.parametrize("name", NAMES)


@cache
def large_sample(name: str) -> Sequences:
    return GENERATORS[name].draw(SAMPLE, Random("a large sample"))


@cache
def large_posterior(name: str) -> np.ndarray:
    return np.vstack(bayes_posterior(name, large_sample(name)))


def gold_indicators(name: str, sequences: Sequences) -> np.ndarray:
    return np.array(sequences.flat_labels)[:, None] == np.array(GENERATORS[name].labels)


def z_of_sentence_sums(differences: np.ndarray, sequences: Sequences, least_variance: float = 0.0) -> np.ndarray:
    """Standardised total of per-token differences whose mean should be 0; sentences, not tokens, are independent."""
    sums = np.add.reduceat(differences, sequences.offsets[:-1], axis=0)
    return sums.sum(axis=0) / np.sqrt(np.maximum((sums**2).sum(axis=0), least_variance))


def accuracy_of(posterior: np.ndarray, gold: np.ndarray) -> float:
    return float(gold[np.arange(len(gold)), posterior.argmax(axis=1)].mean())


def enumerated_labellings(chain: HiddenChain, visible: dict[str, list]) -> Counter[tuple[str, ...]]:
    """P(labelling | visible values): a sum over all state paths of positive probability, walked one by one."""
    tokens, n_states = visible[TOKEN], len(chain.state_labels)
    masses: Counter[tuple[str, ...]] = Counter()

    def seen(position: int, state: int) -> float:
        factors = (emissions[state].log_prob(visible[name][position], tokens[position]) for name, emissions in columns)
        return math.exp(sum(factors))

    def walk(path: list[int], mass: float) -> None:
        if len(path) == len(tokens):
            masses[tuple(chain.state_labels[state] for state in path)] += mass * chain.stop[path[-1]]
            return
        for state in range(n_states):
            move = chain.transition[path[-1], state] if path else chain.start[state]
            if move > 0 and (probability := likelihood[len(path)][state]) > 0:
                walk([*path, state], mass * move * probability)

    columns = list(chain.emissions.items())
    likelihood = [[seen(position, state) for state in range(n_states)] for position in range(len(tokens))]
    walk([], 1.0)
    return Counter({labels: mass / masses.total() for labels, mass in masses.items()})


def enumerated_posterior(chain: HiddenChain, masses: Counter[tuple[str, ...]]) -> np.ndarray:
    """P(label of a position | visible values), from the probabilities of all labellings."""
    labels, length = sorted(set(chain.state_labels)), len(next(iter(masses)))
    return np.array(
        [[sum(mass for own, mass in masses.items() if own[t] == label) for label in labels] for t in range(length)]
    )


@every_corpus
def test_posterior_and_best_labelling_are_those_of_all_state_paths(name):
    sample = large_sample(name)
    longest = 4 if name == "parity" else 7  # every state of parity can follow every other: 8^l paths
    short = [number for number, length in enumerate(sample.lengths) if length <= longest][:12]
    assert len({len(sample.tokens[number]) for number in short}) > 1
    chosen = sample.select(short)
    best = bayes_labels(name, chosen, "viterbi")
    for number, rows in enumerate(bayes_posterior(name, chosen)):
        columns = {column: values[number] for column, values in chosen.columns.items()}
        masses = enumerated_labellings(GENERATORS[name].chain, {TOKEN: chosen.tokens[number], **columns})
        expected = enumerated_posterior(GENERATORS[name].chain, masses)
        np.testing.assert_allclose(rows, expected, rtol=0, atol=POSTERIOR_TOLERANCE)
        assert masses[tuple(best[number])] == pytest.approx(max(masses.values()), abs=POSTERIOR_TOLERANCE)


def test_the_best_labelling_is_not_that_of_the_best_path_of_states():
    """Two states carry A: each path through one of them is less probable than that through B, both together are not."""
    emissions = {TOKEN: [Choice("x") for _ in range(3)]}
    transition = np.array([[0.0, 0.0, 0.0]] * 3)
    chain = HiddenChain(["A", "A", "B"], np.array([0.3, 0.3, 0.4]), transition, np.ones(3), emissions)
    assert chain.best_labellings(Sequences.from_lists([["x"], ["x"]])) == [["A"], ["A"]]


def test_whole_sentences_and_single_labels_are_different_questions():
    sample = large_sample("pitch-accent").select(range(300))
    by_label, as_a_whole = (bayes_labels("pitch-accent", sample, decode) for decode in ("posterior", "viterbi"))
    assert by_label != as_a_whole
    # Each wins what it is made for; over 300 sentences only if nothing is wrong with it.
    right = [sum(a == b for a, b in zip(labels, sample.labels)) for labels in (by_label, as_a_whole)]
    assert right[1] > right[0]
    with pytest.raises(LabSeqError, match="decode is 'best'; choose from viterbi, posterior"):
        bayes_labels("pitch-accent", sample, "best")


@every_corpus
def test_posterior_rows_are_distributions_over_the_sorted_labels(name):
    dataset = generate(name, seed=3, sizes=(40, 5, 5))
    rows = bayes_posterior(name, dataset.train)
    assert [row.shape for row in rows] == [(length, len(GENERATORS[name].labels)) for length in dataset.train.lengths]
    np.testing.assert_allclose(np.vstack(rows).sum(axis=1), 1, rtol=0, atol=POSTERIOR_TOLERANCE)
    assert np.vstack(rows).min() >= 0
    labels = GENERATORS[name].labels
    assert labels == sorted(labels)
    assert bayes_labels(name, dataset.train) == [[labels[best] for best in row.argmax(axis=1)] for row in rows]


@every_corpus
def test_each_label_is_as_frequent_as_the_posterior_says(name):
    """In all tokens, and among tokens of like posterior."""
    sample, posterior = large_sample(name), large_posterior(name)
    for low, high in ((0, 1), (0, 0.1), (0.1, 0.3), (0.3, 0.7), (0.7, 0.9), (0.9, 1)):
        inside = (posterior >= low) & (posterior <= high + POSTERIOR_TOLERANCE)
        differences = (gold_indicators(name, sample) - posterior) * inside
        # Events too rare to have been seen leave no variance in the sample: one token is the unit of their counts.
        z = z_of_sentence_sums(differences, sample, least_variance=1.0)
        assert np.abs(z).max() < LARGEST_Z, (low, high)


@every_corpus
def test_posterior_is_calibrated_where_it_decides(name):
    """P(the best label is right) = its posterior, also separately for the first, the last and the inner positions."""
    sample, posterior = large_sample(name), large_posterior(name)
    z = z_of_decisions(name, sample, posterior)
    assert np.abs(z).max() < LARGEST_Z
    too_sure = posterior**3 / (posterior**3).sum(axis=1, keepdims=True)
    assert np.abs(z_of_decisions(name, sample, too_sure)).max() > SMALLEST_Z_OF_A_GAIN  # the test can fail


def z_of_decisions(name: str, sample: Sequences, posterior: np.ndarray) -> np.ndarray:
    best = posterior.argmax(axis=1)
    tokens = np.arange(sample.n_tokens)
    right = gold_indicators(name, sample)[tokens, best]
    first, last = np.isin(tokens, sample.offsets[:-1]), np.isin(tokens, sample.offsets[1:] - 1)
    chosen = np.column_stack([np.ones_like(first), first, last, ~(first | last)])
    differences = (right - posterior[tokens, best])[:, None] * chosen
    return z_of_sentence_sums(differences, sample, least_variance=1.0)


def without_context(chain: HiddenChain) -> HiddenChain:
    """The same states as often as before, each independent of its neighbours."""
    visits = np.linalg.solve(np.eye(len(chain.start)) - chain.transition.T, chain.start)
    share = visits / visits.sum()
    end = np.full(len(share), 1 / visits.sum())
    return replace(chain, start=share, transition=np.outer(1 - end, share), stop=end)


def without_column(chain: HiddenChain, name: str) -> HiddenChain:
    return replace(chain, emissions={key: row for key, row in chain.emissions.items() if key != name})


# What is taken away from the truth, where it must cost accuracy.
INFORMATIVE = [
    ("pitch-accent", TOKEN), ("pitch-accent", "log_duration"), ("pitch-accent", "transcribed_phones"),
    ("spanish-ner", TOKEN), ("toy-pos", TOKEN),
    ("parity", "upper_switch"), ("parity", "sensor"), ("parity", "wiring"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "column"), [*INFORMATIVE, *((name, None) for name in NAMES)])
def test_a_model_that_ignores_something_is_worse(name, column):
    truth, sample = GENERATORS[name].chain, large_sample(name)
    poorer = without_context(truth) if column is None else without_column(truth, column)
    best, worse = large_posterior(name), np.vstack(poorer.posterior(sample))
    gold = gold_indicators(name, sample)
    assert accuracy_of(worse, gold) < accuracy_of(best, gold)
    with np.errstate(divide="ignore"):
        log_gain = np.maximum(np.log(best[gold]), -50) - np.maximum(np.log(worse[gold]), -50)
    assert z_of_sentence_sums(log_gain, sample) > SMALLEST_Z_OF_A_GAIN


@every_corpus
def test_bayes_accuracy_beats_the_majority_label(name):
    sample = large_sample(name)
    majority = max(Counter(sample.flat_labels).values()) / sample.n_tokens
    assert majority + 0.15 < accuracy_of(large_posterior(name), gold_indicators(name, sample)) < 1


@every_corpus
def test_bayes_accuracy_is_the_share_of_right_bayes_labels(name):
    part = large_sample(name).select(range(60))
    right = [ours == gold for best, row in zip(bayes_labels(name, part), part.labels) for ours, gold in zip(best, row)]
    assert bayes_accuracy(name, part) == sum(right) / len(right)


def test_pitch_accent_is_as_hard_as_the_real_task():
    sample = large_sample("pitch-accent")
    assert 6.5 < sample.lengths.mean() < 7.5
    assert 0.58 < sample.flat_labels.count("N") / sample.n_tokens < 0.64
    assert 0.78 < bayes_accuracy("pitch-accent", sample) < 0.84


def test_parity_hides_the_label_from_every_single_attribute():
    """2 N times the mutual information is chi-squared: 7 degrees of freedom at most here, mean 7, variance 14."""
    sample = large_sample("parity")
    attributes = {TOKEN: sample.flat_tokens, **sample.flat_columns}
    largest_single = (7 + LARGEST_Z * math.sqrt(14)) / (2 * sample.n_tokens)
    for values in attributes.values():
        assert mutual_information(values, sample.flat_labels) < largest_single
    informative = {("lower_switch", "upper_switch"): 0.3, ("wiring", "sensor"): 0.15}  # nats, of ln 2 = 0.69
    for (first, second), least in informative.items():
        assert mutual_information(list(zip(attributes[first], attributes[second])), sample.flat_labels) > least


def mutual_information(values: list, labels: list[str]) -> float:
    total, both, single, label = len(labels), Counter(zip(values, labels)), Counter(values), Counter(labels)
    return sum(n / total * math.log(n * total / (single[a] * label[b])) for (a, b), n in both.items())


def test_parity_needs_products_of_attributes():
    dataset = generate("parity")
    columns = list(GENERATORS["parity"].columns)
    template = FeatureTemplate("custom", columns=[TOKEN, *columns], window=3).fit(dataset.train)
    single = CRF().fit(template.encode(dataset.train), dataset.train.labels)
    assert single.score(template.encode(dataset.test), dataset.test.labels) < 0.56
    pairs = CRF().fit(products(dataset.train), dataset.train.labels)
    assert pairs.score(products(dataset.test), dataset.test.labels) > bayes_accuracy("parity", dataset.test) - 0.02


def products(sequences: Sequences) -> list[list[list[str]]]:
    rows = list(zip(*sequences.flat_columns.values()))
    flat = [["=".join((str(i), a, str(j), b)) for (i, a), (j, b) in product(enumerate(row), repeat=2)] for row in rows]
    return [flat[begin:end] for begin, end in zip(sequences.offsets[:-1], sequences.offsets[1:])]


def test_spanish_names_need_spelling_and_context():
    dataset = generate("spanish-ner")
    accuracies = []
    for name in ("S1", "S2", "S3"):
        template = FeatureTemplate(name).fit(dataset.train)
        model = CRF(max_iter=80).fit(template.encode(dataset.train), dataset.train.labels)
        accuracies.append(model.score(template.encode(dataset.test), dataset.test.labels))
    ladder = [*accuracies, bayes_accuracy("spanish-ner", dataset.test)]
    assert np.diff(ladder).min() > 0.005, ladder


def test_spanish_names_are_ambiguous_often_new_and_well_formed():
    dataset = generate("spanish-ner")
    seen = set(dataset.train.flat_tokens)
    names = [(word, label) for word, label in zip(dataset.test.flat_tokens, dataset.test.flat_labels) if label != "O"]
    assert np.mean([word not in seen for word, _ in names]) > 0.1
    types = {word: {label[2:] for other, label in names if other == word} for word, _ in names}
    assert any(len(found) >= 3 for found in types.values())
    for labels in large_sample("spanish-ner").labels:
        for before, label in zip(["O", *labels], labels):
            assert not label.startswith("I-") or before[2:] == label[2:]


def test_toy_pos_endings_tell_new_words():
    dataset = generate("toy-pos")
    seen = set(dataset.train.flat_tokens)
    new = [(word, label) for word, label in zip(dataset.test.flat_tokens, dataset.test.flat_labels) if word not in seen]
    assert len(new) > 0.1 * dataset.test.n_tokens
    for ending, label in (("ed", "VERB"), ("ly", "ADV"), ("est", "ADJ")):
        labels = [found for word, found in new if word.endswith(ending)]
        assert labels.count(label) > 0.6 * len(labels) > 0


@every_corpus
def test_same_seed_same_text_and_parts_do_not_depend_on_each_other(name):
    small, larger, other = generate(name, 7, (20, 5, 6)), generate(name, 7, (35, 9, 6)), generate(name, 8, (20, 5, 6))
    assert small.train.tokens == larger.train.tokens[:20]
    assert small.test.tokens == larger.test.tokens
    assert small.test.columns == larger.test.columns
    assert small.train.tokens != other.train.tokens
    assert small.train.tokens[:5] != small.dev.tokens
    assert len(small.train) == 20
    assert list(small.train.flat_columns) == list(GENERATORS[name].columns)


def test_bundled_files_are_what_the_generator_makes_now(tmp_path):
    write_bundled(tmp_path)
    written = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file())
    assert len(written) == len(NAMES) * (len(PARTS) + 1)
    for path in written:
        assert (datasets_directory() / path).read_bytes() == (tmp_path / path).read_bytes(), path


@every_corpus
def test_the_bundled_corpus_reads_back_as_generated(name):
    made, read = generate(name), load_dataset(name)
    for part in PARTS:
        ours, theirs = getattr(made, part), getattr(read, part)
        assert ours.tokens == theirs.tokens
        assert ours.labels == theirs.labels
        assert ours.columns == theirs.columns
    assert read.labels == GENERATORS[name].labels
    assert (read.title, read.task, read.licence) == (made.title, made.task, made.licence)
    assert bayes_accuracy(name, read.test) == bayes_accuracy(name, made.test)


def test_bad_requests_say_what_to_do():
    with pytest.raises(LabSeqError, match="there is no synthetic corpus 'klingon'; choose from pitch-accent"):
        generate("klingon")
    with pytest.raises(LabSeqError, match="give three numbers of sentences"):
        generate("parity", sizes=(10, 0, 5))
    with pytest.raises(LabSeqError, match=r"token 'Zbigniew'.*has probability 0"):
        bayes_posterior("toy-pos", Sequences.from_lists([["The", "Zbigniew", "."]]))
    with pytest.raises(LabSeqError, match="column 'pos' is missing"):
        bayes_posterior("spanish-ner", Sequences.from_lists([["Soria", "."]]))
