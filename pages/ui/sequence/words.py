"""What the page One sequence says. Texts with words or labels of data in them are HTML, and those are escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import inf

from labseq_core.explain import Contributions, Reading, Step
from pages.ui.drawing.plain_text import in_html

INTRODUCTION = (
    "Any sentence, any methods of a run side by side. Then one model in depth, in four views: how sure it is of each label, "
    "with the next best labellings; how the recursions get there step by step; what a decision is made of; and what would be "
    "if a label were another one."
)
GLOSSARY = """
**What you see.** Every method here scores whole labellings: F = scores of single words with their labels (**node**) + scores
of neighbouring labels (**edge**). Decoded by **Viterbi**, the labelling with the highest F is shown; decoded by
**posterior**, the most probable label of each word.

**How to read it.**
- **p** under a label is its probability given the whole sentence, summed over all labellings (a **marginal**). Methods that
  give scores only have a **gap** instead: by how much the best labelling beats the best one with another label there. A gap
  is **not a probability**, and gaps of different methods cannot be compared.
- **Trellis**: a column for each word, a node for each label. **Forward** (α) and **backward** (β) add up all ways to and from
  a node, in logarithms; **Viterbi** (δ) keeps the best way only and remembers where it came from.
- **Why**: the parts in which two labellings differ. They add up to the difference of the two scores, nothing is left out. For
  posterior decoding one part more stands for all other labellings, and they add up to the log-odds of the two labels.

**What to try.** Change a capital letter in the sentence. **Step by step**: click a node of the trellis, or go on with
the arrows. **Why this label**: look for the word that turns a decision. **What if**: force a wrong label and see its
neighbours follow.
"""
NUMBER = (
    "Sentences of the part that the models were scored on, numbered as on the Compare page. A change drops typed words."
)
WORDS = "Words, separated by blanks. Press Enter to label them anew. The address of the page keeps them."
METHODS_SHOWN = "The methods of this run to show side by side; none: all of them."
VIEW = "What to see of this model. Choices made in one view are kept while another one is open."
MODEL = "The model that everything from here on is about."
POSITION = "The word that everything below is about; at first the one of which the model is least sure."
TOO_LONG = "Sentences of more than {:,} characters are cut off here."
SIDE_BY_SIDE = (
    "Small numbers: p is the probability of the label; a gap is a difference of scores and no probability. ▼: the position "
    "that the lower part of the page is about. A framed label with ✗ is wrong."
)
LIVE = "Small numbers: p is the probability of the label; a gap is a difference of scores, and no probability."
MARGINALS = (
    "How probable each label is at each word. The dashed frame is the position; • marks the label that is given."
)
BEHIND = (
    "How far the best labelling through a label is behind the best of all: 0 is the best labelling (•). These are differences "
    "of scores, **not probabilities**: this method has none."
)
K_BEST = "A dot stands for the same label as in the best labelling."
GIVEN = (
    " Posterior decoding gives none of these as a whole: the last row has the most probable label of each word where it is "
    "another one."
)
TRELLIS = (
    "Numbers at the nodes are values of the recursion, in logarithms; hollow nodes have not been reached yet. Squares: the "
    "best path; a ring: the chosen node. Click any node to choose it."
)
RECURSIONS = {"Forward": "forward", "Backward": "backward", "Viterbi": "viterbi"}
SYMBOLS = {"forward": "α", "backward": "β", "viterbi": "δ"}
_MEANINGS = {
    "forward": "all beginnings that end here, added up: the label's own score, and every label before it with the step to it",
    "backward": "all endings that go on from here, added up: every label after it with its own score and the step to it",
    "viterbi": "the best beginning that ends here: the label's own score, and the best label before it with the step to it",
}
_TERMS_SHOWN = 4
VOICES = (
    "This method compares each word, with its surroundings, to words of the training data: **k** says how alike they are, and "
    "each votes for and against labels. These are the training words whose votes decided most; **the training label** stands "
    "after the word."
)
FORCE = (
    "The label is fixed, and all else is computed anew: the labels that each method then gives, and their probabilities given "
    "it. Framed labels with an arrow are others than before."
)


def number(value: float, digits: int = 2) -> str:
    """A number for a trellis or a formula."""
    if value in (inf, -inf):
        return "∞" if value > 0 else "−∞"
    # What rounds to nothing has no sign.
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−")


def confidence(value: float, probability: bool) -> str:
    """How sure a model is of a label, and in which unit."""
    return f"p {value:.2f}" if probability else f"gap {number(value)}"


def confidences(reading: Reading) -> list[str]:
    """The same of each label that a model gives."""
    return [confidence(value, reading.probabilistic) for value in reading.confidence]


def quoted(word: str) -> str:
    """A word of the data within a sentence of ours, as HTML."""
    return f"“{in_html(word)}”"


def changed(length: int, own: int, columns: Sequence[str]) -> str:
    """What other words mean: no truth, and the columns of the sentence they stand in for."""
    said = "These are not the words of the corpus, so nobody knows the true labels."
    if columns:
        # Code, so that no name of a column is taken for markup.
        said += f" The columns {', '.join(f'`{name.replace(chr(96), chr(39))}`' for name in columns)} stay as in the sentence"
        said += ", position by position."
        if length > own:
            said += f" Words after position {own} have none there, as if their cells were empty."
    return said


def formula(step: Step, classes: Sequence[str], word: str) -> str:
    """The current step of a recursion in words, as a formula, and with the numbers put in; HTML."""
    symbol, t, label = SYMBOLS[step.recursion], step.position + 1, in_html(classes[step.label])
    node = f"{symbol}<sub>{t}</sub>({label})"
    meaning = f"{node} for {quoted(word)}: {_MEANINGS[step.recursion]}."
    if not step.terms.size:
        rule = {"backward": "stop({0})"}.get(step.recursion, "start({0}) + node<sub>1</sub>({0})").format(label)
        return f"<p>{meaning} Here the recursion begins.</p><p>{node} = {rule} = <b>{number(step.value)}</b></p>"
    backward = step.recursion == "backward"
    beside = t + 1 if backward else t - 1
    edge = f"edge({label}, r)" if backward else f"edge(r, {label})"
    inside = f"{symbol}<sub>{beside}</sub>(r) + {edge}" + (f" + node<sub>{beside}</sub>(r)" if backward else "")
    own_name, own = ("", "") if backward else (f"node<sub>{t}</sub>({label}) + ", f"{number(step.own)} + ")
    join = "max<sub>r</sub> (" if step.recursion == "viterbi" else "log Σ<sub>r</sub> exp("
    return (
        f"<p>{meaning}</p><p>{node} = {own_name}{join}{inside})</p>"
        f"<p>= {own}{_numbers(step, classes)} = <b>{number(step.value)}</b></p>"
    )


def _numbers(step: Step, classes: Sequence[str]) -> str:
    """The terms with their numbers, largest first."""
    order = sorted(range(step.terms.size), key=lambda s: -step.terms[s])
    viterbi = step.recursion == "viterbi"
    some = []
    for s in order[:_TERMS_SHOWN]:
        parts = [number(step.reached[s]), _signed(step.edge[s])]
        if step.recursion == "backward":
            parts.append(_signed(step.beside[s]))
        term = " ".join(parts)
        some.append(f"{term if viterbi else f'exp({term})'} <small>[{in_html(classes[s])}]</small>")
    more = step.terms.size - len(some)
    rest = [f"<small>{more} smaller ones</small>"] if more else []
    return f"max({', '.join(some + rest)})" if viterbi else f"log({' + '.join(some + rest)})"


def _signed(value: float) -> str:
    return f"{'−' if value < 0 else '+'} {number(abs(value))}"


def vote(value: float) -> str:
    """A number whose sign matters."""
    return f"{'−' if value < 0 else '+'}{number(abs(value), 3)}"


def term_table(step: Step, classes: Sequence[str]) -> tuple[list[str], list[list[str]]]:
    """The same terms as a table: head and rows of HTML, largest first."""
    symbol, backward = SYMBOLS[step.recursion], step.recursion == "backward"
    head = ["label after" if backward else "label before", symbol, "edge", *(["node"] if backward else []), "sum"]
    head.append("pointed at" if step.recursion == "viterbi" else "share")
    rows, shares = [], step.shares
    for s in sorted(range(step.terms.size), key=lambda s: -step.terms[s]):
        row = [in_html(classes[s]), number(step.reached[s], 3), number(step.edge[s], 3)]
        row += [number(step.beside[s], 3)] if backward else []
        share = ("✓" if shares[s] else "") if step.recursion == "viterbi" else f"{shares[s]:.1%}"
        rows.append([*row, number(step.terms[s], 3), share])
    return head, rows


def posterior_node(reading: Reading, position: int, label: str, word: str) -> str:
    """What the recursions have to do with a label that is chosen by its probability; HTML."""
    t, s, shown, lattice = position + 1, reading.classes.index(label), in_html(label), reading.lattice
    sums = [lattice.forward[position, s], lattice.backward[position, s], lattice.log_partition]
    probability = reading.probability_of(position, label)
    return (
        f"<p>This variant is decoded by posterior: each label is chosen by its probability, which forward and backward give "
        f"together, and not by Viterbi's path. For {quoted(word)}: p<sub>{t}</sub>({shown}) = exp(α<sub>{t}</sub>({shown}) + "
        f"β<sub>{t}</sub>({shown}) − log Z) = exp({number(sums[0])} {_signed(sums[1])} {_signed(-sums[2])}) = "
        f"<b>{probability:.3f}</b>; the label given is {in_html(reading.labels[position])}, with "
        f"{reading.confidence[position]:.3f}.</p>"
    )


def _where(why: Contributions) -> str:
    """At which positions two labellings differ."""
    places = ", ".join(map(str, why.positions))
    if len(why.positions) == 1:
        return f"They differ at position {places} only."
    return f"They differ at the positions {places}, and all of them count."


def odds(why: Contributions, reading: Reading, name: str, position: int, word: str) -> str:
    """Why one label is more probable than another: what is compared with what, and the log-odds; HTML."""
    label, rival = in_html(why.chosen[position]), in_html(why.rival[position])
    p, q = (reading.probability_of(position, labels[position]) for labels in (why.chosen, why.rival))
    return (
        f"<p><b>{escape(name)}</b> is decoded by posterior: each label is chosen by its probability, which is a sum over all "
        f"labellings that have it. For {quoted(word)} that is {p:.3f} for <b>{label}</b> and {q:.3f} for <b>{rival}</b>: "
        f"log-odds of <b>{number(why.difference, 3)}</b>, made of the parts below. They are those in which the best labelling "
        f"with {label} differs from the best one with {rival}, and one for all other labellings. {_where(why)}</p>"
    )


def compared(why: Contributions, name: str, position: int, word: str) -> str:
    """What is compared with what, and the difference; HTML."""
    label, rival = in_html(why.chosen[position]), in_html(why.rival[position])
    return (
        f"<p><b>{escape(name)}</b> compares two labellings of the whole sentence: the best one, with <b>{label}</b> for "
        f"{quoted(word)}, and the best one with <b>{rival}</b> there. {_where(why)} "
        f"F = {number(why.chosen_score, 3)} against {number(why.rival_score, 3)}: a difference of "
        f"<b>{number(why.difference, 3)}</b>, made of the parts below.</p>"
    )
