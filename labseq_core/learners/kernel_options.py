"""Options that the kernel methods share."""

from __future__ import annotations

from labseq_core.kernels import Linear
from labseq_core.kernels.route import ROUTES
from labseq_core.learners.options import Option

KERNEL = Option("kernel", "kernel", Linear(), "How alike two observations are.", where="T 2.1.2")
ETA = Option(
    "eta", "float", 1.0, "Weight of pairs of labels against observations.", low=1e-6, high=1e6, log_scale=True,
    where="T 2.9b",
)  # fmt: skip
MEMORY = Option(
    "memory", "float", 2.0, "GiB that kernel values, or explicit features in their place, may take.", low=1e-3, high=1e4,
    advanced=True,
)  # fmt: skip
ROUTE = Option(
    "route", "choice", "auto",
    "How scores are computed: gram by kernel values, explicit by the features that the kernel stands for. The result is "
    "the same; auto takes what is estimated to be faster.", choices=ROUTES, advanced=True,
)  # fmt: skip
