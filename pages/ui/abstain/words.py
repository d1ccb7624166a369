"""What the Abstain page says: plain words for confidence, precision, recall, risk and calibration."""

from __future__ import annotations

from collections.abc import Sequence

OTHERWISE = "No method of this run gives probabilities, so there is no threshold to set on them; another run is shown."
INTRODUCTION = (
    "A model that gives probabilities can say *I do not know*: a token whose label is less probable than a **threshold** "
    "is **withheld**, left to a person or to another program. The higher the threshold, the fewer tokens are answered and the "
    "more of the answers are right, if the probabilities are worth anything (thesis, Fig. 5.3)."
)
GLOSSARY = """
- **Confidence**: the probability of the label that a model gives a token, given the whole sentence. The label is that of
  the other pages too: by Viterbi or by posterior decoding, as the variant is decoded.
- **Coverage**: answered tokens out of all. **Precision**: right answers out of the answers. **Recall**: right answers out
  of all tokens, so a withheld token counts as missed. **Risk**: wrong answers out of the answers, 1 - precision.
- **Error falls by**: how much lower the risk is than when everything is answered.
- **AURC**: area under the curve of risk against coverage; the mean risk over all that could be answered. Lower is better.
- **Score gap**: what methods without probabilities have instead: by how much the best labelling beats the best one with
  another label at this token. It is **not a probability**: it orders the tokens of one model, and nothing more.
- Tokens of equal confidence are answered or withheld together.
"""
THRESHOLD = "One threshold for all methods: tokens whose label is less probable than this are withheld."
GAPS = (
    "Adds the methods of this run that give scores only, by their score gap. It is not a probability, so the slider means "
    "nothing to it: such a method answers as many tokens as the first method with probabilities."
)
PRECISION_RECALL = (
    "From right to left, fewer and fewer tokens are answered. A curve that rises to the left withholds the right tokens; "
    "higher is better. Large marks: where the slider is."
)
RISK_COVERAGE = (
    "The same as risk: which share of the answers is wrong, if so many tokens are answered. Lower is better. At the left end "
    "few tokens are left, and the curves jump."
)
CLICK = (
    "Click one of the small marks: the threshold goes there, and below stands what that method withholds. A click on a name "
    "hides its curve."
)
SENTENCES = (
    "Withheld tokens have a dashed frame and a question mark; beneath stand the label the model would have given, its "
    "confidence, and the truth. ✗ marks a wrong label, answered or not. Only sentences with withheld tokens are listed."
)
CALIBRATION = (
    "Of all tokens to which a model gave a label with about 70 %, about 70 % should be right: then the points lie on the "
    "grey line. Below it the model is too sure of itself, above it too modest."
)
CALIBRATION_GLOSSARY = (
    "**Log loss**: mean of -log p(true label). **Brier score**: mean squared distance between the probabilities and the truth. "
    "**ECE**, expected calibration error: mean distance of the points from the grey line, weighted by tokens. "
    "Smaller is better for all three."
)


def gap_name(name: str) -> str:
    """A method without probabilities, as it is called here."""
    return f"{name} · score gap, not a probability"


def setting(n_tokens: int, n_sequences: int, folds: int) -> str:
    """What the numbers are from."""
    part = f"all {folds} folds, each predicted by models that were trained on the others" if folds else "the test part"
    return f"All numbers are from {part}: {n_tokens:,} tokens in {n_sequences:,} sequences."


def gain(row: dict) -> str:
    """What the threshold does to one method, as a sentence."""
    if not row["answered"]:
        return f"At this threshold **{row['method']}** answers nothing."
    withheld = 1 - row["coverage"]
    begin = f"**{row['method']}** withholds **{withheld:.1%}** of the tokens; of the rest **{row['precision']:.1%}** are right"
    if row["error_reduction"] >= 0:
        return f"{begin}: its error falls by **{row['error_reduction']:.1%}**."
    return f"{begin}: its error **rises** by {-row['error_reduction']:.1%}."


def withheld_line(rows: Sequence[dict], n_tokens: int) -> str:
    """How many tokens were withheld and how many of them rightly."""
    wrong = sum(not row["right"] for row in rows)
    good = len(rows) - wrong
    return (
        f"**{len(rows):,}** of {n_tokens:,} tokens are withheld. **{wrong:,}** of them would have been wrong, {good:,} "
        "would have been right."
    )
