"""Which words of an utterance are accented: rhythm, phrase ends, rare words, length of sounds (T B.1)."""

from __future__ import annotations

import math
from functools import cache
from itertools import product
from random import Random

import numpy as np

from labseq_core.data.synthetic.corpus import SyntheticCorpus, VisibleValues
from labseq_core.data.synthetic.emissions import Choice, Emission, RoundedNormal, Value
from labseq_core.data.synthetic.grammars import Rules, compile_rules
from labseq_core.data.synthetic.hidden_chain import TOKEN, HiddenChain
from labseq_core.data.synthetic.prosodic_variables import WordProbabilities, derived_variables

ACCENTED, PLAIN = "A", "N"
# Is there a boundary of an intonational phrase (IP) after the word? FINAL: yes, and the utterance ends.
BOUNDARIES = NONE, INSIDE, FINAL = ("none", "inside", "final")

RULES: Rules = {
    "SENTENCE": {"OPENER CLAUSE": 1},
    "OPENER": {"": 5, "discourse": 2, "conjunction": 2},
    "CLAUSE": {"subject_pronoun PREDICATE": 7, "determiner person PREDICATE": 3, "it_is QUALITY TAIL": 2},
    "PREDICATE": {"DEGREE transitive OBJECT TAIL": 5, "motion towards determiner place TAIL": 3,
                  "modal base_verb OBJECT TAIL": 3, "say CLAUSE": 1.5},
    "DEGREE": {"": 6, "really": 2, "never": 1},
    "OBJECT": {"determiner THING": 6, "object_pronoun": 2},
    "THING": {"thing": 5, "adjective thing": 4, "degree adjective thing": 0.6},
    "QUALITY": {"adjective": 2, "degree adjective": 2, "not adjective": 1},
    "TAIL": {"": 4, "adverb": 2, "near determiner place": 1, "conjunction CLAUSE": 1},
}  # fmt: skip

# word class: (part of speech, log-odds of an accent, P(an IP ends after it), words as spelling/syllables/phones*frequency)
WORD_CLASSES: dict[str, tuple[str, float, float, str]] = {
    "subject_pronoun": ("Function", -1.1, 0.01, "I/1/1*12 we/1/2*7 they/1/2*7 you/1/2*5 she/1/2*3 he/1/2*3"),
    "object_pronoun": ("Function", -0.8, 0.15,
        "it/1/2*9 them/1/3*5 him/1/3*2 her/1/2*2 everything/3/7 something/2/6"),
    "determiner": ("Function", -1.2, 0.0,
        "the/1/2*14 a/1/1*8 my/1/2*5 that/1/3*5 this/1/3*3 our/1/2*2 every/2/4 another/3/5"),
    "towards": ("Function", -1.1, 0.0, "to/1/2*8 by/1/2*2 from/1/4*2 toward/2/6 around/2/5 across/2/5"),
    "near": ("Function", -0.7, 0.0, "at/1/2*7 near/1/3*4 in/1/2*6 outside/2/5 behind/2/6"),
    "conjunction": ("Function", -0.9, 0.1, "and/1/3*9 but/1/3*5 so/1/2*4 because/2/5*3 although/2/4 whenever/3/6"),
    "modal": ("Function", -0.3, 0.0, "would/1/3*6 can/1/3*5 could/1/3*4 might/1/3*2 should/1/3 must/1/4"),
    "it_is": ("Function", -0.7, 0.0, "that's/1/4*6 it's/1/3*8"),
    "person": ("Noun", 0.5, 0.05,
        "friend/1/5*5 brother/2/5*4 sister/2/5*4 mother/2/4*4 teacher/2/4*2 neighbor/2/4 daughter/2/4 husband/2/7 "
        "grandmother/3/9"),
    "thing": ("Noun", 0.7, 0.2,
        "house/1/3*5 car/1/3*5 dog/1/3*4 movie/2/4*4 book/1/3*4 garden/2/6*2 computer/3/8*2 piano/3/5 recipe/3/6 "
        "newspaper/3/7 guitar/2/5 camera/3/5 bicycle/3/7 painting/2/6"),
    "place": ("Noun", 0.7, 0.2,
        "store/1/4*4 city/2/4*4 lake/1/3*3 beach/1/3*3 park/1/4*3 farm/1/4*3 library/3/7 museum/3/7 "
        "hospital/3/8 university/5/10 station/2/6"),
    "transitive": ("Verb", -0.1, 0.02,
        "had/1/3*7 got/1/3*6 liked/1/4*5 saw/1/2*4 bought/1/3*3 loved/1/4*3 found/1/4*3 watched/1/4*2 needed/2/5*2 "
        "remembered/3/8 painted/2/6 repaired/2/6 discovered/3/8"),
    "motion": ("Verb", 0.1, 0.02, "went/1/4*8 drove/1/4*4 walked/1/4*3 moved/1/4*3 travelled/2/7 hurried/2/4"),
    "base_verb": ("Verb", 0.1, 0.02,
        "get/1/3*7 see/1/2*6 like/1/3*4 buy/1/2*3 need/1/3*3 find/1/4*3 remember/3/7 imagine/3/6 recommend/3/8"),
    "say": ("Verb", -0.2, 0.05,
        "thought/1/3*6 knew/1/2*5 guessed/1/4*3 said/1/3*5 heard/1/3*2 believed/2/6 noticed/2/6"),
    "adjective": ("Other", 0.5, 0.08,
        "new/1/2*5 little/2/5*5 good/1/3*4 big/1/3*4 nice/1/3*4 small/1/4*2 beautiful/3/8 wonderful/3/8 "
        "fantastic/3/9 different/3/7 ridiculous/4/10"),
    "adverb": ("Other", 0.4, 0.3,
        "again/2/4*3 now/1/2*4 then/1/3*4 too/1/2*3 yesterday/3/7*2 together/3/6 sometimes/2/7 lately/2/5 "
        "everywhere/3/7"),
    "degree": ("Other", 0.2, 0.01, "really/2/4*6 very/2/4*4 pretty/2/5*3 so/1/2*3 absolutely/4/9 incredibly/4/10"),
    "really": ("Other", 0.5, 0.01, "really/2/4*6 just/1/4*5 absolutely/4/9 definitely/4/9"),
    "never": ("Other", 0.7, 0.01, "never/2/4*3 always/2/5*2"),
    "not": ("Other", 0.6, 0.01, "not/1/3*3 hardly/2/6"),
    "discourse": ("Other", -0.1, 0.35, "well/1/3*5 yeah/1/2*5 okay/2/3*3 now/1/2*2 actually/4/8 honestly/3/7"),
}  # fmt: skip

AFTER_ACCENT = -1.3  # log-odds: two accents in a row are avoided
FIRST_IN_PHRASE, LAST_IN_PHRASE = -0.5, 1.0
FREQUENCY_POWER = {ACCENTED: 0.75, PLAIN: 1.25}  # rare words of a class are accented more often
LOG_DURATION, ACCENT_LENGTHENS, BOUNDARY_LENGTHENS, DURATION_DEVIATION = 4.2, 0.37, 0.2, 0.3
P_PHONE_DROPPED = {ACCENTED: 0.05, PLAIN: 0.2}
P_PAUSE = {NONE: 0.02, INSIDE: 0.45, FINAL: 1.0}
P_FILLED_PAUSE = {NONE: 0.02, INSIDE: 0.12, FINAL: 0.05}


def _spelled(words: str) -> dict[str, tuple[int, int, float]]:
    """Spelling -> (syllables, phones, frequency)."""
    parsed = (item.partition("*") for item in words.split())
    split = ((spec.split("/"), float(frequency or 1)) for spec, _, frequency in parsed)
    return {word: (int(syllables), int(phones), frequency) for (word, syllables, phones), frequency in split}


PRONUNCIATIONS = {
    word: (syllables, phones)
    for _, _, _, words in WORD_CLASSES.values()
    for word, (syllables, phones, _) in _spelled(words).items()
}


class TranscribedPhones:
    """How many phones of the word are really heard: each but the first is dropped with the same probability."""

    def __init__(self, p_dropped: float) -> None:
        self._p_dropped = p_dropped

    def draw(self, random: Random, token: str = "") -> float:
        phones = PRONUNCIATIONS[token][1]
        return float(1 + sum(random.random() >= self._p_dropped for _ in range(phones - 1)))

    def log_prob(self, value: Value, token: str = "") -> float:
        droppable = PRONUNCIATIONS.get(token, (0, 0))[1] - 1
        dropped = droppable + 1 - value
        if not (0 <= dropped <= droppable and dropped == int(dropped)):
            return -math.inf
        ways = math.log(math.comb(droppable, int(dropped)))
        return ways + dropped * math.log(self._p_dropped) + (droppable - dropped) * math.log1p(-self._p_dropped)


def _yes(probability: float) -> Choice:
    return Choice({"yes": probability, "no": 1 - probability})


def _build_chain() -> HiddenChain:
    """States are (place in the grammar, accent, boundary after the word).

    The boundary depends on the word class; the accent on the class, that boundary, and accent and boundary before.
    """
    graph = compile_rules(RULES)
    boundary_probs = [_boundary_probs(WORD_CLASSES[name][2], end) for name, end in zip(graph.word_classes, graph.stop)]
    places = range(len(graph.word_classes))
    states = [
        state for state in product(places, (ACCENTED, PLAIN), BOUNDARIES) if boundary_probs[state[0]][state[2]] > 0
    ]
    place, accent, boundary = (np.array(part) for part in zip(*states))
    classes = [graph.word_classes[number] for number in place]
    p_boundary = np.array([boundary_probs[number][kind] for number, _, kind in states])
    log_odds = np.array([WORD_CLASSES[name][1] for name in classes]) + LAST_IN_PHRASE * (boundary != NONE)

    def enter(after_accent: np.ndarray, after_boundary: np.ndarray) -> np.ndarray:
        """[..., state]: P(accent and boundary of the state | its place in the grammar, what came before)."""
        total = log_odds + AFTER_ACCENT * after_accent + FIRST_IN_PHRASE * after_boundary
        p_accent = 1 / (1 + np.exp(-total))
        return p_boundary * np.where(accent == ACCENTED, p_accent, 1 - p_accent)

    # A word that does not end the utterance goes on as the grammar does, given that it goes on.
    going_on = graph.transition / np.where(graph.stop < 1, 1 - graph.stop, 1.0)[:, None]
    entering = enter((accent == ACCENTED)[:, None], (boundary != NONE)[:, None])
    is_final = (boundary == FINAL).astype(float)
    transition = (1 - is_final)[:, None] * going_on[np.ix_(place, place)] * entering
    start = graph.start[place] * enter(np.zeros(1), np.ones(1))
    return HiddenChain(accent.tolist(), start, transition, is_final, _emissions(classes, accent, boundary))


def _boundary_probs(p_inside: float, p_end: float) -> dict[str, float]:
    return {NONE: (1 - p_end) * (1 - p_inside), INSIDE: (1 - p_end) * p_inside, FINAL: p_end}


def _emissions(classes: list[str], accent: np.ndarray, boundary: np.ndarray) -> dict[str, list[Emission]]:
    @cache
    def words(name: str, label: str) -> Choice:
        spelled = _spelled(WORD_CLASSES[name][3])
        return Choice({word: frequency ** FREQUENCY_POWER[label] for word, (_, _, frequency) in spelled.items()})

    @cache
    def duration(accented: bool, at_boundary: bool) -> RoundedNormal:
        mean = LOG_DURATION + ACCENT_LENGTHENS * accented + BOUNDARY_LENGTHENS * at_boundary
        return RoundedNormal(mean, DURATION_DEVIATION)

    part_of_speech = cache(Choice)
    transcribed = {label: TranscribedPhones(probability) for label, probability in P_PHONE_DROPPED.items()}
    yes_or_no = {kind: (_yes(kind != NONE), _yes(P_PAUSE[kind]), _yes(P_FILLED_PAUSE[kind])) for kind in P_PAUSE}
    return {
        TOKEN: [words(name, label) for name, label in zip(classes, accent)],
        "pos": [part_of_speech(WORD_CLASSES[name][0]) for name in classes],
        "log_duration": [duration(label == ACCENTED, kind != NONE) for label, kind in zip(accent, boundary)],
        "transcribed_phones": [transcribed[label] for label in accent],
        "ip_boundary_after": [yes_or_no[kind][0] for kind in boundary],
        "pause_after": [yes_or_no[kind][1] for kind in boundary],
        "filled_pause_after": [yes_or_no[kind][2] for kind in boundary],
    }


@cache
def _word_probabilities() -> WordProbabilities:
    return WordProbabilities.of(PITCH_ACCENT.chain)


def _derive(visible: VisibleValues) -> VisibleValues:
    return derived_variables(visible, _word_probabilities(), PRONUNCIATIONS)


PITCH_ACCENT = SyntheticCorpus(
    name="pitch-accent",
    title="Pitch accents in conversation",
    task="token",
    description=(
        "Utterances of an invented telephone conversation, about seven words each; a word is accented (A) or not (N). "
        "The columns are the variables of Table B.1 and the list after it: part of speech, word and pair log-probabilities, "
        "length and number of sounds, speech rate, intonational phrases (IP) and pauses. Accents avoid each other, prefer "
        "the end of a phrase, rare words and long sounds."
    ),
    columns=(
        "pos", "unigram", "bigram", "reverse_bigram", "joint", "reverse_joint", "log_duration", "syllables", "phones",
        "transcribed_phones", "log_speech_rate", "ip_length", "ip_boundary_before", "ip_boundary_after", "pause_before",
        "pause_after", "filled_pause_before", "filled_pause_after",
    ),
    build_chain=_build_chain,
    derive=_derive,
)  # fmt: skip
