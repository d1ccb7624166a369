"""What the GPSC tab says about influential observations and the Gram matrix."""

from __future__ import annotations

from labseq_core.explain import Influence, Spectrum
from pages.ui.drawing.plain_text import in_markdown, shortened

INFLUENCE = (
    "A Gaussian process labels a word by **likeness**: its score for a label is a sum over training observations of a "
    "coefficient β times the kernel value k, how alike the two are. Choose a word of a test sentence and see which training "
    "words spoke, for the label (+) or against it (−)."
)
MODEL = "The Gaussian processes of this run."
SENTENCE = "Number of the sentence in the test part (of the first fold)."
FOR_LABEL = "The label whose score is taken apart."
PREDICTED = "the predicted one"
AVERAGE = (
    "On: by how much each training word says more than it says of an average word, β·(k − k̄). Off: all that it says, β·k. "
    "Where all words are rather alike, as with a wide kernel, β·k is large for many and nearly cancels."
)
HOW_INFLUENCE = (
    "Behind a word: the label that training has for it most often, then its sentence and place there. A long bar needs both: "
    "a word that is alike, and one the model was still unsure of when trained, since words that fit anyway get a β near 0."
)
TRY_INFLUENCE = (
    "**What to try.** Take apart the *true* label of a word that was labelled wrong (✗): who spoke against it? Compare the "
    "dense model with a sparse one: the sparse one can name far fewer witnesses."
)
GRAM = (
    "The **Gram matrix** has the kernel value of each pair of observations: all that a kernel method ever sees of them. Here "
    "are some of the training observations, in order of their labels. Blocks along the diagonal mean that words of one label "
    "are alike: then the labels are easy to learn with this kernel."
)
SIZE = "How many observations, as evenly over the labels as there are."
COSINE = "Divide by √(k(x, x) k(z, z)), so that every observation is alike to itself by 1."
SPECTRUM = (
    "Eigenvalues of this matrix, on a scale of powers of ten: how much the observations differ along each direction. A steep "
    "fall means that few directions hold nearly everything: a sparse or low-rank model loses little. A flat line means that "
    "every observation is like itself only, and nothing carries over to new words."
)
TRY_GRAM = (
    "**What to try.** Train with `rbf:0.5` and `rbf:20`: with a narrow kernel the matrix is a diagonal and the spectrum is "
    "flat, with a wide one all are alike and one eigenvalue is left."
)


def large(tokens: int) -> str:
    return f"This run was trained on {tokens:,} tokens: looking at them may take half a minute."


def influence_line(influence: Influence, bars: list[dict], by: str, word: str) -> str:
    """How the score comes about, in a sentence."""
    shown = sum(row[by] for row in bars)
    rest = sum(row[by] for row in influence.rows) - shown
    more, apart = len(influence.rows) - len(bars), influence.score - influence.explained
    label, word = (in_markdown(shortened(text)) for text in (influence.label, word))
    text = f"The score of **{label}** for “{word}” is **{influence.score:+.3f}**: "
    text += f"an average word has {influence.average:+.3f}, " if by == "difference" else ""
    text += f"the bars add {shown:+.3f}" + (f", the other {more:,} observations {rest:+.3f}." if more else ".")
    if abs(apart) > 5e-4:
        text += f" {apart:+.3f} is left: the fit is not exactly at the minimum, where β is read off."
    return text + " Beside this score the neighbouring labels count, by the transition scores."


def spectrum_line(spectrum: Spectrum, same: float | None, other: float | None) -> str:
    """What the matrix and its spectrum say, in numbers."""
    text = (
        f"**Effective rank {spectrum.effective_rank:.1f}** of {len(spectrum.eigenvalues)}; {spectrum.nearly_all} eigenvalues "
        "make 99 % of the sum."
    )
    if same is not None and other is not None:
        text += f" Mean kernel value between words of one label {same:.3f}, of different labels {other:.3f}."
    return text
