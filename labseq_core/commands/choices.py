"""Choices as words of the command line."""

from __future__ import annotations

import argparse

from labseq_core.checks import LabSeqError


def method_choice(text: str):
    from labseq_core.experiments import MethodChoice
    from labseq_core.experiments.plan.config import SEARCH
    from labseq_core.learners.registry import method_options

    method, *pieces = text.strip().split(":")
    specs = method_options(method)
    pairs: list[str] = []
    for piece in pieces:
        # What has no name goes on with the value before it: "kernel=poly:2" is one pair.
        pairs[-1:] = [f"{pairs[-1]}:{piece}"] if pairs and "=" not in piece else [*pairs[-1:], piece]
    options, tried = {}, {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or name not in specs:
            raise LabSeqError(f"{pair!r} is not an option of {method}; write name=value with one of {', '.join(specs)}")
        if SEARCH in value:
            tried[name] = [specs[name].parse(one) for one in value.split(SEARCH)]
        else:
            options[name] = specs[name].parse(value)
    return MethodChoice(method, options, tried)


def feature_choice(chosen: argparse.Namespace):
    from labseq_core.experiments import FeatureChoice

    columns = tuple(chosen.columns.split(",")) if chosen.columns else None
    return FeatureChoice(chosen.features, chosen.window, columns, chosen.bins, chosen.joint)
