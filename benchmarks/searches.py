"""For each method the settings that are tried, each fit starting from what the one before learned where that helps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from labseq_core import CRF, HMM, LogitBoost, MaxEnt, NaiveBayes, SequenceBoost, StructuredPerceptron
from labseq_core.evaluation import Evaluation, evaluate
from labseq_core.features import EncodedSequences
from labseq_core.learners.base import SequenceLearner

SMOOTHINGS = (10.0, 1.0, 0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4, 1e-6)
EPOCHS = (5, 10, 20, 40, 80)
ITERATIONS_A_STEP = 80
UNREGULARISED_STOPS = (20, 40, 80, 160, 320)
START_ITERATIONS = 30  # for each of three penalties
MARGINAL_SHARE = 1 / 30  # the marginal loss divides by the length of the sequence, about 30 words
EXPONENTIAL_ITERATIONS = 60
BOOSTING_ROUNDS = 12_000
BOOSTING_PATIENCE = 3000  # rounds without a better score on the development part
EXPONENTIAL_SENTENCES = 2000  # on which the settings of the exponential loss are chosen

Tell = Callable[[str, float], None]
Candidates = Iterator[tuple[str, SequenceLearner]]


@dataclass(frozen=True)
class Problem:
    """Encoded parts of a corpus with their labels, and the grids that fit it."""

    train: EncodedSequences
    labels: list[list[str]]
    dev: EncodedSequences
    dev_labels: list[list[str]]
    test: EncodedSequences
    test_labels: list[list[str]]
    l2: tuple[float, ...]
    exponential_l2: tuple[float, ...]
    length_decays: tuple[float, ...]

    def first(self, n_sentences: int) -> Problem:
        """The same with fewer training sentences."""
        kept = range(min(n_sentences, len(self.labels)))
        return replace(self, train=self.train.select(kept), labels=[self.labels[number] for number in kept])


@dataclass(frozen=True)
class Chosen:
    options: str
    score: float  # on the development part: span F1 where labels are spans, else accuracy
    model: SequenceLearner
    test: Evaluation


@dataclass(frozen=True)
class Search:
    candidates: Callable[[Problem, Tell], Candidates]
    note: str


def best_of(problem: Problem, candidates: Iterable[tuple[str, SequenceLearner]], tell: Tell) -> Chosen:
    """The candidate that does best on the development part, the first of equals, scored on the test part."""
    best: tuple[str, float, SequenceLearner] | None = None
    for options, model in candidates:
        found = evaluate(problem.dev_labels, model.predict(problem.dev))
        score = found.accuracy if found.span_f1 is None else found.span_f1
        tell(options, score)
        if best is None or score > best[1]:
            best = options, score, model
    options, score, model = best
    return Chosen(options, score, model, evaluate(problem.test_labels, model.predict(problem.test)))


def smoothed(learner: Callable[..., SequenceLearner]) -> Callable[[Problem, Tell], Candidates]:
    def candidates(problem: Problem, tell: Tell) -> Candidates:
        for smoothing in SMOOTHINGS:
            yield f"smoothing={smoothing:g}", learner(smoothing=smoothing).fit(problem.train, problem.labels)

    return candidates


def perceptrons(problem: Problem, tell: Tell) -> Candidates:
    for epochs in EPOCHS:
        yield f"epochs={epochs}", StructuredPerceptron(epochs=epochs).fit(problem.train, problem.labels)


def along_l2(
    learner: Callable[..., SequenceLearner], scale: float = 1.0, crf_start: bool = False
) -> Callable[[Problem, Tell], Candidates]:
    """From strong to weak penalty; the first fit starts from a rough CRF if wanted, else from zero."""

    def candidates(problem: Problem, tell: Tell) -> Candidates:
        model = rough_crf(problem) if crf_start else None
        for l2 in problem.l2:
            model = learner(l2=scale * l2, max_iter=ITERATIONS_A_STEP).fit(problem.train, problem.labels, init=model)
            yield f"l2={scale * l2:.3g}", model

    return candidates


def unregularised(problem: Problem, tell: Tell) -> Candidates:
    model, before = None, 0
    for iterations in UNREGULARISED_STOPS:
        model = CRF(l2=0.0, max_iter=iterations - before).fit(problem.train, problem.labels, init=model)
        before = iterations
        yield f"l2=0, {iterations} iterations", model


def rough_crf(problem: Problem, iterations: int = START_ITERATIONS) -> SequenceLearner:
    """A CRF to start from, along the penalties down to the weakest."""
    model = None
    for l2 in (problem.l2[0], problem.l2[len(problem.l2) // 2], problem.l2[-1]):
        model = CRF(l2=l2, max_iter=iterations).fit(problem.train, problem.labels, init=model)
    return model


def exponential_fits(problem: Problem, length_decay: float) -> Candidates:
    model = rough_crf(problem, EXPONENTIAL_ITERATIONS)  # 1/p of a sentence that it fits badly would rule all others
    for l2 in problem.exponential_l2:
        learner = CRF(loss="exp", l2=l2, length_decay=length_decay, max_iter=EXPONENTIAL_ITERATIONS)
        model = learner.fit(problem.train, problem.labels, init=model)
        yield f"length_decay={length_decay:g}, l2={l2:g}", model


def exponential(problem: Problem, tell: Tell) -> Candidates:
    """Settings are chosen on a part of the training data, then there is one model of all of it."""
    part = problem.first(EXPONENTIAL_SENTENCES)
    tried = (fit for decay in problem.length_decays for fit in exponential_fits(part, decay))
    chosen = best_of(part, tried, lambda options, score: tell(f"{options} (part)", score)).model
    down_to_chosen = tuple(l2 for l2 in problem.exponential_l2 if l2 >= chosen.l2)
    *_, last = exponential_fits(replace(problem, exponential_l2=down_to_chosen), chosen.length_decay)
    yield last


def boosted(
    learner: Callable[..., SequenceLearner], with_length_decay: bool = False
) -> Callable[[Problem, Tell], Candidates]:
    """Rounds are chosen on the development part within each fit; how much of the observed features is used is told."""

    def candidates(problem: Problem, tell: Tell) -> Candidates:
        for decay in problem.length_decays if with_length_decay else (None,):
            options = {} if decay is None else {"length_decay": decay}
            model = learner(rounds=BOOSTING_ROUNDS, patience=BOOSTING_PATIENCE, **options)
            model.fit(problem.train, problem.labels, dev=(problem.dev, problem.dev_labels))
            shown = "" if decay is None else f"length_decay={decay:g}, "
            share = f"{100 * model.feature_fraction_:.1f} % of features"
            yield f"{shown}{model.best_round_} rounds, {model.n_selected_} weights, {share}", model

    return candidates


BOOSTING = (
    f"exact steps, at most {BOOSTING_ROUNDS} rounds, stopped after {BOOSTING_PATIENCE} without a better score on dev; "
    "features: of those observed in training"
)
L2_PATH = f"L-BFGS, at most {ITERATIONS_A_STEP} iterations for each l2, largest l2 first, each from the one before"
FROM_CRF = f"as crf, but the first from a CRF of {3 * START_ITERATIONS} iterations; no restarts"
SEARCHES: dict[str, Search] = {
    "naive-bayes": Search(smoothed(NaiveBayes), "counts; smoothing chosen"),
    "maxent": Search(along_l2(MaxEnt), L2_PATH),
    "hmm-word": Search(smoothed(HMM), "counts of words; smoothing chosen"),
    "hmm-attributes": Search(
        smoothed(lambda smoothing: HMM("attributes", smoothing)), "counts of all attributes; smoothing chosen"
    ),
    "crf": Search(along_l2(CRF), L2_PATH),
    "crf-unregularised": Search(
        unregularised,
        "L-BFGS from zero, stopped early at the number of iterations that does best on dev; its memory is cleared at "
        "each of those numbers",
    ),
    "exp": Search(
        exponential,
        f"settings chosen on the first {EXPONENTIAL_SENTENCES} training sentences, then trained on all; "
        f"{EXPONENTIAL_ITERATIONS} iterations for each l2, the first from a CRF of {3 * EXPONENTIAL_ITERATIONS} iterations",
    ),
    "crf-marginal": Search(
        along_l2(lambda **options: CRF("marginal", **options), MARGINAL_SHARE, crf_start=True),
        f"{FROM_CRF}; l2 times {MARGINAL_SHARE:.3g}",
    ),
    "crf-marginal-exp": Search(along_l2(lambda **options: CRF("marginal-exp", **options), crf_start=True), FROM_CRF),
    "perceptron": Search(perceptrons, "averaged, shuffled, seed 0; epochs chosen"),
    "boost": Search(boosted(SequenceBoost, with_length_decay=True), f"{BOOSTING}; length_decay chosen"),
    "logitboost": Search(boosted(LogitBoost), BOOSTING),
}
