"""What to run: one frozen, validated object with a YAML and JSON form and a stable hash."""

from __future__ import annotations

import hashlib
import json
import math
import re
import shlex
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property

from labseq_core.checks import LabSeqError, require
from labseq_core.data.catalogue import CORPORA, dataset_info
from labseq_core.data.formats.registry import FORMATS
from labseq_core.data.uploads import is_upload, upload_format
from labseq_core.evaluation.registry import METRICS
from labseq_core.features import TEMPLATES, FeatureTemplate
from labseq_core.kernels import KERNELS, Kernel
from labseq_core.learners.plugins import MODULE_PREFIX
from labseq_core.learners.registry import METHODS, find_method, make_learner, method_options
from labseq_core.learners.search import require_grid
from labseq_core.losses import LOSSES
from labseq_core.registry import Source, from_outside

MAX_METHODS, MAX_FOLDS, MAX_TASKS = 20, 50, 5000
SEARCH = "|"  # between values to try, on the command line
_FOLLOWED = ("sgps", "sgps-sequence")  # accuracy against sparseness is drawn on the development part
_CLASS = re.compile(r"\b[A-Z]\w*(?=\()")  # learners and kernels in an expression


@dataclass(frozen=True)
class MethodChoice:
    """A method and the options in which it differs from its defaults; `search`: options whose values are chosen on data.

    Values are chosen on the development part, or within cross-validation on a fifth of each training part.
    """

    method: str
    options: dict = field(default_factory=dict)
    search: dict = field(default_factory=dict)

    def __post_init__(self) -> None:
        make_learner(self.method, **self.options)
        specs = method_options(self.method)
        # Two ways to write one kernel are one choice.
        chosen = {name: specs[name].read(value) for name, value in sorted(self.options.items())}
        changed = {name: specs[name].plain(value) for name, value in chosen.items() if value != specs[name].default}
        object.__setattr__(self, "options", changed)
        if self.search:
            object.__setattr__(self, "search", self._checked_search())

    def _checked_search(self) -> dict:
        require(isinstance(self.search, dict), "search must name options and the values to try, such as {l2: [0.1, 1]}")
        specs, tried = method_options(self.method), {}
        for name, values in sorted(self.search.items()):
            require(
                isinstance(values, (list, tuple)), f"search has {values!r} for {name}; give a list of values to try"
            )
            require(name not in self.options, f"{name} is both given and to be searched for; leave one out")
            for value in values:
                make_learner(self.method, **{**self.options, name: value})
            tried[name] = [specs[name].plain(specs[name].read(value)) for value in values]
        require_grid(tried)
        return tried

    def grid(self) -> dict:
        """The values to try as learners take them."""
        specs = method_options(self.method)
        arguments = find_method(self.method).arguments(
            {name: [specs[name].read(value) for value in values] for name, values in self.search.items()}
        )
        return {name: arguments[name] for name in self.search}

    def values(self) -> list:
        """Of all options, defaults and values to try included, as plain data."""
        given = make_learner(self.method, **self.options).get_params()
        values = [*given.values(), *(value for tried in self.grid().values() for value in tried)]
        return [value.to_dict() if isinstance(value, Kernel) else value for value in values]

    def n_fits(self, folds: int) -> int:
        """How many trainings a fold takes; within cross-validation the values chosen are trained once more."""
        return math.prod(map(len, self.search.values())) + bool(folds) if self.search else 1

    @property
    def label(self) -> str:
        """How tables and charts call it: "CRF", "CRF (l2=0.1)", "CRF (l2 of 0.1, 1)"."""
        title = find_method(self.method).title
        said = [f"{name}={shown_value(value)}" for name, value in self.options.items()]
        said += [f"{name} of {', '.join(map(shown_value, values))}" for name, values in self.search.items()]
        return f"{title} ({'; '.join(said) if self.search else ', '.join(said)})" if said else title

    def to_dict(self) -> dict:
        """Without what is empty: a choice keeps its hash when there is something more to choose."""
        made = {"method": self.method, "options": self.options, "search": self.search}
        return {name: value for name, value in made.items() if value or name != "search"}

    def on_command_line(self) -> str:
        said = [f"{name}={shown_value(value)}" for name, value in self.options.items()]
        said += [f"{name}={SEARCH.join(map(shown_value, values))}" for name, values in self.search.items()]
        return ":".join([self.method, *said])

    @property
    def watches_development(self) -> bool:
        """Whether the method is followed on the development part: it stops early by it, or its way is drawn with it."""
        return "patience" in method_options(self.method) or self.method in _FOLLOWED


@dataclass(frozen=True)
class FeatureChoice:
    """The options of a `FeatureTemplate`."""

    template: str = "S3"
    window: int | None = None
    columns: tuple[str, ...] | None = None
    bins: int | None = None
    joint: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", None if self.columns is None else tuple(self.columns))
        made = self.make()
        # What the template would choose anyway is written down, so that equal choices have equal hashes.
        object.__setattr__(self, "window", made.window)
        object.__setattr__(self, "bins", made.bins)

    def make(self) -> FeatureTemplate:
        return FeatureTemplate(self.template, self.window, self.columns, self.bins, self.joint)

    @property
    def label(self) -> str:
        usual = FeatureTemplate(self.template, columns=self.columns)
        more = [] if self.window == usual.window else [f"window {self.window}"]
        more += [] if self.bins == usual.bins else [f"{self.bins} bins"]
        more += ["joint codes"] if self.joint else []
        more += [] if self.columns is None else ["columns " + " ".join(self.columns)]
        return f"{self.template} ({', '.join(more)})" if more else self.template


@dataclass(frozen=True)
class ExperimentConfig:
    """Compare methods on one corpus with one kind of features.

    folds = 0: train on the training part, test on the test part; otherwise cross-validation within the training part.
    metrics: the columns of the printed table (empty: the usual ones). calibrate: scores are divided by the temperature that
    fits the development part best, before anything is called a probability. sequences: only so many of the training part,
    the first ones (0: all).
    """

    dataset: str
    methods: tuple[MethodChoice, ...]
    features: FeatureChoice = FeatureChoice()
    folds: int = 0
    seed: int = 0
    metrics: tuple[str, ...] = ()
    calibrate: bool = False
    sequences: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "methods", tuple(self.methods))
        dataset_info(self.dataset)
        require(
            1 <= len(self.methods) <= MAX_METHODS, f"methods has {len(self.methods)} entries; choose 1 to {MAX_METHODS}"
        )
        labels = [choice.label for choice in self.methods]
        require(len(set(labels)) == len(labels), "methods lists the same method with the same options twice; drop one")
        whole = isinstance(self.folds, int) and not isinstance(self.folds, bool)
        fits = whole and (self.folds == 0 or 2 <= self.folds <= MAX_FOLDS)
        require(fits, f"folds is {self.folds!r}; choose 0 (train and test part) or 2 to {MAX_FOLDS}")
        require(
            isinstance(self.seed, int) and 0 <= self.seed < 2**32,
            f"seed is {self.seed!r}; choose a whole number from 0",
        )
        require(
            isinstance(self.metrics, (list, tuple)), f"metrics is {self.metrics!r}; give a list such as [accuracy, ece]"
        )
        object.__setattr__(self, "metrics", tuple(self.metrics))
        many = isinstance(self.sequences, int) and not isinstance(self.sequences, bool) and self.sequences >= 0
        require(many, f"sequences is {self.sequences!r}; choose a whole number, 0 for all of the training part")
        unknown = [name for name in self.metrics if name not in METRICS]
        require(not unknown, f"metrics has {unknown[:1]}; choose from {', '.join(METRICS)}")
        n_tasks = max(1, self.folds) * sum(choice.n_fits(self.folds) for choice in self.methods)
        require(
            n_tasks <= MAX_TASKS,
            f"that is {n_tasks} trainings; choose fewer folds, methods or values, at most {MAX_TASKS}",
        )
        require(isinstance(self.calibrate, bool), f"calibrate is {self.calibrate!r}; choose true or false")
        require(
            not (self.calibrate and self.folds),
            "calibrate needs the development part, which folds leave out: folds must be 0",
        )

    def to_dict(self) -> dict:
        """Without what is empty: a configuration keeps its hash when there is something more to choose."""
        made = {**asdict(self), "methods": [choice.to_dict() for choice in self.methods]}
        made = {
            name: value for name, value in made.items() if value or name not in ("metrics", "calibrate", "sequences")
        }
        return json.loads(json.dumps(made))

    @classmethod
    def from_dict(cls, data: dict) -> ExperimentConfig:
        data = _known_keys(cls, "the configuration", data)
        require("dataset" in data and "methods" in data, "the configuration needs at least a dataset and methods")
        methods = data.pop("methods")
        require(isinstance(methods, (list, tuple)), "methods must be a list, such as [{method: crf}]")
        chosen = [{"method": entry} if isinstance(entry, str) else entry for entry in methods]
        data["methods"] = tuple(MethodChoice(**_known_keys(MethodChoice, "a method", entry)) for entry in chosen)
        features = data.get("features", {})
        features = {"template": features} if isinstance(features, str) else features
        data["features"] = FeatureChoice(**_known_keys(FeatureChoice, "features", features))
        return cls(**data)

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=1) + "\n"

    def to_yaml(self) -> str:
        import yaml

        return yaml.safe_dump(self.to_dict(), sort_keys=False, allow_unicode=True)

    @classmethod
    def from_yaml(cls, text: str) -> ExperimentConfig:
        """From YAML or JSON."""
        import yaml

        try:
            data = json.loads(text)  # YAML would take 1e-05 for a word where JSON has a number
        except json.JSONDecodeError:
            data = None
        try:
            data = yaml.safe_load(text) if data is None else data
        except yaml.YAMLError as problem:
            mark = getattr(problem, "problem_mark", None)
            where = f" in line {mark.line + 1}" if mark else ""
            raise LabSeqError(f"the configuration is not valid YAML{where}; compare it with an exported one") from None
        return cls.from_dict(data)

    @cached_property
    def hash(self) -> str:
        """12 hex digits that change with any choice."""
        return hashlib.sha256(json.dumps(self.to_dict(), sort_keys=True).encode()).hexdigest()[:12]

    def from_outside(self) -> dict[str, Source]:
        """What it uses that came from outside, as "kernel laplace", and from where."""
        said = [self.to_dict(), *(choice.values() for choice in self.methods)]
        said += [upload_format(self.dataset)] if is_upload(self.dataset) else []
        return from_outside(said, METHODS, LOSSES, KERNELS, TEMPLATES, CORPORA, FORMATS, METRICS)

    def cli_command(self) -> str:
        """The command that runs the same comparison."""
        methods = ",".join(choice.on_command_line() for choice in self.methods)
        files = dict.fromkeys(source.file for source in self.from_outside().values() if source.is_file)
        loaded = [word for file in files for word in ("--with", file)]
        words = ["labseq", *loaded, "compare", "--dataset", self.dataset, "--methods", methods]
        words += ["--features", self.features.template, "--window", str(self.features.window)]
        words += ["--bins", str(self.features.bins)] if self.features.bins else []
        words += ["--columns", ",".join(self.features.columns)] if self.features.columns else []
        words += ["--joint"] if self.features.joint else []
        words += ["--sequences", str(self.sequences)] if self.sequences else []
        words += ["--metrics", ",".join(self.metrics)] if self.metrics else []
        words += ["--calibrate"] if self.calibrate else []
        return shlex.join([*words, "--folds", str(self.folds), "--seed", str(self.seed)])

    def python_snippet(self) -> str:
        """A script on the library alone that trains and scores the same methods on the same split."""
        lines = ["from labseq_core import FeatureTemplate, load_dataset", "from labseq_core.evaluation import evaluate"]
        learners, names = [], set()
        for choice in self.methods:
            specs, options = method_options(choice.method), dict(choice.options)
            if "seed" in specs:
                options.setdefault("seed", self.seed)
            arguments = find_method(choice.method).arguments(options)
            values = [repr(specs[name].read(value) if name in specs else value) for name, value in arguments.items()]
            shown = ", ".join(map("=".join, zip(arguments, values)))
            learners.append(f"{find_method(choice.method).learner.__name__}({shown})")
            names |= set(_CLASS.findall(f"{learners[-1]} {choice.grid()!r}"))
        lines += self._imports(names)
        features = {
            name: value for name, value in self.features.make().get_params().items() if value not in (None, False)
        }
        shown = ", ".join(f"{name}={value!r}" for name, value in features.items())
        answers = dataset_info(self.dataset).answer_columns
        drop = f".without_columns({list(answers)!r})" if answers else ""
        cut = f".select(range(min({self.sequences}, len(data.train))))" if self.sequences else ""
        lines += [
            "",
            f"data = load_dataset({self.dataset!r})",
            f"training, testing = data.train{drop}{cut}, data.test{drop}",
        ]
        if self.folds:
            lines += ["from labseq_core.data.splitting import k_folds", "parts = ["]
            lines.append("    (training.select(train), training.select(test))")
            lines += [f"    for train, test in k_folds(len(training), {self.folds}, {self.seed})", "]"]
        else:
            lines.append("parts = [(training, testing)]")
        lines.append("for train, test in parts:")
        lines.append(f"    X = FeatureTemplate({shown}).encode(train)")
        watched = not self.folds and any(choice.watches_development or choice.search for choice in self.methods)
        # The others only follow their accuracy on it.
        more = f", dev=data.dev{drop}" if watched else ""
        if any(choice.search for choice in self.methods):
            lines.insert(2, "from labseq_core.learners.search import search")
            pairs = [f"({learner}, {choice.grid()!r})" for learner, choice in zip(learners, self.methods)]
            lines.append(f"    for learner, grid in ({', '.join(pairs)},):")
            lines.append("        if grid:")
            lines.append(f"            learner = search(learner, grid, X, train.labels{more}).learner")
            lines.append("        else:")
            lines.append(f"            learner.fit(X, train.labels{more})")
        else:
            lines.append(f"    for learner in ({', '.join(learners)},):")
            lines.append(f"        learner.fit(X, train.labels{more})")
        lines.append("        print(learner, evaluate(test.labels, learner.predict(test)).summary())")
        return "\n".join(lines) + "\n"

    def _imports(self, names: set[str]) -> list[str]:
        """Lines that import classes by name, and what comes from outside without a class."""
        classes = [*(method.learner for method in METHODS.values()), *KERNELS.values()]
        module_of = {each.__name__: each.__module__.removeprefix(MODULE_PREFIX) for each in classes}
        sources = self.from_outside().values()
        found: dict[str, list[str]] = {}
        for name in sorted(names):
            module = module_of.get(name, "labseq_core")
            found.setdefault("labseq_core" if module.startswith("labseq_core.") else module, []).append(name)
        for source in sources:
            found.setdefault(source.file.removesuffix(".py"), [])
        files = dict.fromkeys(source.file for source in sources if source.is_file)
        said = [f"# This script must lie beside {', '.join(files)}."] if files else []
        return said + [
            f"from {module} import {', '.join(named)}" if named else f"import {module}"
            for module, named in found.items()
        ]


def _known_keys(cls: type, what: str, data: object) -> dict:
    if not isinstance(data, dict):
        raise LabSeqError(f"{what} must be a mapping of names to values")
    known = [entry.name for entry in fields(cls)]
    unknown = [key for key in data if key not in known]
    require(
        not unknown, f"{what} has the unknown entry {unknown[0] if unknown else ''!r}; known are {', '.join(known)}"
    )
    return dict(data)


def shown_value(value: object) -> str:
    """A value as it is typed on the command line."""
    if value is None:
        return "none"
    if isinstance(value, float):
        return f"{value:g}" if float(f"{value:g}") == value else repr(value)
    return str(value).lower() if isinstance(value, bool) else str(value)
