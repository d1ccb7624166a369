"""Mercer kernels over observations, their algebra, and Gram matrices within a memory budget."""

from labseq_core.kernels.base import BasicKernel, Kernel, Normalized
from labseq_core.kernels.blocks import DEFAULT_MEMORY, cross_blocks, cross_product, diagonal
from labseq_core.kernels.explicit import ExplicitMap, ExplicitSize, explicit_map, explicit_size
from labseq_core.kernels.gram import Gram
from labseq_core.kernels.linear import Linear
from labseq_core.kernels.low_rank import LowRank, pivoted_cholesky
from labseq_core.kernels.observations import Observations
from labseq_core.kernels.parameters import parameter
from labseq_core.kernels.polynomial import Polynomial
from labseq_core.kernels.rbf import RBF
from labseq_core.kernels.registry import KERNELS, kernel_from_dict, parse_kernel
from labseq_core.kernels.token_match import TokenMatch

__all__ = [
    "DEFAULT_MEMORY", "KERNELS", "RBF", "BasicKernel", "ExplicitMap", "ExplicitSize", "Gram", "Kernel", "Linear", "LowRank",
    "Normalized", "Observations", "Polynomial", "TokenMatch", "cross_blocks", "cross_product", "diagonal", "explicit_map",
    "explicit_size", "kernel_from_dict", "parameter", "parse_kernel", "pivoted_cholesky",
]  # fmt: skip
