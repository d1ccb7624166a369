"""Observation attributes: templates, and the arrays that learners take."""

from labseq_core.features.encoded import EncodedSequences, encode_attributes
from labseq_core.features.templates import TEMPLATES, FeatureTemplate

__all__ = ["TEMPLATES", "EncodedSequences", "FeatureTemplate", "encode_attributes"]
