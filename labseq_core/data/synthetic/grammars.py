"""Right-branching grammars as hidden chains: a state is the word being said and what still has to follow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from labseq_core.checks import require

Rules = Mapping[str, Mapping[str, float]]  # symbol -> {"SYMBOLS in order": weight}; "" is the empty production
Stack = tuple[str, ...]
MOST_STATES = 1000  # nested recursion would make states without end


@dataclass(frozen=True)
class StateGraph:
    """The word classes of a grammar as a Markov chain of S states."""

    word_classes: list[str]  # (S,)
    start: np.ndarray  # (S,)
    transition: np.ndarray  # (S, S), [from, to]
    stop: np.ndarray  # (S,): rows of `transition` and `stop` together sum to 1


def compile_rules(rules: Rules, mark_first: bool = False) -> StateGraph:
    """The chain of the derivations of "SENTENCE". Symbols without a rule are word classes.

    A state is (word class, symbols still to come), so equal continuations share states and a rule may call itself at its
    end. With `mark_first` the states of the first position are apart, their word class written as "^class".
    """
    expanded: dict[Stack, dict[Stack, float]] = {}

    def leads_to(stack: Stack) -> dict[Stack, float]:
        """Distribution of the stacks, word class first, that leftmost derivation makes of this one; () is the end."""
        if not stack or stack[0] not in rules:
            return {stack: 1.0}
        if stack not in expanded:
            productions = rules[stack[0]]
            total, result = sum(productions.values()), {}
            for production, weight in productions.items():
                for stack_after, probability in leads_to((*production.split(), *stack[1:])).items():
                    result[stack_after] = result.get(stack_after, 0.0) + weight / total * probability
            expanded[stack] = result
        return expanded[stack]

    first = leads_to(("SENTENCE",))
    if mark_first:
        first = {("^" + stack[0], *stack[1:]): probability for stack, probability in first.items()}
    numbers = {stack: number for number, stack in enumerate(first)}
    stacks, moves = list(first), []
    for stack in stacks:  # grows while it is walked
        require(len(stacks) <= MOST_STATES, f"more than {MOST_STATES} states; a rule may call itself at its end only")
        moves.append(leads_to(stack[1:]))
        for stack_after in moves[-1]:
            if stack_after and stack_after not in numbers:
                numbers[stack_after] = len(stacks)
                stacks.append(stack_after)
    return _as_graph(stacks, numbers, first, moves)


def _as_graph(stacks: list[Stack], numbers: dict[Stack, int], first: dict, moves: list[dict]) -> StateGraph:
    n_states = len(stacks)
    start, transition, stop = np.zeros(n_states), np.zeros((n_states, n_states)), np.zeros(n_states)
    for stack, probability in first.items():
        start[numbers[stack]] = probability
    for number, move in enumerate(moves):
        for stack, probability in move.items():
            if stack:
                transition[number, numbers[stack]] = probability
            else:
                stop[number] = probability
    return StateGraph([stack[0] for stack in stacks], start, transition, stop)
