"""What the Learn page says: lessons with a text, formulas, and links to pages where the thing can be seen or tried."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from labseq_core.registry import Registry
from pages.ui.learn import pictures, results


@dataclass(frozen=True)
class Link:
    label: str
    page: str
    icon: str
    choices: dict[str, str | list[str]]


@dataclass(frozen=True)
class Lesson:
    """key: in links. picture: draws it, with what is to be seen in it and its numbers. question: to think about while
    following the links.
    """

    key: str
    title: str
    picture: Callable[[], None]
    text: str
    links: tuple[Link, ...]
    question: str


def _see(label: str, page: str, **choices: str) -> Link:
    return Link(label, page, "visibility", choices)


def _train(label: str, dataset: str, variants: list[str], **choices: str) -> Link:
    return Link(label, "train", "experiment", {"dataset": dataset, "variant": variants, **choices})


LESSONS = Registry(
    "lesson",
    [
        Lesson(
            "generative",
            "Generative or discriminative",
            pictures.clues,
            r"""
A **hidden Markov model** describes how sentences come about: a label follows a label, and a label utters a word.

$$p(x, y) = \prod_t p(y_t \mid y_{t-1})\, p(x_t \mid y_t)$$

It is trained by counting, at once. But it must describe the words too, and takes its clues for independent: the word, its
spelling and its neighbours count as if they had nothing to do with one another.

A **conditional random field** does not describe words, only labels given words. Clues may overlap as they like; each gets the
weight that makes the true labellings probable together with all others.

$$p(y \mid x) = \frac{1}{Z(x)} \exp\Big(\sum_t w_{y_t} \cdot \phi_t(x) + \sum_t w_{y_{t-1} y_t}\Big)$$
""",
            (
                _see("What the CRF's clues weigh", "inside", tab="Weights", run="default:spanish-ner"),
                _train("Train both with words alone", "spanish-ner", ["hmm", "crf"], features="S1"),
                _train(
                    "Train both with all clues",
                    "spanish-ner",
                    ["hmm:emissions=attributes:smoothing=0.0001", "crf"],
                    features="S3",
                ),
            ),
            "Which of the two would you believe when it says how sure it is, and why?",
        ),
        Lesson(
            "losses",
            "Log, exp and hinge loss",
            pictures.losses,
            r"""
Counting errors is what is meant, but the count does not change when weights move a little, so nothing can be learned from
its slope. Each method minimises a stand-in for it, a function of the **margin** $m = F(x, y) - \max_{y' \ne y} F(x, y')$.

Move the margin and watch what an example costs, and how hard it **pulls** at the weights. Exp pulls hardest at what is far
on the wrong side; hinge does not care for what is right by enough, so few examples remain: the support sequences; log never
quite lets go, and in return its scores become probabilities.
""",
            (
                _see("Support sequences of the hinge loss", "inside", tab="HM-SVM"),
                _train("Train all three", "spanish-ner", ["crf", "exp", "hmsvm"]),
            ),
            "One training sentence is mislabelled. Which of the three losses will suffer most, and why?",
        ),
        Lesson(
            "margin",
            "What a margin is",
            pictures.mistakes,
            r"""
The **perceptron** guesses, and where the guess is wrong it adds the features of the truth and takes away those of the guess.
Novikoff: if some weights of length 1 let every true labelling win by $\gamma$, and no correction is longer than $R$, then

$$\text{mistakes} \le (R / \gamma)^2$$

whatever the order, however long the training goes on. A wide margin means few mistakes; that is why the **HM-SVM** looks for
the widest. The picture has the mistakes that the perceptron really made until it made no more, beside the bound.
""",
            (
                _see("Margins of three methods", "inside", tab="Margins"),
                _train("Train perceptron and HM-SVM", "spanish-ner", ["perceptron", "hmsvm"]),
            ),
            "The bound is far above the mistakes made. Which of its two ingredients is the pessimistic one here?",
        ),
        Lesson(
            "boosting",
            "Why boosting selects features",
            results.sizes,
            r"""
Boosting changes **one weight a round**: the one that lowers a bound on the exponential loss most. What never comes up stays
exactly zero, so the model is small and can be read from the top.

$$\sum_i \Big(\frac{1}{p(y^i \mid x^i)} - 1\Big)$$

This loss falls from round to round. A loose bound is cheap but takes small steps, and comes back to the same feature again
and again; a tight one does not.
""",
            (
                _see("Replay the rounds", "inside", tab="Boosting", boosting="Round by round"),
                _train("Boost and CRF with L1", "spanish-ner", ["boost", "crf:l1=1"]),
            ),
            "Stop after 50 rounds: which kind of feature has been chosen, and what would a CRF do with the others?",
        ),
        Lesson(
            "kernel",
            "What a kernel buys",
            results.kernels,
            r"""
In the corpus **parity** a label hangs on whether two attributes *differ*. Neither says anything by itself, so no weights on
single attributes can do better than guessing. A **kernel** compares whole observations; that of degree 2

$$k(x, z) = (\langle x, z \rangle + 1)^2$$

acts as if every pair of attributes were an attribute, without writing the pairs down.
""",
            (
                _see("Linear methods fail", "compare", run="default:parity"),
                _train(
                    "Linear against degree 2",
                    "parity",
                    ["crf", "gps:kernel=linear", "gps"],
                    features="prosody",
                    window="1",
                ),
            ),
            "Does degree 3 do better than 2 here? What does it cost?",
        ),
        Lesson(
            "sparse",
            "Sparse Gaussian processes",
            results.sparse_path,
            r"""
GP sequence classification is the CRF with kernels: the function $f$ is uncertain, smooth functions are more probable
beforehand, and the most probable one given the data is taken.

$$\min_f\; \sum_i -\log p(y^i \mid x^i, f) + \frac{\lambda}{2} \lVert f \rVert^2$$

The best function is a sum over **all** training observations, so prediction is slow. A greedy method takes the most useful
ones step by step; a small part of them is nearly as good as all.
""",
            (_see("Accuracy against sparseness", "inside", tab="GPSC", gpsc="Sparseness"),),
            "Where on the curve would you stop if each prediction had to be ten times as fast?",
        ),
        Lesson(
            "abstain",
            "When to abstain",
            results.coverage,
            r"""
A model with probabilities can say *I do not know*. Withhold every token whose most probable label is below a threshold: the
rest is answered more often rightly.

$$\text{precision} = \frac{\text{right}}{\text{answered}}, \qquad \text{recall} = \frac{\text{right}}{\text{all}}$$

That pays only if the probabilities keep their word: of what a model is 80 % sure of, 80 % should be right.
""",
            (
                _see("Move the threshold", "abstain"),
                _see("Do the probabilities keep their word?", "abstain", below="Reliability"),
                _see("With a method that has no probabilities", "abstain", gaps="true", threshold="0.85"),
            ),
            "A wrong answer costs you ten times as much as asking a person. Which share would you let the model answer?",
        ),
    ],
    key="key",
)
