"""The parts of the generators: emissions know their probabilities, rules become the right chain, columns restate the text."""

from __future__ import annotations

import math
from collections import Counter
from itertools import product
from random import Random

import numpy as np
import pytest

from labseq_core.checks import LabSeqError
from labseq_core.data.synthetic.emissions import Capitalised, Choice, Coined, Mixture, RoundedNormal, weighted
from labseq_core.data.synthetic.grammars import compile_rules
from labseq_core.data.synthetic.pitch_accent import PITCH_ACCENT, PRONUNCIATIONS, TranscribedPhones
from labseq_core.data.synthetic.registry import GENERATORS

EXACT = 1e-12
DRAWS = 20_000
LARGEST_Z = 4.5
WRITTEN = 5.001e-4  # a value written with three decimals, and the rounding of floats


def assert_draws_follow(emission, probabilities: dict) -> None:
    """Every value is drawn as often as it should be, and nothing else is drawn."""
    random = Random("draws")
    counts = Counter(emission.draw(random) for _ in range(DRAWS))
    assert counts.keys() <= {value for value, probability in probabilities.items() if probability > 0}
    for value, probability in probabilities.items():
        deviation = math.sqrt(DRAWS * probability * (1 - probability)) + 1
        assert abs(counts[value] - DRAWS * probability) < LARGEST_Z * deviation, value


def assert_probabilities(emission, probabilities: dict) -> None:
    assert sum(probabilities.values()) == pytest.approx(1, abs=EXACT)
    for value, probability in probabilities.items():
        assert math.exp(emission.log_prob(value)) == pytest.approx(probability, abs=EXACT), value


def test_choice():
    assert weighted("el*3 la") == {"el": 3, "la": 1}
    expected = {"el": 0.75, "la": 0.25}
    assert_probabilities(Choice("el*3 la"), expected)
    assert_draws_follow(Choice("el*3 la"), expected)
    assert Choice("el*3 la").log_prob("los") == -math.inf


def test_coined_words_are_summed_over_all_ways_to_cut_them():
    """b + ana and ba + na spell the same word."""
    first, middle, ending, counts = (
        {"b": 0.5, "ba": 0.5},
        {"na": 0.75, "an": 0.25},
        {"a": 0.5, "na": 0.25, "ana": 0.25},
        (0.5, 0.3, 0.2),
    )
    expected = Counter()
    for count, weight in enumerate(counts):
        for parts in product(first.items(), *[middle.items()] * count, ending.items()):
            expected["".join(part for part, _ in parts)] += weight * math.prod(p for _, p in parts)
    assert len(expected) < 6 + 12 + 24  # some words can be cut in several ways
    emission = Coined("b ba", "na*3 an", "a*2 na ana", counts)
    assert_probabilities(emission, expected)
    assert_draws_follow(emission, expected)
    assert emission.log_prob("bx") == -math.inf
    assert emission.log_prob("b") == -math.inf


def test_mixture_adds_what_its_parts_can_both_make():
    emission = Mixture((3, Choice("a b")), (1, Choice("b c")))
    expected = {"a": 0.375, "b": 0.5, "c": 0.125}
    assert_probabilities(emission, expected)
    assert_draws_follow(emission, expected)


def test_a_capital_hides_whether_the_word_had_one():
    emission = Capitalised(Choice("fuentes*2 Fuentes «"))
    expected = {"Fuentes": 0.75, "«": 0.25}
    assert_probabilities(emission, expected)
    assert_draws_follow(emission, expected)
    assert emission.log_prob("fuentes") == -math.inf


def test_rounded_normal_is_a_distribution_over_written_values():
    emission = RoundedNormal(4.2, 0.3)
    grid = np.round(np.arange(2000, 6500) / 1000, 3)
    probabilities = np.exp([emission.log_prob(value) for value in grid])
    assert probabilities.sum() == pytest.approx(1, abs=1e-9)
    random = Random("draws")
    draws = np.array([emission.draw(random) for _ in range(DRAWS)])
    assert np.isin(draws, grid).all()
    for low, high in ((3.0, 3.8), (3.8, 4.2), (4.2, 4.35), (4.35, 6.0)):
        inside = (grid >= low) & (grid < high)
        share = probabilities[inside].sum()
        seen = np.mean((draws >= low) & (draws < high))
        assert abs(seen - share) < LARGEST_Z * math.sqrt(share * (1 - share) / DRAWS)


def test_transcribed_phones_are_a_distribution_given_the_word():
    emission = TranscribedPhones(0.2)
    for token, (_, phones) in PRONUNCIATIONS.items():
        heard = [math.exp(emission.log_prob(float(value), token)) for value in range(-1, phones + 3)]
        assert sum(heard) == pytest.approx(1, abs=EXACT)
    random = Random("draws")
    draws = [emission.draw(random, "house") for _ in range(DRAWS)]
    for value in (1.0, 2.0, 3.0):
        share = math.exp(emission.log_prob(value, "house"))
        assert abs(draws.count(value) / DRAWS - share) < LARGEST_Z * math.sqrt(share * (1 - share) / DRAWS)
    assert emission.log_prob(2.5, "house") == -math.inf
    assert emission.log_prob(1.0, "unheard") == -math.inf


def chain_probability(graph, sentence: list[str]) -> float:
    """P(word classes in this order), by plain summing over states."""
    reached = {number: graph.start[number] for number, name in enumerate(graph.word_classes) if name == sentence[0]}
    for word in sentence[1:]:
        reached = {
            to: sum(mass * graph.transition[number, to] for number, mass in reached.items())
            for to, name in enumerate(graph.word_classes)
            if name == word
        }
    return sum(mass * graph.stop[number] for number, mass in reached.items())


def test_rules_become_the_chain_of_their_derivations():
    rules = {
        "SENTENCE": {"NP verb NP TAIL": 3, "hey TAIL": 1},
        "NP": {"the ADJ noun": 1, "she": 1},
        "ADJ": {"": 3, "red": 1},
        "TAIL": {"": 1, "and NP TAIL": 1},
    }
    graph = compile_rules(rules)
    expected = {
        "hey": 1 / 4 * 1 / 2,
        "she verb she": 3 / 4 * 1 / 2 * 1 / 2 * 1 / 2,
        "the red noun verb she": 3 / 4 * 1 / 2 * 1 / 4 * 1 / 2 * 1 / 2,
        "she verb the noun and the red noun and she":
            3 / 4 * 1 / 2 * (1 / 2 * 3 / 4) * 1 / 2 * (1 / 2 * 1 / 4) * 1 / 2 * 1 / 2 * 1 / 2,
        "she verb": 0,
        "the red red noun verb she": 0,
    }  # fmt: skip
    for sentence, probability in expected.items():
        assert chain_probability(graph, sentence.split()) == pytest.approx(probability, abs=EXACT), sentence
    marked = compile_rules(rules, mark_first=True)
    assert chain_probability(marked, ["^she", "verb", "she"]) == pytest.approx(expected["she verb she"], abs=EXACT)
    assert chain_probability(marked, ["she", "verb", "she"]) == 0


def test_rules_that_would_need_a_stack_are_refused():
    with pytest.raises(LabSeqError, match="at its end only"):
        compile_rules({"SENTENCE": {"left SENTENCE right": 1, "middle": 1}})


@pytest.mark.parametrize("name", list(GENERATORS))
def test_chains_are_proper(name):
    chain = GENERATORS[name].chain
    assert chain.start.sum() == pytest.approx(1, abs=EXACT)
    np.testing.assert_allclose(chain.transition.sum(axis=1) + chain.stop, 1, rtol=0, atol=EXACT)
    assert min(chain.start.min(), chain.transition.min(), chain.stop.min()) >= 0
    assert {len(row) for row in chain.emissions.values()} == {len(chain.state_labels)}


@pytest.fixture(scope="module")
def utterances():
    return PITCH_ACCENT.draw(2000, Random("utterances"))


def test_word_probabilities_agree_with_counts(utterances):
    """Table B.1's columns against relative frequencies in a sample: exact values lie within the noise of counting."""
    columns = utterances.columns
    words, pairs, n_pairs = Counter(utterances.flat_tokens), Counter(), utterances.n_tokens + len(utterances)
    for tokens in utterances.tokens:
        pairs.update(zip(["<", *tokens], [*tokens, ">"]))
    words["<"] = words[">"] = len(utterances)
    checked = 0
    for number, tokens in enumerate(utterances.tokens[:200]):
        padded = ["<", *tokens, ">"]
        for position, word in enumerate(tokens):
            before, after = (padded[position], word), (word, padded[position + 2])
            counted = {
                "unigram": (words[word], utterances.n_tokens),
                "bigram": (pairs[before], words[before[0]]),
                "reverse_bigram": (pairs[after], words[after[1]]),
                "joint": (pairs[before], n_pairs),
                "reverse_joint": (pairs[after], n_pairs),
            }
            for name, (count, total) in counted.items():
                expected = total * math.exp(columns[name][number][position])
                if expected > 20:
                    # Words come in sentences, so that counts vary a little more than those of independent draws.
                    assert abs(count - expected) < 1.5 * LARGEST_Z * math.sqrt(expected), (name, word)
                    checked += 1
    assert checked > 2000


def test_derived_columns_follow_from_what_is_visible(utterances):
    columns = utterances.columns
    for number, tokens in enumerate(utterances.tokens[:200]):
        row = {name: values[number] for name, values in columns.items()}
        assert list(zip(row["syllables"], row["phones"])) == [PRONUNCIATIONS[token] for token in tokens]
        for kind, at_start in (("ip_boundary", "yes"), ("pause", "yes"), ("filled_pause", "no")):
            assert row[f"{kind}_before"] == [at_start, *row[f"{kind}_after"][:-1]]
        assert row["ip_boundary_after"][-1] == row["pause_after"][-1] == "yes"
        for phrase in stretches(row["ip_boundary_after"]):
            assert {row["ip_length"][position] for position in phrase} == {len(phrase)}
        for spoken in stretches(row["pause_after"]):
            milliseconds = sum(math.exp(row["log_duration"][position]) * row["phones"][position] for position in spoken)
            rate = math.log(1000 * sum(row["syllables"][position] for position in spoken) / milliseconds)
            for position in spoken:
                assert row["log_speech_rate"][position] == pytest.approx(rate, abs=WRITTEN)


def stretches(ends_after: list[str]) -> list[list[int]]:
    found: list[list[int]] = [[]]
    for position, ends in enumerate(ends_after):
        found[-1].append(position)
        if ends == "yes":
            found.append([])
    return found[:-1]
