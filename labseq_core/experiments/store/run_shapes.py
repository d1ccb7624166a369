"""What the file run.json of an exported run must look like."""

from __future__ import annotations

from labseq_core.evaluation.metric import ROW
from labseq_core.evaluation.registry import METRICS
from labseq_core.experiments.plan.config import MAX_FOLDS, MAX_METHODS, MAX_TASKS, ExperimentConfig
from labseq_core.experiments.plan.tasks import Task, points_of
from labseq_core.experiments.plan.variant import MOST_NOISE, TUNE
from labseq_core.experiments.results.predictions import ROUNDING
from labseq_core.experiments.results.training_curves import CURVE_POINTS
from labseq_core.experiments.run.one_task import N_EXAMPLES
from labseq_core.experiments.store.json_shapes import (
    Shape,
    any_of,
    anything,
    flag,
    like,
    line,
    many,
    maybe,
    number,
    one_of,
    record,
    row,
    table,
    text,
    whole,
)
from labseq_core.learners.registry import DECODINGS

RUN_FORMAT = 1
_LONGEST = 100_000  # tokens of a sequence, letters of a token: more than any corpus has
_HASH = like("[0-9a-f]{12}", "12 hexadecimal digits")
_MOMENT = number(0.0, 253_402_300_799.0)  # seconds from 1970 to the end of the year 9999
_SHARE = number(-ROUNDING, 1.0 + ROUNDING)
_AMOUNT = number(0.0, 1e18)
_PLAIN = any_of(flag, number(), maybe(line()))
_LABELS = many(text(_LONGEST), _LONGEST)
_NEEDED = ("accuracy", "dev_accuracy", "n_parameters", "train_seconds")  # metrics that pages look up in every row
_FEATURES = record(
    {"template": line()},
    {"window": maybe(whole(1000)), "columns": maybe(many(line(), 1000)), "bins": maybe(whole(10**6)), "joint": flag},
)
_METHOD = record(
    {"method": line()},
    {
        "options": table(line(), _PLAIN, 100), "search": any_of(one_of(TUNE), table(line(), many(_PLAIN, MAX_TASKS), 100)),
        "decode": one_of(*DECODINGS), "features": _FEATURES, "sequences": whole(), "noise": number(0.0, MOST_NOISE),
    },
)  # fmt: skip
_CONFIG = record(
    {"dataset": line(), "methods": many(_METHOD, MAX_METHODS)},
    {"features": _FEATURES, "folds": whole(MAX_FOLDS), "seed": whole(2**32 - 1), "metrics": many(line(), 1000),
     "calibrate": flag, "sequences": whole(), "test_dataset": line()},
)  # fmt: skip
_FAILURE = record({"label": line(2000), "fold": whole(MAX_FOLDS), "error": line(10_000)})
_RUN = record(
    {
        "id": like("[0-9a-f]{12}-[0-9a-f]{6}", "the id of a run"), "created": _MOMENT, "finished": maybe(_MOMENT),
        "config": _CONFIG,
        "config_hash": _HASH, "data_hash": _HASH, "versions": table(line(), line(), 100), "state": one_of("done"),
        "metrics": record({}, {"failures": many(_FAILURE, MAX_METHODS)}, rest=anything),  # the rest is made anew
        "seed": anything, "dataset": anything, "features": anything, "folds": anything, "methods": anything,
        "labels": anything,  # what the configuration says, with which they are compared
    }
)  # fmt: skip
# Iteration, objective and, except in earlier versions, accuracy where it was measured.
_POINT = any_of(row(whole(), number()), row(whole(), number(), maybe(_SHARE)))
_TASK = record(
    {
        "label": line(2000), "fold": whole(MAX_FOLDS), "point": maybe(whole(MAX_TASKS)), "state": one_of("done", "failed"),
        "fraction": number(0.0, 1.0), "iteration": whole(), "objective": maybe(number()),
        "curve": many(_POINT, 2 * CURVE_POINTS), "outcome": maybe(record({"data_hash": _HASH}, rest=anything)),
    }
)  # fmt: skip
EXPORT = record({"labseq_export": one_of(RUN_FORMAT), "run": _RUN, "tasks": many(_TASK, MAX_TASKS)})
_CONFUSION = record({"labels": _LABELS, "counts": many(many(whole(), _LONGEST), _LONGEST)})
_EXAMPLE = record({"tokens": _LABELS, "truth": _LABELS, "predicted": _LABELS})


def outcome_shape(config: ExperimentConfig, task: Task) -> Shape:
    """Of what a task of the configuration found; what follows from the configuration has to be that."""
    choice = config.methods[task.method]
    # Of these, rows of early versions say nothing.
    metrics = {name: _metric(name) for name in METRICS}
    later = {
        "decode": one_of(choice.decoding),
        "noise": one_of(choice.noise),
        "n_train_sequences": whole(),
        "used_of": line(),
    }
    found: dict[str, Shape] = {
        "row": record(
            {
                "config_hash": one_of(config.hash), "dataset": one_of(config.dataset), "label": one_of(task.label),
                "features": one_of(config.features_of(choice).label), "method": one_of(choice.method),
                "options": line(100_000), "fold": one_of(task.fold), "seed": one_of(config.seed), "n_tokens": whole(),
                "n_sequences": whole(), "n_train_tokens": whole(), **{name: _metric(name) for name in _NEEDED},
            },
            {**dict.fromkeys(ROW, one_of()), "temperature": maybe(_AMOUNT), **later, **metrics},
            rest=maybe(number()),  # a metric from outside
        ),
        "confusion": _CONFUSION,
        **({} if task.fold else {"examples": many(_EXAMPLE, N_EXAMPLES)}),
    }  # fmt: skip
    if task.point is None:
        return record({"data_hash": _HASH, **found})
    values = {name: one_of(value) for name, value in points_of(choice)[task.point].items()}
    tried = record({**values, "score": _SHARE, "seconds": _AMOUNT})
    return record({"data_hash": _HASH, "tried": tried}, found)  # of a combination that was beaten nothing else is kept


def _metric(name: str) -> Shape:
    """Those that every row has are there for every method, but for the accuracy on development data."""
    shape = _SHARE if METRICS[name].share else _AMOUNT if METRICS[name].needs in ("model", "timing") else number()
    return shape if name in _NEEDED and name != "dev_accuracy" else maybe(shape)
