"""What the Margins tab says: what a margin is, what it is divided by, and what the two theorems promise."""

from __future__ import annotations

INTRODUCTION = (
    "The **margin** of a training sentence is the score of its true labelling minus the score of the best other one. Above "
    "0 the sentence is labelled right; the further above, the safer. Large margins on many training sentences are what "
    "boosting and HM-SVMs work for, and what bounds on the error on new sentences are made of (thesis, Theorems 3 and 4)."
)
GLOSSARY = r"""
- **Margin**: $\gamma(x, y) = F(x, y) - \max_{y' \neq y} F(x, y')$, over *all* other labellings, found exactly by dynamic
  programming (thesis, 3.39 and 4.7).
- **Scores double when weights double**, and nothing else changes. So margins of different methods can be compared only after
  division by a size of the weights.
- **length**: divided by $\lVert F \rVert$, the length of the weight vector, or of the function in the space of the kernel:
  the distance that HM-SVMs maximise (thesis, 4.36 with p = 2).
- **sum of weights**: divided by $\sum |\lambda|$: the *ensemble margin* of boosting and of Theorems 3 and 4. Methods in a
  kernel do not list their weights, so they have none.
- **scores**: as they are. An HM-SVM asks for a margin of at least 1 on this scale, a CRF for odds of $e^{\gamma}$.
- **Theorem 3**: with high probability, the share of *new* sentences with a wrong label is at most the share of training
  sentences with a margin of at most θ, plus a term that shrinks with θ² and with more sentences. **Theorem 4**: boosting
  lowers that share for every θ with each round that beats chance.
"""
TRY = (
    "**What to try.** Switch the scale and see which curve lies lowest: another one may win. Train the same HM-SVM with C = "
    "0.1 and 10, or boosting with 20 and 500 rounds, and watch the curve move to the right."
)
CHART = (
    "Each curve: the share of training sentences whose margin is at most the number below. Left of 0 are the sentences that "
    "are labelled wrong. A curve that stays low and rises late is good: few sentences are close calls."
)
SCALE = (
    "What the margins are divided by, so that methods can be compared. length: ‖F‖; sum of weights: Σ|λ|; scores: by nothing, "
    "they are shown as they are."
)
THETA = "θ of Theorem 3: the table says how many sentences have a margin of at most this much, on the chosen scale."
TABLE = (
    "Margins above 0 and above 1 are those of the scores as they are, whatever the scale. Those of an HM-SVM pile up at 1, "
    "many a hair below: it asks for no more. In cross-validation these are the models of the first fold and what they were "
    "trained on."
)
NARROW = "Sentences with the smallest margins first, each by its smallest. Click on a column to sort by that method."
SCALES = {"length": "length", "sum": "sum of weights", "scores": "scores"}  # as the visitor reads them
AXES = {"length": "margin / ‖F‖", "sum": "margin / Σ|λ|", "scores": "margin"}


def without(scale: str, names: list[str]) -> str:
    """Which methods are not in the chart, and why."""
    why = {
        "length": "their scores are log probabilities, which have no length to divide by",
        "sum": "their weights are hidden in a kernel or are log probabilities",
        "scores": "",
    }[scale]
    return f"Not on this scale: {', '.join(names)}; {why}."


def large(tokens: int) -> str:
    return f"This run was trained on {tokens:,} tokens: finding the best rival of every sentence may take a while."
