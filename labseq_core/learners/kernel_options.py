"""Options that the kernel methods share, and what a form asks for each kind of kernel."""

from __future__ import annotations

from labseq_core.kernels import Linear
from labseq_core.kernels.route import ROUTES
from labseq_core.learners.options import Option

KERNEL = Option(
    "kernel", "kernel", Linear(),
    "How alike two observations are. linear: what they share; poly: and conjunctions of what they share; rbf: by "
    "distance; token: the same word or not.", where="T 2.1.2",
)  # fmt: skip
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
# By the name that a kernel's text begins with: what follows it, separated by colons.
KERNEL_PARAMETERS: dict[str, tuple[Option, ...]] = {
    "linear": (),
    "poly": (
        Option("degree", "int", 2, "Conjunctions of up to this many attributes.", low=1, high=20),
        Option("constant", "float", 1.0, "The larger, the less conjunctions count.", low=0.0, high=1e6),
    ),
    "rbf": (Option("width", "float", 1.0, "The distance at which likeness has fallen to 0.61.", low=1e-3, high=1e6),),
    "token": (),
}
