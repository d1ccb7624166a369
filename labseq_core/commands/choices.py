"""Choices as words of the command line."""

from __future__ import annotations

import argparse

from labseq_core.checks import LabSeqError

_FEATURES = ("features", "window", "bins", "columns", "joint")


def method_choice(text: str):
    """A variant: "crf", "crf:l2=0.1", "crf:l2=0.1|1:decode=posterior:features=S1:noise=0.1", "crf:search=tune"."""
    from labseq_core.experiments import MethodChoice
    from labseq_core.experiments.plan.variant import SEARCH
    from labseq_core.learners.options import OF_VARIANTS
    from labseq_core.learners.registry import method_options

    method, *pieces = text.strip().split(":")
    specs = method_options(method)
    pairs: list[str] = []
    for piece in pieces:
        # What has no name goes on with the value before it: "kernel=poly:2" is one pair.
        pairs[-1:] = [f"{pairs[-1]}:{piece}"] if pairs and "=" not in piece else [*pairs[-1:], piece]
    options, tried, own = {}, {}, {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if equals and name in OF_VARIANTS and name not in specs:
            own[name] = value
        elif not equals or name not in specs:
            known = ", ".join([*specs, *OF_VARIANTS])
            raise LabSeqError(f"{pair!r} is not an option of {method}; write name=value with one of {known}")
        elif SEARCH in value:
            tried[name] = [specs[name].parse(one) for one in value.split(SEARCH)]
        else:
            options[name] = specs[name].parse(value)
    if "search" in own and tried:
        raise LabSeqError(f"{text!r} has both search={own['search']} and values to try; leave one out")
    return MethodChoice(
        method, options, own.get("search", tried), own.get("decode", ""), _own_features(own),
        _number(own, "sequences", int), _number(own, "noise", float),
    )  # fmt: skip


def _number(own: dict[str, str], name: str, kind: type) -> float:
    try:
        return kind(own.get(name, 0))
    except ValueError:
        raise LabSeqError(f"{name} is {own[name]!r}; write a number") from None


def _own_features(own: dict[str, str]):
    """The features of a variant that has its own."""
    from labseq_core.experiments import FeatureChoice

    given = {name: own[name] for name in _FEATURES if name in own}
    if not given:
        return None
    if "features" not in given:
        raise LabSeqError(f"{', '.join(given)} of a variant needs its features too, as in features=S3:window=5")
    columns = tuple(given["columns"].split("+")) if "columns" in given else None
    window, bins = (_number(given, name, int) if name in given else None for name in ("window", "bins"))
    return FeatureChoice(given["features"], window, columns, bins, given.get("joint", "false").lower() == "true")


def feature_choice(chosen: argparse.Namespace):
    from labseq_core.experiments import FeatureChoice

    columns = tuple(chosen.columns.split(",")) if chosen.columns else None
    return FeatureChoice(chosen.features, chosen.window, columns, chosen.bins, chosen.joint)
