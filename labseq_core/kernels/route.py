"""Kernel values (gram) or the features that a kernel stands for (explicit): the one place that chooses, for every method.

The result is the same by either route. A method says what its work costs by each; what the user asked for, what exists, what
fits into memory and what is faster is decided here. Costs are estimates, in the same unit for both routes of a method.
"""

from __future__ import annotations

from typing import NamedTuple

from labseq_core.checks import require
from labseq_core.features import EncodedSequences
from labseq_core.kernels.base import Kernel
from labseq_core.kernels.blocks import shown_bytes
from labseq_core.kernels.explicit import ExplicitSize, explicit_size
from labseq_core.kernels.gram import Gram
from labseq_core.kernels.observations import Observations

ROUTES = ("auto", "explicit", "gram")
GIB = 2**30  # bytes; options of learners give memory in this unit
EXPLICIT_STATE = 8 * 24  # bytes of a weight that L-BFGS keeps, beside the weight


class Costs(NamedTuple):
    explicit: float
    gram: float


# Methods. Constants are nanoseconds, measured.


def perceptron_costs(size: ExplicitSize, n_positions: int, n_observations: int, n_labels: int, epochs: int) -> Costs:
    """A feature is made once and scored in each epoch; a kernel value is made and added where the model was wrong."""
    make_feature, score_feature, make_value, add_value = 40.0, 20.0, 8.0, 1.0
    ever_wrong, wrong_in_an_epoch = 0.12, 0.03  # shares of positions, a guess
    values = ever_wrong * make_value + epochs * wrong_in_an_epoch * add_value
    explicit = size.entries * (make_feature + epochs * (score_feature + n_labels))
    return Costs(explicit, n_positions * n_observations * values)


def margin_costs(size: ExplicitSize, n_positions: int, n_observations: int) -> Costs:
    """A visit reads all vectors of a working set, feature by feature; a step in a kernel adds a row of kernel values."""
    features_in_the_time_of_a_score = 15
    return Costs(features_in_the_time_of_a_score * size.entries / n_positions, n_observations)


class GaussianWork(NamedTuple):
    """What a Gaussian process will do, estimated."""

    rows: float  # rows of the Gram matrix that are multiplied with coefficients, each time it happens
    passes: float  # times that all features of all observations are gone through instead


def gaussian_costs(size: ExplicitSize, n_observations: int, n_labels: int, work: GaussianWork) -> Costs:
    make_value, use_value, make_feature, use_feature = 5.0, 0.2, 150.0, 2.0  # used for one label
    explicit = size.entries * (make_feature + work.passes * n_labels * use_feature)
    gram = n_observations * (n_observations * make_value + work.rows * n_labels * use_value)
    return Costs(explicit, gram)


def prediction_costs(size: ExplicitSize, n_support: int, n_labels: int) -> Costs:
    """Of a token: features are looked up and multiplied with weights; or kernel values are made and multiplied."""
    look_up, kernel_value = 20, 6  # products that cost as much
    return Costs(size.entries / n_support * (n_labels + look_up), n_support * (n_labels + kernel_value))


# The choice


def route_of_updates(kernel: Kernel, encoded: EncodedSequences, route: str, memory: float, n_labels: int, costs) -> str:
    """Of a method that changes scores step by step. `costs(size)` gives its `Costs`; memory is in GiB.

    Kernel values that do not fit are made again, so that "gram" is always possible. The linear kernel needs none.
    """
    if route == "gram" or kernel.is_linear:
        return "gram" if route == "gram" else "explicit"
    size = explicit_size(kernel, encoded)
    return _chosen(route, size, 0 if size is None else size.n_bytes(n_labels), memory, costs) or "gram"


def route_of_gaussian(
    kernel: Kernel, observations: Observations, route: str, memory: float, n_labels: int, work: GaussianWork
) -> str | None:
    """Of a Gaussian process, which needs all kernel values again and again; None: neither fits into memory (GiB)."""
    if route == "gram":
        return route
    size, n = explicit_size(kernel, observations.as_sequences()), len(observations)
    needed = 0 if size is None else size.n_bytes(n_labels) + size.features * n_labels * EXPLICIT_STATE
    gram_fits = Gram.n_bytes_whole(kernel, observations) <= memory * GIB
    return _chosen(route, size, needed, memory, lambda size: gaussian_costs(size, n, n_labels, work), gram_fits)


def predicts_by_features(kernel: Kernel, support: Observations, route: str, memory: int, n_labels: int) -> bool:
    """Whether an expansion in these observations scores by weights of features. It depends on the expansion alone, so that
    a sequence gets the same scores alone and in a batch. memory: bytes.
    """
    if route != "auto":
        return route == "explicit"
    if kernel.is_linear:
        return True
    size = explicit_size(kernel, support.as_sequences())
    if size is None or size.n_bytes(n_labels) > memory:
        return False
    costs = prediction_costs(size, len(support), n_labels)
    return costs.explicit < costs.gram


def _chosen(
    route: str, size: ExplicitSize | None, needed: int, memory: float, costs, gram_fits: bool = True
) -> str | None:
    if route == "explicit":
        if size is not None:  # without any the map says so
            require(
                needed <= memory * GIB,
                f"memory is {memory} GiB, but {size.features} explicit features need about {shown_bytes(needed)}; raise "
                "memory, or use route='gram'",
            )
        return route
    if size is not None and needed <= int(memory * GIB):
        estimated = costs(size)
        if not gram_fits or estimated.explicit <= estimated.gram:
            return "explicit"
    return "gram" if gram_fits else None
