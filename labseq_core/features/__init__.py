"""Observation attributes: templates, and the arrays that learners take."""

from typing import TYPE_CHECKING

from labseq_core._lazy import offered
from labseq_core.features.registry import TEMPLATES, Template

if TYPE_CHECKING:
    from labseq_core.features.encoded import EncodedSequences, encode_attributes
    from labseq_core.features.templates import FeatureTemplate
# These need compiled routines; templates are loaded to say which there are.
__getattr__, _ = offered(
    __name__, {"encoded": ["EncodedSequences", "encode_attributes"], "templates": ["FeatureTemplate"]}
)

__all__ = ["TEMPLATES", "EncodedSequences", "FeatureTemplate", "Template", "encode_attributes"]
