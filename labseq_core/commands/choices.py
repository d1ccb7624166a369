"""Choices as words of the command line."""

from __future__ import annotations

import argparse


def feature_choice(chosen: argparse.Namespace):
    from labseq_core.experiments import FeatureChoice

    columns = tuple(chosen.columns.split(",")) if chosen.columns else None
    return FeatureChoice(chosen.features, chosen.window, columns, chosen.bins, chosen.joint)
