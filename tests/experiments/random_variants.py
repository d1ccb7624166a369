"""Variants of any kind, for properties that all of them have."""

from __future__ import annotations

from hypothesis import strategies as st

from labseq_core.experiments import FeatureChoice, MethodChoice
from labseq_core.experiments.plan.variant import MOST_NOISE
from labseq_core.features import TEMPLATES
from labseq_core.learners.options import Option
from labseq_core.learners.registry import DECODINGS, METHODS

KERNELS = ("linear", "poly:2", "poly:3:0.5", "rbf:0.25", "token:part%20of%20speech", "2*normalized(poly:2)+rbf:1e-05")
FEW = 1000.0  # most options have no end, and all beyond are alike


def values(option: Option) -> st.SearchStrategy:
    if option.kind == "bool":
        return st.booleans()
    if option.kind == "choice":
        return st.sampled_from(list(option.choices))
    if option.kind == "kernel":
        return st.sampled_from(KERNELS)
    low, high = option.low or 0, min(option.high or FEW, FEW)
    numbers = st.integers(int(low), int(high)) if option.kind == "int" else st.floats(low, high)
    return numbers | st.none() if option.may_be_none else numbers


def features(columns: st.SearchStrategy) -> st.SearchStrategy:
    """columns: names of some."""
    return st.builds(
        FeatureChoice, st.sampled_from([name for name in TEMPLATES if name != "custom"]), st.sampled_from([None, 1, 5, 13]),
        st.none() | st.lists(columns, min_size=1, max_size=3, unique=True), st.sampled_from([None, 0, 7, 25]), st.booleans(),
    )  # fmt: skip


@st.composite
def variants(draw, columns: st.SearchStrategy) -> MethodChoice:
    method = draw(st.sampled_from(list(METHODS.values())))
    named = draw(st.lists(st.sampled_from(method.options), max_size=4, unique_by=lambda option: option.name))
    chosen = {option.name: draw(values(option)) for option in named}
    searched = [option for option in method.options if option.name not in chosen][: draw(st.integers(0, 2))]
    tried = {option.name: draw(st.lists(values(option), min_size=1, max_size=3, unique=True)) for option in searched}
    return MethodChoice(
        method.id, chosen, draw(st.sampled_from(["tune", tried, {}])),
        draw(st.sampled_from(["", *DECODINGS])) if method.probabilistic else "",
        draw(st.none() | features(columns)), draw(st.sampled_from([0, 1, 20_000_000])), draw(st.floats(0, MOST_NOISE)),
    )  # fmt: skip
