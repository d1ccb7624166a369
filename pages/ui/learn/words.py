"""What is to be seen in the pictures of the lessons, as sentences made from their numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

CLUES = {"S1": "word", "S2": "+ spelling", "S3": "+ neighbours"}
COUNTED = {"hmm": "HMM, counts", "crf": "CRF, weighs"}
MISSING = "The numbers of this lesson are missing; `labseq defaults` makes them."
LOSSES = "Log is measured in bits here, so that it bounds the count of errors too. Pull: minus the slope."
ANSWERED = "The surest tokens of each method are answered, so many of all; the others are withheld."
SCORED_ON = "Corpus {}, test part."


def clues(rows: Sequence[dict]) -> str:
    """What clues that overlap do to a method that counts and to one that weighs."""
    scores = {(row["method"], row["features"]): row for row in rows}
    few, more, most = CLUES
    ahead = "HMM" if scores["hmm", few]["span_f1"] > scores["crf", few]["span_f1"] else "CRF"
    gains = {method: scores[method, more]["span_f1"] - scores[method, few]["span_f1"] for method in COUNTED}
    return (
        f"With the **word alone** the {ahead} is ahead: span F1 **{scores['hmm', few]['span_f1']:.3f}** of the HMM, "
        f"**{scores['crf', few]['span_f1']:.3f}** of the CRF. **Spelling** says again what the word says: it brings the HMM "
        f"{gains['hmm']:+.3f} and the CRF **{gains['crf']:+.3f}**. With **neighbours** too they reach "
        f"{scores['hmm', most]['span_f1']:.3f} and {scores['crf', most]['span_f1']:.3f}. But look how sure they are: "
        f"the HMM takes one clue for several, and its log loss is "
        f"**{scores['hmm', most]['log_loss'] / scores['crf', most]['log_loss']:.1f} times** that of the CRF "
        f"({scores['hmm', most]['log_loss']:.3f} and {scores['crf', most]['log_loss']:.3f})."
    )


def losses(rows: Sequence[dict], margin: float) -> str:
    """Which loss costs and which pulls most at a margin."""
    ours = {row["loss"]: row for row in rows if row["loss"] in ("log", "exp", "hinge")}
    hardest = max(ours.values(), key=lambda row: row["pull"])
    side = "on the wrong side" if margin < 0 else "on the border" if margin == 0 else "on the right side"
    let_go = "" if ours["hinge"]["pull"] else " Hinge has let go of it: no such sentence becomes a support sequence."
    costs = ", ".join(f"{name} **{row['value']:.2f}**" for name, row in ours.items())
    return (
        f"An example with margin {margin:g} is {side}. It costs: {costs}. **{hardest['loss'].capitalize()}** pulls hardest at "
        f"it ({hardest['pull']:.2f}).{let_go}"
    )


def mistakes(rows: Sequence[dict]) -> str:
    """How far the bound is above the mistakes."""
    first, last = rows[0], rows[-1]
    return (
        f"On {last['sentences']} sentences the perceptron made **{last['mistakes']:,}** mistakes until it made none; the bound "
        f"allows **{last['bound']:,.0f}**, {last['bound'] / last['mistakes']:,.0f} times as many. From {first['sentences']} to "
        f"{last['sentences']} sentences the margin γ fell from {first['margin']:.3f} to {last['margin']:.3f}: the more "
        "sentences must win at once, the narrower."
    )


def sizes(boosted: Sequence[dict], path: Sequence[dict], early: int) -> str:
    """How few weights boosting needs, beside those of a CRF and of a CRF that an absolute penalty made sparse."""
    soon, last = boosted[min(early, len(boosted)) - 1], boosted[-1]
    whole = max(path, key=lambda row: row["nonzero"])
    alike = min(path, key=lambda row: abs(row["nonzero"] - last["features"]))
    return (
        f"After {soon['round']} rounds boosting uses **{soon['features']}** weights, and {1 - soon['dev_accuracy']:.1%} of the "
        f"tokens are wrong; after {last['round']} rounds **{last['features']}** of {whole['parameters']:,.0f} weights "
        f"({last['features'] / whole['parameters']:.1%}), and **{1 - last['dev_accuracy']:.1%}**. The CRF uses "
        f"{whole['nonzero']:,.0f} for {1 - whole['dev_accuracy']:.1%}. An absolute penalty selects as well: l1 = "
        f"{alike['l1']:g} leaves the CRF {alike['nonzero']:,.0f} weights, and {1 - alike['dev_accuracy']:.1%} are wrong."
    )


def kernels(accuracies: Mapping[str, float], linear: str, guess: float) -> str:
    """How a linear method, a guess, and methods with pairs of attributes do. linear: the name of the linear method."""
    others = " and ".join(f"**{name}** {value:.1%}" for name, value in accuracies.items() if name != linear)
    return (
        f"**{linear}** has a weight for each attribute and gets **{accuracies[linear]:.1%}** of the tokens right; to say the "
        f"most frequent label always would get {guess:.1%}. With pairs of attributes, by a kernel of degree 2: {others}."
    )
