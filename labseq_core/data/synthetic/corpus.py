"""What a synthetic corpus is: a hidden chain, columns computed from what is visible, and what must be said about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from random import Random

from labseq_core.data.sequences import Sequences
from labseq_core.data.synthetic.emissions import Value
from labseq_core.data.synthetic.hidden_chain import TOKEN, HiddenChain

VisibleValues = dict[str, list[Value]]  # of one sentence, "token" included


def nothing_derived(visible: VisibleValues) -> VisibleValues:
    return {}


@dataclass(frozen=True)
class SyntheticCorpus:
    """A generator with known truth. `build_chain` is called at the first use: importing this costs nothing."""

    name: str
    title: str
    task: str  # "token" | "segment"
    description: str
    columns: tuple[str, ...]  # between token and label, in file order
    build_chain: Callable[[], HiddenChain]
    # Columns that are functions of one sentence's visible values: they tell a learner nothing that the truth ignores.
    derive: Callable[[VisibleValues], VisibleValues] = nothing_derived
    sizes: tuple[int, int, int] = (400, 100, 200)  # sentences in train, dev, test

    @cached_property
    def chain(self) -> HiddenChain:
        return self.build_chain()

    @property
    def labels(self) -> list[str]:
        return self.chain.labels

    def draw(self, size: int, random: Random) -> Sequences:
        """This many labelled sentences."""
        tokens, labels, columns = [], [], {name: [] for name in self.columns}
        for _ in range(size):
            states, visible = self.chain.draw(random)
            visible |= self.derive(visible)
            tokens.append(visible[TOKEN])
            labels.append([self.chain.state_labels[state] for state in states])
            for name, column in columns.items():
                column.append(visible[name])
        return Sequences.from_lists(tokens, labels, columns)
