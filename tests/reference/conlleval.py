"""conlleval's way of counting, one token after the other, written from its rules: the oracle of the span metrics.

The scorer never lists spans. It walks over both columns at once, asks between each two lines whether a chunk ended or
began on either side, and remembers whether the chunks open on both sides have agreed so far. A sentence break is a line
with O on both sides. Only B, I, O, E and labels without '-' are covered, as in the original; not its brackets.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

ENDS = {("B", "B"), ("B", "O"), ("I", "B"), ("I", "O"), ("E", "E"), ("E", "I"), ("E", "O")}
BEGINS = {("B", "B"), ("I", "B"), ("O", "B"), ("O", "I"), ("E", "E"), ("E", "I"), ("O", "E")}
NEVER_INSIDE = {"O", "."}


@dataclass
class Tally:
    correct: Counter = field(default_factory=Counter)
    predicted: Counter = field(default_factory=Counter)
    true: Counter = field(default_factory=Counter)

    def totals(self) -> tuple[int, int, int]:
        return self.correct.total(), self.predicted.total(), self.true.total()


@dataclass
class Column:
    """One side of the comparison: the line before and the line at hand, as (tag, kind)."""

    before: tuple[str, str] = ("O", "")
    now: tuple[str, str] = ("O", "")

    def advance(self, label: str) -> None:
        tag, dash, kind = label.partition("-")
        self.before, self.now = self.now, (tag, kind if dash else "")

    @property
    def ends(self) -> bool:
        tag, kind = self.before
        return (tag, self.now[0]) in ENDS or (tag not in NEVER_INSIDE and kind != self.now[1])

    @property
    def begins(self) -> bool:
        tag, kind = self.now
        return (self.before[0], tag) in BEGINS or (tag not in NEVER_INSIDE and kind != self.before[1])


def count(y_true: list[list[str]], y_pred: list[list[str]]) -> Tally:
    tally = Tally()
    true, predicted = Column(), Column()
    agreeing = False
    for true_label, predicted_label in lines(y_true, y_pred):
        true.advance(true_label)
        predicted.advance(predicted_label)
        if agreeing:
            both_end = true.ends and predicted.ends
            if both_end and true.before[1] == predicted.before[1]:
                tally.correct[true.before[1]] += 1
                agreeing = False
            elif true.ends != predicted.ends or true.now[1] != predicted.now[1]:
                agreeing = False
        if true.begins and predicted.begins and true.now[1] == predicted.now[1]:
            agreeing = True
        tally.true[true.now[1]] += true.begins
        tally.predicted[predicted.now[1]] += predicted.begins
    return tally


def lines(y_true: list[list[str]], y_pred: list[list[str]]):
    for true_sequence, predicted_sequence in zip(y_true, y_pred, strict=True):
        yield from zip(true_sequence, predicted_sequence, strict=True)
        yield "O", "O"
