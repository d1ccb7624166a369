"""What to run: one frozen, validated object with a YAML and JSON form and a stable hash."""

from __future__ import annotations

import hashlib
import json
import shlex
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property

from labseq_core.checks import LabSeqError, require
from labseq_core.data.catalogue import CORPORA, dataset_info
from labseq_core.data.formats.registry import FORMATS
from labseq_core.data.uploads import is_upload, upload_format
from labseq_core.evaluation.registry import METRICS
from labseq_core.experiments.plan.variant import FeatureChoice, MethodChoice, known_keys, require_whole
from labseq_core.features import TEMPLATES
from labseq_core.kernels import KERNELS
from labseq_core.learners.registry import METHODS
from labseq_core.losses import LOSSES
from labseq_core.registry import Source, from_outside

MAX_METHODS, MAX_FOLDS, MAX_TASKS = 60, 50, 5000
_LATER = (
    "metrics",
    "calibrate",
    "sequences",
    "test_dataset",
)  # left out where empty: configurations of before keep their hash


@dataclass(frozen=True)
class ExperimentConfig:
    """Compare variants of methods on one corpus.

    features: of all variants that have none of their own. folds = 0: train on the training set, test on the test set;
    otherwise cross-validation within the training set. metrics: the columns of the printed table (empty: the usual ones).
    calibrate: scores are divided by the temperature that fits the development set best, before anything is called a
    probability. sequences: only so many of the training set, the first ones (0: all). test_dataset: another corpus whose test
    set is used (empty: this one's).
    """

    dataset: str
    methods: tuple[MethodChoice, ...]
    features: FeatureChoice = field(default_factory=FeatureChoice)
    folds: int = 0
    seed: int = 0
    metrics: tuple[str, ...] = ()
    calibrate: bool = False
    sequences: int = 0
    test_dataset: str = ""

    def __post_init__(self) -> None:
        same = [
            replace(choice, features=None) if choice.features == self.features else choice for choice in self.methods
        ]
        object.__setattr__(self, "methods", tuple(same))
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
        require_whole("sequences", self.sequences)
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
            "calibrate needs the development set, which folds leave out: folds must be 0",
        )
        if self.test_dataset:
            dataset_info(self.test_dataset)
            require(not self.folds, "folds test on the training corpus itself; with test_dataset folds must be 0")

    def variant(self, label: str) -> MethodChoice:
        """The one that tables and charts call so."""
        return next(choice for choice in self.methods if choice.label == label)

    def features_of(self, choice: MethodChoice) -> FeatureChoice:
        """Those that a variant is trained with."""
        return choice.features or self.features

    def to_dict(self) -> dict:
        """Without what is empty: a configuration keeps its hash when there is something more to choose."""
        made = {**asdict(self), "methods": [choice.to_dict() for choice in self.methods]}
        made = {name: value for name, value in made.items() if value or name not in _LATER}
        return json.loads(json.dumps(made))

    @classmethod
    def from_dict(cls, data: dict) -> ExperimentConfig:
        data = known_keys(cls, "the configuration", data)
        require("dataset" in data and "methods" in data, "the configuration needs at least a dataset and methods")
        methods = data.pop("methods")
        require(isinstance(methods, (list, tuple)), "methods must be a list, such as [{method: crf}]")
        data["methods"] = tuple(map(MethodChoice.from_dict, methods))
        data["features"] = FeatureChoice.from_dict(data.get("features", {}))
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
        said += [upload_format(name) for name in (self.dataset, self.test_dataset) if is_upload(name)]
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
        words += ["--test-dataset", self.test_dataset] if self.test_dataset else []
        words += ["--metrics", ",".join(self.metrics)] if self.metrics else []
        words += ["--calibrate"] if self.calibrate else []
        return shlex.join([*words, "--folds", str(self.folds), "--seed", str(self.seed)])
