"""How the labels of variants were decoded, in words that stand beside their accuracies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from labseq_core.experiments.plan.variant import MethodChoice

DECODING_TITLES = {"viterbi": "Viterbi", "posterior": "posterior"}


def decoding_line(choices: Sequence[MethodChoice], names: Mapping[str, str] | None = None) -> str:
    """In one sentence: Decoded by Viterbi; Marginal CRF: posterior.

    names: how the variants are called, by label; None: by their labels. Those whose name says it are not listed.
    """
    usual, *others = [
        decoding for decoding in DECODING_TITLES if any(choice.decoding == decoding for choice in choices)
    ]
    line = f"Decoded by {DECODING_TITLES[usual]}"
    for decoding in others:
        called = [names[choice.label] if names else choice.label for choice in choices if choice.decoding == decoding]
        listed = [name for name in called if decoding not in name]
        listed += ["where the name says so"] if len(listed) < len(called) else []
        line += f"; {', '.join(listed)}: {DECODING_TITLES[decoding]}"
    return f"{line}."
