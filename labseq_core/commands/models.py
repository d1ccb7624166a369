"""Models of one's own: train, label, score."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

from labseq_core.checks import LabSeqError
from labseq_core.commands.choices import feature_choice
from labseq_core.commands.progress import Bar


def train(chosen: argparse.Namespace) -> None:
    from labseq_core.experiments import MethodChoice
    from labseq_core.learners.registry import make_learner
    from labseq_core.learners.search import search

    folder = Path(chosen.model).absolute().parent
    if not os.access(folder, os.W_OK):  # known before an hour of training, not after it
        raise LabSeqError(
            f"the folder of {Path(chosen.model).name} cannot be written; choose another place for --model"
        )
    choice = MethodChoice.parse(chosen.method)
    learner = make_learner(choice.method, **choice.options)
    corpus = _read_corpus(chosen)
    encoded = feature_choice(chosen).make().encode(corpus)
    bar = Bar(choice.label)

    def callback(progress) -> None:
        bar.show(progress.fraction, f"{progress.objective:.4g}")

    if choice.tried:
        searched = search(learner, choice.grid(), encoded, corpus.labels, callback=callback)
        learner = searched.learner
    else:
        learner.fit(encoded, corpus.labels, callback=callback)
    bar.close()
    if choice.tried:
        print("chosen:", ", ".join(f"{name}={value}" for name, value in searched.best.items()))
    learner.save(chosen.model)
    print(f"wrote {Path(chosen.model).name}: {choice.label}, {len(learner.classes_)} labels, {len(corpus)} sequences")


def predict(chosen: argparse.Namespace) -> None:
    from labseq_core.data.formats.registry import writer_of
    from labseq_core.learners.registry import load_model

    write = writer_of(chosen.output or "")  # a name that cannot be written is told first
    model = load_model(chosen.model)
    corpus = _read_corpus(chosen, unlabelled=chosen.unlabelled)
    write(corpus, chosen.output or sys.stdout.buffer, labels=model.predict(corpus))


def score(chosen: argparse.Namespace) -> None:
    from labseq_core.evaluation import evaluate
    from labseq_core.learners.registry import load_model

    model = load_model(chosen.model)
    corpus = _read_corpus(chosen)
    summary = evaluate(corpus.labels, model.predict(corpus)).summary()
    if chosen.json:
        print(json.dumps(summary))
        return
    for name, value in summary.items():
        if value is not None:
            print(f"{name:<18} {value:.4f}" if isinstance(value, float) else f"{name:<18} {value}")


def _read_corpus(chosen: argparse.Namespace, unlabelled: bool = False):
    from labseq_core.data.formats.registry import FORMATS, choose_format, read_file
    from labseq_core.data.formats.source import read_bytes

    kind = chosen.format or choose_format(Path(chosen.file).name, read_bytes(chosen.file))
    known = [option.name for option in FORMATS[kind].options]
    key = next((name for name in ("label_column", "label") if name in known), None)
    options: dict = {"encoding": chosen.encoding} if chosen.encoding else {}
    if key and (unlabelled or chosen.label is not None):
        options[key] = None if unlabelled else chosen.label
        if key == "label_column" and not unlabelled:
            try:
                options[key] = int(chosen.label)
            except ValueError:
                raise LabSeqError(
                    f"--label is {chosen.label!r}; for CoNLL columns give a number, -1 is the last"
                ) from None
    return read_file(chosen.file, format=kind, **options)
