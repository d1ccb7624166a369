"""What a training costs, before it is begun: plain models of the work of each method, times measured constants.

A learner says its `cost`: a function of its options, by name, and of the size of the data that gives seconds and megabytes.
Good for "seconds or minutes?", not for more: how many iterations a fit takes depends on the data. `labseq bench cost` compares
the models with measured times.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from labseq_core.kernels import parse_kernel
from labseq_core.kernels.explicit import features_of_a_token

GROWTH = 0.8  # n times as much text has about n to this power times as many distinct attributes
LOW_RANK = 500  # the usual rank where kernel values do not fit into memory
MEGABYTE, GIBIBYTE = 2**20, 2**30


@dataclass(frozen=True)
class DataSize:
    """What the cost of a training depends on."""

    sequences: int
    tokens: int
    labels: int
    attributes: float  # of a token
    vocabulary: float  # distinct attributes
    observations: float  # distinct ones: tokens with the same attributes count once

    def share(self, part: float) -> DataSize:
        """Of a part of the data."""
        return replace(
            self, sequences=round(self.sequences * part), tokens=round(self.tokens * part),
            vocabulary=self.vocabulary * part**GROWTH, observations=self.observations * part,
        )  # fmt: skip


Options = Mapping[str, Any]
CostModel = Callable[[Options, DataSize], tuple[float, float]]


def one_pass(size: DataSize, entries: float | None = None) -> float:
    """T (150 + A S + S²): scores, and sums or maxima over pairs of S labels, at each of T tokens with A attributes."""
    return size.tokens * (150 + (entries or size.attributes) * size.labels + size.labels**2)


def with_weights(seconds: Callable[[Options, DataSize], float]) -> CostModel:
    """Of a method with a weight for each attribute and label."""
    return lambda options, size: (seconds(options, size), _weights_megabytes(size.vocabulary, size))


def _weights_megabytes(features: float, size: DataSize) -> float:
    """What a minimiser keeps of each weight, and what is known of each position."""
    return (features * size.labels * 24 * 8 + size.tokens * (8 * size.labels**2 + 12 * size.attributes)) / MEGABYTE


# `unit`: seconds for a unit of work.


def counting_cost(unit: float) -> CostModel:
    """Of a method that goes through the data once."""
    return with_weights(lambda options, size: unit * (size.tokens * (size.attributes + 10)))


def epochs_cost(unit: float) -> CostModel:
    """Of a method with an option `epochs`, the number of passes over the data."""
    return with_weights(lambda options, size: unit * (options["epochs"] * one_pass(size)))


def gradient_cost(usual: int, unit: float) -> CostModel:
    """Of a minimiser, which usually stops after so many iterations; with an L1 penalty it hardly ever does before the last."""

    def seconds(options: Options, size: DataSize) -> float:
        most = options.get("max_iter", usual)
        iterations = most if options.get("l1") else min(usual, most)
        return unit * ((1 + options.get("restarts", 0)) * iterations * one_pass(size))

    return with_weights(seconds)


def rounds_cost(unit: float) -> CostModel:
    """Of boosting: a round looks at all features, and repeats inference where the chosen one fires; an exact step often."""

    def seconds(options: Options, size: DataSize) -> float:
        step = {"exact": 1.0}.get(options["bound"], 0.6)
        work = options["rounds"] * step * size.tokens * (600 + size.attributes * size.labels + size.labels**2)
        return unit * work

    return with_weights(seconds)


def kernel_cost(
    explicit: Callable[[Options, DataSize, float], float],
    gram: Callable[[Options, DataSize], float],
    times_entries: float,
    low_rank: Callable[[Options, DataSize, float], float] | None = None,
) -> CostModel:
    """Of a method with kernels: seconds by explicit features, so many of a token, by kernel values, or in a low rank.

    times_entries: features are written down where so many times those of a token are fewer than the observations.
    """

    def cost(options: Options, size: DataSize) -> tuple[float, float]:
        """By the route that the method would choose itself, as far as it fits into memory."""
        entries = features_of_a_token(parse_kernel(options["kernel"]), size.attributes)
        room = options["memory"] * GIBIBYTE / MEGABYTE
        routes = {}
        if entries is not None and options["route"] in ("auto", "explicit"):
            features = max(size.vocabulary, min(size.vocabulary**2 / 2, 0.1 * entries * size.tokens))
            needed = _weights_megabytes(features, size) + 12 * entries * size.tokens / MEGABYTE
            routes["explicit"] = explicit(options, size, entries), needed
        if options["route"] in ("auto", "gram") or entries is None:
            needed = size.observations * (4 * size.observations + 200) / MEGABYTE
            # Without room for all kernel values these are made again and again; Gaussian processes then take another route.
            routes["gram"] = gram(options, size) * max(1.0, needed / room), min(needed, room)
        is_linear = entries == size.attributes
        if entries is not None and len(routes) == 2 and not is_linear and times_entries * entries > size.observations:
            del routes["explicit"]
        fitting = {route: cost for route, cost in routes.items() if cost[1] < room}
        if low_rank is not None and (options["route"] == "low-rank" or options["rank"] or not fitting):
            rank = options["rank"] or min(LOW_RANK, size.observations, room * MEGABYTE / (16 * size.observations))
            return low_rank(options, size, rank), 16 * size.observations * rank / MEGABYTE
        return next(iter((fitting or routes).values()))

    return cost


def gp_iterations(options: Options) -> int:
    """That a Gaussian process usually takes."""
    return min(parse_kernel(options["kernel"]).gp_iterations, options["max_iter"])
