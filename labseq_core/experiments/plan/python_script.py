"""A configuration as a script on the library alone, which trains and scores the same variants on the same split."""

from __future__ import annotations

import re

from labseq_core.data.catalogue import dataset_info
from labseq_core.experiments.plan.config import ExperimentConfig
from labseq_core.experiments.plan.variant import FeatureChoice, MethodChoice
from labseq_core.kernels import KERNELS
from labseq_core.learners.plugins import MODULE_PREFIX
from labseq_core.learners.registry import METHODS, find_method, method_options

_CLASS = re.compile(r"\b[A-Z]\w*(?=\()")  # learners and kernels in an expression


def python_script(config: ExperimentConfig) -> str:
    """The text of the script."""
    learners = [_learner(choice, config.seed) for choice in config.methods]
    dev = _without_answers("data.dev", config.dataset)
    watched = not config.folds and any(choice.watches_development or choice.tried for choice in config.methods)
    more = f", dev={dev}" if watched else ""  # the others only follow their accuracy on it
    is_uniform = not any(choice.features or choice.conditions or choice.decode for choice in config.methods)
    loop = _same_for_all(config, learners, more) if is_uniform else _each_its_own(config, learners, more)
    names = set(_CLASS.findall(" ".join([*learners, *(repr(choice.grid()) for choice in config.methods)])))
    lines = ["from labseq_core import FeatureTemplate, load_dataset", "from labseq_core.evaluation import evaluate"]
    if any(choice.noise for choice in config.methods):
        lines.append("from labseq_core.data.label_noise import with_label_noise")
    if any(choice.tried for choice in config.methods):
        lines.append("from labseq_core.learners.search import search")
    return "\n".join([*lines, *_imports(config, names), "", *_parts(config), *loop]) + "\n"


def _learner(choice: MethodChoice, seed: int) -> str:
    specs, options = method_options(choice.method), dict(choice.options)
    if "seed" in specs:
        options.setdefault("seed", seed)
    arguments = find_method(choice.method).arguments(options)
    values = [repr(specs[name].read(value) if name in specs else value) for name, value in arguments.items()]
    return f"{find_method(choice.method).learner.__name__}({', '.join(map('='.join, zip(arguments, values)))})"


def _template(features: FeatureChoice) -> str:
    given = {name: value for name, value in features.make().get_params().items() if value not in (None, False)}
    return f"FeatureTemplate({', '.join(f'{name}={value!r}' for name, value in given.items())})"


def _without_answers(part: str, dataset: str) -> str:
    answers = dataset_info(dataset).answer_columns
    return f"{part}.without_columns({list(answers)!r})" if answers else part


def _parts(config: ExperimentConfig) -> list[str]:
    cut = f".select(range(min({config.sequences}, len(data.train))))" if config.sequences else ""
    tested = f"load_dataset({config.test_dataset!r}).test" if config.test_dataset else "data.test"
    lines = [
        f"data = load_dataset({config.dataset!r})",
        f"training = {_without_answers('data.train', config.dataset)}{cut}",
        f"testing = {_without_answers(tested, config.test_dataset or config.dataset)}",
    ]
    if not config.folds:
        return [*lines, "parts = [(training, testing)]"]
    folds = f"    for train, test in k_folds(len(training), {config.folds}, {config.seed})"
    return [
        *lines, "from labseq_core.data.splitting import k_folds", "parts = [",
        "    (training.select(train), training.select(test))", folds, "]",
    ]  # fmt: skip


def _same_for_all(config: ExperimentConfig, learners: list[str], more: str) -> list[str]:
    lines = ["for train, test in parts:", f"    X = {_template(config.features)}.encode(train)"]
    if any(choice.tried for choice in config.methods):
        pairs = [f"({learner}, {choice.grid()!r})" for learner, choice in zip(learners, config.methods)]
        lines.append(f"    for learner, grid in ({', '.join(pairs)},):")
        lines += _searched("X, train.labels" + more, "")
    else:
        lines.append(f"    for learner in ({', '.join(learners)},):")
        lines.append(f"        learner.fit(X, train.labels{more})")
    return [*lines, "        print(learner, evaluate(test.labels, learner.predict(test)).summary())"]


def _each_its_own(config: ExperimentConfig, learners: list[str], more: str) -> list[str]:
    lines = ["variants = [  # learner, features, values to try, decoding, training sequences (0: all), label noise"]
    for learner, choice in zip(learners, config.methods):
        own = choice.grid(), choice.decoding, choice.sequences, choice.noise
        template = _template(choice.features or config.features)
        lines.append(f"    ({learner}, {template}, {', '.join(map(repr, own))}),")
    lines += [
        "]",
        "for train, test in parts:",
        "    for learner, features, grid, decode, sequences, noise in variants:",
    ]
    lines.append("        own = train.select(range(min(sequences or len(train), len(train))))")
    if any(choice.noise for choice in config.methods):
        lines.append(f"        own = with_label_noise(own, noise, {config.seed})")
    lines.append("        X = features.encode(own)")
    lines += _searched("X, own.labels" + more, ", decode=decode")
    return [*lines, "        print(learner, evaluate(test.labels, learner.predict(test, decode=decode)).summary())"]


def _searched(data: str, decode: str) -> list[str]:
    return [
        "        if grid:", f"            learner = search(learner, grid, {data}{decode}).learner",
        "        else:", f"            learner.fit({data})",
    ]  # fmt: skip


def _imports(config: ExperimentConfig, names: set[str]) -> list[str]:
    """Lines that import classes by name, and what comes from outside without a class."""
    classes = [*(method.learner for method in METHODS.values()), *KERNELS.values()]
    module_of = {each.__name__: each.__module__.removeprefix(MODULE_PREFIX) for each in classes}
    sources = config.from_outside().values()
    by_module: dict[str, list[str]] = {}
    for name in sorted(names):
        module = module_of.get(name, "labseq_core")
        by_module.setdefault("labseq_core" if module.startswith("labseq_core.") else module, []).append(name)
    for source in sources:
        by_module.setdefault(source.file.removesuffix(".py"), [])
    files = dict.fromkeys(source.file for source in sources if source.is_file)
    said = [f"# This script must lie beside {', '.join(files)}."] if files else []
    return said + [
        f"from {module} import {', '.join(named)}" if named else f"import {module}"
        for module, named in by_module.items()
    ]
