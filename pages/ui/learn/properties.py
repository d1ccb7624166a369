"""Which method has what (thesis, Table 5.2), and for each cell the place in LabSeq where it can be seen."""

from __future__ import annotations

from dataclasses import dataclass

COMPARED = ("CRF", "Boosting", "HM-SVM", "GPSC")
_GP = "GP sequence classification"
_ALIKE = "default:margin-distribution"  # CRF, boosting and HM-SVM on one corpus with the same attributes


@dataclass(frozen=True)
class Cell:
    """What a method has, where that can be seen, and what to look for there."""

    says: str
    look_for: str
    page: str
    choices: dict[str, str | list[str]]


@dataclass(frozen=True)
class Property:
    meaning: str
    cells: tuple[Cell, ...]  # in the order of COMPARED


def _cell(says: str, look_for: str, page: str, **choices: str | list[str]) -> Cell:
    return Cell(says, look_for, page, choices)


PROPERTIES = {
    "Loss function": Property(
        "what training minimises in place of the count of errors",
        (
            _cell("log", "Under Any measure: the log loss on new sentences; on the training sentences the CRF minimises it.",
                  "compare", run=_ALIKE, view="Measures", metric="log_loss"),
            _cell("exp", "The exponential loss as it falls round by round.", "inside", tab="Boosting", boosting="Losses",
                  run="default:boosting"),
            _cell("hinge", "The margins of the HM-SVM pile up at 1: the hinge loss asks for no more.", "inside",
                  tab="Margins", run=_ALIKE, scale="scores"),
            _cell("log", "The objective, minus log-likelihood plus the penalty, as observations are added.", "inside",
                  tab="GPSC", gpsc="Sparseness", run="default:sparseness"),
        ),
    ),
    "Overlapping features": Property(
        "clues may say the same thing twice",
        (
            _cell("yes", "Under Why this label: word, spelling and neighbours, each with a weight of its own.", "sequence",
                  run=_ALIKE, look="CRF", show="Why this label"),
            _cell("yes", "Under Why this label: the few clues that were chosen, overlapping or not.", "sequence",
                  run=_ALIKE, look="Sequence boosting", show="Why this label"),
            _cell("yes", "Under Why this label: word, spelling and neighbours add up to the score.", "sequence",
                  run=_ALIKE, look="HM-SVM", show="Why this label"),
            _cell("yes", "Under Why this label: training words that are alike in many clues at once.", "sequence",
                  run="default:spanish-ner", look=_GP, show="Why this label"),
        ),
    ),
    "Regularisation": Property(
        "what keeps a model from learning the training data by heart",
        (
            _cell("penalty", "The L1 path: the larger the penalty, the fewer weights are left.", "inside",
                  tab="Weights", run="default:l1-path", weights="L1 path"),
            _cell("ensemble margin", "Margins over the sum of weights: the scale on which boosting widens them.", "inside",
                  tab="Margins", run=_ALIKE, scale="sum of weights"),
            _cell("margin", "Margins over the length of the weights: the scale on which the HM-SVM widens them.", "inside",
                  tab="Margins", run=_ALIKE, scale="length"),
            _cell("Gaussian prior", "The Gram matrix: how alike two observations are is how much the prior ties them.",
                  "inside", tab="GPSC", gpsc="Gram matrix", run="default:abstention"),
        ),
    ),
    "Few features": Property(
        "most weights are exactly zero",
        (
            _cell("no", "The measure Share used: the CRF uses every weight.", "compare", run=_ALIKE, view="Measures",
                  metric="used_share"),
            _cell("yes", "The first 50 rounds: one feature a round, all others are zero.", "inside",
                  tab="Boosting", boosting="Round by round", run="default:boosting", round="50"),
            _cell("no", "It is sparse in sentences: few of them have support sequences.", "inside",
                  tab="HM-SVM", run="default:margins"),
            _cell("no", "The measure Share used: all training observations speak, unless it is made sparse.", "compare",
                  run="default:pitch-accent", view="Measures", metric="used_share"),
        ),
    ),
    "Probabilities": Property(
        "scores mean how often the model is right",
        (
            _cell("yes", "Its curve and what it withholds; under Reliability, whether its probabilities keep their word.",
                  "abstain", run="default:abstention", model="CRF"),
            _cell("no", "Its loss is no likelihood. Scores can be made to add up to 1, but another bound gives others: see the "
                  "reliability diagram.", "abstain", run="default:boosting", below="Reliability"),
            _cell("no", "It has score gaps only: they order its tokens and say nothing else.", "abstain",
                  run="default:abstention", gaps="true", model="HM-SVM · score gap, not a probability"),
            _cell("yes", "Its curve and what it withholds; under Reliability, whether its probabilities keep their word.",
                  "abstain", run="default:abstention", model=_GP),
        ),
    ),
    "Kernels": Property(
        "attributes that are never written down, such as all pairs",
        (
            _cell("no", "On the corpus parity, where only pairs of attributes say anything, the CRF guesses.", "compare",
                  run="default:parity"),
            _cell("no", "Ready to train: boosting beside a kernel on the corpus parity.", "train", dataset="parity",
                  variant=["boost", "gps"], features="prosody", window="1"),
            _cell("yes", "On the corpus parity: HM-SVM with a kernel of degree 2 against the CRF, with p values.", "compare",
                  run="default:parity", view="Significance"),
            _cell("yes", "On the corpus parity: which training observations decide and, under Gram matrix, how alike they are.",
                  "inside", tab="GPSC", gpsc="Who decides", run="default:parity"),
        ),
    ),
    "Computation": Property(
        "what training asks of every sentence again and again",
        (
            _cell("forward-backward", "Under Step by step: α adds up all beginnings that end in a node.", "sequence",
                  run=_ALIKE, look="CRF", recursion="Forward", show="Step by step"),
            _cell("forward-backward", "Under Step by step: β adds up all endings that go on from a node.", "sequence",
                  run=_ALIKE, look="Sequence boosting", recursion="Backward", show="Step by step"),
            _cell("Viterbi", "Under Step by step: δ keeps the best beginning only.", "sequence",
                  run=_ALIKE, look="HM-SVM", recursion="Viterbi", show="Step by step"),
            _cell("forward-backward", "Under Step by step: α, with scores that come from a kernel.", "sequence",
                  run="default:spanish-ner", look=_GP, recursion="Forward", show="Step by step"),
        ),
    ),
}  # fmt: skip
