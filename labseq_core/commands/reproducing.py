"""Experiments of the documents, run here, beside the results printed there."""

from __future__ import annotations

import argparse
import json

from labseq_core.checks import LabSeqError
from labseq_core.commands.running import follow


def reproduce(chosen: argparse.Namespace) -> None:
    from labseq_core.experiments import result
    from labseq_core.experiments.documents.reproduction import EXPERIMENTS

    if chosen.name is None:
        width = max(map(len, EXPERIMENTS))
        for name, experiment in EXPERIMENTS.items():
            print(f"{name:<{width}}  {experiment.title}")
        return
    if chosen.name not in EXPERIMENTS:
        raise LabSeqError(f"there is no experiment {chosen.name!r}; choose from {', '.join(EXPERIMENTS)}")
    experiment = EXPERIMENTS[chosen.name]
    rows = experiment.beside(result(follow(experiment.config(), chosen.scheduler)))
    if chosen.json:
        print(json.dumps(rows, ensure_ascii=False))
        return
    print(f"{experiment.title}\n{experiment.remark}\n")
    width = max(len(row["method"]) for row in rows)
    print(f"{'':<{width}} {experiment.unit:>22} {'quoted':>10}")
    for row in rows:
        ours = f"{row['ours']:.2f}" + ("" if row["error"] is None else f" ± {row['error']:.2f}")
        quoted = "-" if row["quoted"] is None else f"{row['quoted']:.2f}"
        print(f"{row['method']:<{width}} {ours:>22} {quoted:>10}")
