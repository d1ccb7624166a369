"""What the Boosting tab says: plain words for what a round, a step and a bound are."""

from __future__ import annotations

from collections.abc import Mapping

from labseq_core.learners.boosting import BoostingLearner
from pages.ui.drawing.plain_text import shortened

OTHERWISE = "No method of this run boosts, so there are no rounds to show; another run is shown."
INTRODUCTION = (
    "Boosting builds a model **one feature at a time**. A feature is a label together with an attribute of the word "
    "(`y_t = B-LOC, word[-1] = en`: a place begins after *en*), or two labels in a row. Each **round** picks the feature "
    "that promises the largest fall of the training loss and moves its weight by a **step**; all other weights stay. So "
    "what the model has learned, and in which order, can be read like a diary."
)
MODEL = "The models of this run that were made by boosting, named by what they differ in."
VIEWS = "The first two are of the chosen model, the others of all models side by side. The chosen round is kept."
STEP = "How much was added to the weight of the feature: positive speaks for the label, negative against it."
PSEUDO_ACCURACY = (
    "Over all wrong labellings, weighted by how much they trouble the model: 1 if the feature fires in them as much less "
    "often than in the truth as it ever could, 0 if as much more often."
)
BOUND = "Before the step is taken: the round multiplies the training loss by at most this. Smaller is better."
Z = "After the step: what the round really multiplied the training loss by. Never more than the bound."
LOSS = "The training loss after the round."
DEVELOPMENT = "On the development part after the round; training never sees it, but may stop early because of it."
REPLAY = (
    "Shows the rounds one after the other, a second each; after round 10 some are skipped. Switched on at the end, it begins "
    "anew."
)
SLIDER = "Drag it, or click on it and use the arrow keys, and watch the model grow."
GLOSSARY = f"""
- **Round**: one feature is chosen and its weight is moved. After 100 rounds at most 100 weights are not zero, often fewer,
  since a feature may be chosen again.
- **Step**: {STEP[0].lower()}{STEP[1:]}
- **Loss**: how badly the truth does against all other labellings of the training sentences. In sequence boosting each
  sentence adds 1/p - 1, where p is the probability of its true labelling (times a weight if `length_decay` is below 1);
  that is never less than the number of wrong labellings which score as high as the true one.
- **Pseudo-accuracy**: {PSEUDO_ACCURACY[0].lower()}{PSEUDO_ACCURACY[1:]} It plays the part that the accuracy of a weak
  learner plays in AdaBoost.
- **Bound** and **Z**: what a round promises, and what it keeps. Z is the factor by which the loss really falls.
- **Why bounds matter**: to know the best step of a feature, inference has to be repeated on every sentence that has it,
  and there are thousands of features to choose from. A bound is had for all of them at once, from sums that are at hand.
  The closer it is to the loss, the better the choice and the bolder the step.
- **loose**: one range of values for all sentences, the widest; the best step is then a formula. **tight**: each sentence
  has its own range. **exact**: the tight bound chooses the feature, then inference finds the step that is really best.
"""
BOUND_PICTURE = (
    "For the feature of this round, at the model as it was before: what would happen to the loss for any step? Both bounds "
    "touch the loss at 0, where nothing moves, and lie above it everywhere else. Each mark is the step that one would take "
    "by its curve: to the lowest point, or less far, since the option `smoothing` holds long steps back."
)
LOSS_CURVES = (
    "Training loss after each round, on a scale of powers of ten. Different methods have different losses: of these, compare "
    "the shapes only."
)
NO_DEVELOPMENT = (
    "There is no curve on development data: within cross-validation all sentences are needed for training and testing. "
    "Train without folds to get one."
)
PROMISED = (
    "**Promised and kept.** The dashed line is how far the loss would have fallen if every round had brought only what its "
    "bound promised. The wider the gap, the less the bound knew of what the step would do."
)
REPEATED = (
    "A step that was too short has to be made up for: the feature is chosen again. Bounds make cautious steps, exact steps "
    "go all the way at once (thesis, Table 3.3). A pair of labels can occur many times in a long sentence; that makes its "
    "range wide, and the loose bound, which takes the widest for all sentences, hardly ever chooses one."
)


def round_line(row: dict, rounds: int) -> str:
    """One round as a sentence."""
    return (
        f"Round **{row['round']}** of {rounds} moved the weight of {_literal(row['feature'])} by **{row['step']:+.3f}**: the "
        f"bound promised a loss of at most {row['bound']:.1%} of the one before, and it became **{row['z']:.1%}**."
    )


def weights_line(number: int, learner: BoostingLearner, rows: list[dict]) -> str:
    """How much of the model there is after a round."""
    distinct = len({row["feature"] for row in rows[:number]})
    return (
        f"The weights farthest from zero. {number} rounds have moved {distinct} different features, of "
        f"{learner.n_observed_:,} that occur in the training data."
    )


def bounds_line(row: dict, minimisers: Mapping[str, float]) -> str:
    """What the best steps of a round have to do with one another."""
    loose, tight, exact = (minimisers[bound] for bound in ("loose", "tight", "exact"))
    agree = ": here all three agree, so the bounds lose nothing" if abs(loose - exact) < 0.01 * abs(exact) else ""
    return (
        f"Best step on {_literal(row['feature'])} by the loose bound {loose:+.3f}, by the tight bound {tight:+.3f}, by the "
        f"loss itself {exact:+.3f}{agree}."
    )


def large(tokens: int) -> str:
    return f"This needs all {tokens:,} tokens of the training data and may take half a minute."


def _literal(text: str) -> str:
    """Text of the data in Markdown that is not to be taken for Markdown."""
    return f"`{shortened(text).replace('`', 'ˋ')}`"


def development_score(rounds: Mapping[str, list[dict]]) -> tuple[str | None, str]:
    """The score on development data that all models have, F1 first, and its title."""
    for score, title in (("dev_f1", "Span F1"), ("dev_accuracy", "Token accuracy")):
        if all(rows[-1][score] is not None for rows in rounds.values()):
            return score, title
    return None, ""
