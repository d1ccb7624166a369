"""What is compared: a method with its options, features, decoding and training data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from typing import TypeVar

from labseq_core.checks import LabSeqError, require
from labseq_core.experiments.plan.variant_text import SEARCH, VariantText, columns_in, columns_text, listed, values_in
from labseq_core.features import FeatureTemplate
from labseq_core.kernels import Kernel
from labseq_core.learners.options import OF_VARIANTS
from labseq_core.learners.registry import DECODINGS, find_method, make_learner, method_options
from labseq_core.learners.search import require_grid

TUNE = "tune"  # in place of values to try: those that the method declares
MOST_NOISE = 0.9
Number = TypeVar("Number", int, float)
OF_FEATURES = ("features", "window", "bins", "columns", "joint")  # names of a variant's own features, where it is typed
_FOLLOWED = ("sgps", "sgps-sequence")  # accuracy against sparseness is drawn on the development part


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

    @classmethod
    def from_dict(cls, data: object) -> FeatureChoice:
        """From `to_dict`, or a template's name alone."""
        return cls(**known_keys(cls, "features", {"template": data} if isinstance(data, str) else data))

    def to_dict(self) -> dict:
        return {**asdict(self), "columns": None if self.columns is None else list(self.columns)}

    def on_command_line(self) -> list[str]:
        """As options of a variant."""
        usual = FeatureTemplate(self.template, columns=self.columns)
        said = [f"features={self.template}"]
        said += [] if self.window == usual.window else [f"window={self.window}"]
        said += [] if self.bins == usual.bins else [f"bins={self.bins}"]
        said += [] if self.columns is None else [f"columns={columns_text(self.columns)}"]
        return said + (["joint=true"] if self.joint else [])

    @classmethod
    def parse(cls, given: dict[str, str]) -> FeatureChoice | None:
        """From these options of a variant, by name; None where there are none of them."""
        if not given:
            return None
        if "features" not in given:
            raise LabSeqError(f"{', '.join(given)} of a variant needs its features too, as in features=S3:window=5")
        columns = columns_in(given["columns"]) if "columns" in given else None
        window, bins = (_number(given, name, int) if name in given else None for name in ("window", "bins"))
        joint = given.get("joint", "false").lower()
        require(joint in ("true", "false"), f"joint is {joint!r}; choose true or false")
        return cls(given["features"], window, columns, bins, joint == "true")

    @property
    def label(self) -> str:
        usual = FeatureTemplate(self.template, columns=self.columns)
        more = [] if self.window == usual.window else [f"window {self.window}"]
        more += [] if self.bins == usual.bins else [f"{self.bins} bins"]
        more += ["joint codes"] if self.joint else []
        more += [] if self.columns is None else ["columns " + " ".join(self.columns)]
        return f"{self.template} ({', '.join(more)})" if more else self.template


@dataclass(frozen=True)
class MethodChoice:
    """A variant: a method, and in what it differs from the usual.

    options: those that differ from their defaults. search: options whose values are chosen on the development set (within
    cross-validation on an inner tenth of each training set), or "tune": the values that the method declares. decode: viterbi or
    posterior (empty: as the method's loss is made for). features: its own (None: those of the run). sequences: only so many
    of the training set, the first ones (0: all). noise: share of the training labels replaced by wrong ones.
    """

    method: str
    options: dict = field(default_factory=dict)
    search: dict | str = field(default_factory=dict)
    decode: str = ""
    features: FeatureChoice | None = None
    sequences: int = 0
    noise: float = 0.0

    def __post_init__(self) -> None:
        make_learner(self.method, **self.options)
        specs = method_options(self.method)
        # Two ways to write one kernel are one choice.
        chosen = {name: specs[name].read(value) for name, value in sorted(self.options.items())}
        changed = {name: specs[name].plain(value) for name, value in chosen.items() if value != specs[name].default}
        object.__setattr__(self, "options", changed)
        if self.search and self.search != TUNE:
            object.__setattr__(self, "search", self._checked_search(self.search))
        self._check_decoding()
        require_whole("sequences", self.sequences)
        noise = 0.0 if self.noise is None else self.noise
        fits = isinstance(noise, (int, float)) and not isinstance(noise, bool) and 0.0 <= noise <= MOST_NOISE
        require(fits, f"noise is {self.noise!r}; choose a share of the training labels from 0 to {MOST_NOISE:g}")
        object.__setattr__(self, "noise", float(noise))

    def _check_decoding(self) -> None:
        known = ", ".join(DECODINGS)
        require(self.decode in ("", *DECODINGS), f"decode is {self.decode!r}; choose from {known}")
        method = find_method(self.method)
        possible = self.decode != "posterior" or method.probabilistic
        require(possible, f"{method.title} gives scores, not probabilities, so its decode is viterbi")
        if self.decode == method.decoding:
            object.__setattr__(self, "decode", "")

    def _checked_search(self, search: object) -> dict:
        if not isinstance(search, dict):
            raise LabSeqError(f"search must be {TUNE!r}, or name options and values to try, such as {{l2: [0.1, 1]}}")
        specs, tried = method_options(self.method), {}
        for name, values in sorted(search.items()):
            require(
                isinstance(values, (list, tuple)), f"search has {values!r} for {name}; give a list of values to try"
            )
            require(name not in self.options, f"{name} is both given and to be searched for; leave one out")
            for value in values:
                make_learner(self.method, **{**self.options, name: value})
            tried[name] = [specs[name].plain(specs[name].read(value)) for value in values]
        require_grid(tried)
        return tried

    @property
    def decoding(self) -> str:
        """How labels come of scores: viterbi or posterior."""
        return self.decode or find_method(self.method).decoding

    @cached_property
    def tried(self) -> dict[str, Sequence]:
        """Of each option to be chosen on data the values to try, as plain data. What was given is not tuned."""
        if isinstance(self.search, dict):
            return self.search
        return {name: values for name, values in find_method(self.method).tuning.items() if name not in self.options}

    def grid(self) -> dict:
        """The values to try as learners take them."""
        specs = method_options(self.method)
        arguments = find_method(self.method).arguments(
            {name: [specs[name].read(value) for value in values] for name, values in self.tried.items()}
        )
        return {name: arguments[name] for name in self.tried}

    def values(self) -> list:
        """Of all options, defaults and values to try included, as plain data."""
        given = make_learner(self.method, **self.options).get_params()
        values = [*given.values(), *(value for tried in self.grid().values() for value in tried)]
        return [value.to_dict() if isinstance(value, Kernel) else value for value in values]

    def n_fits(self, folds: int) -> int:
        """How many trainings a fold takes; within cross-validation the values chosen are trained once more."""
        return math.prod(map(len, self.tried.values())) + bool(folds) if self.tried else 1

    @cached_property
    def label(self) -> str:
        """How tables and charts call it: "CRF", "CRF (l2=0.1)", "CRF (l2 of 0.1, 1)", "CRF (posterior, noise=0.1)"."""
        title = find_method(self.method).title
        said = [f"{name}={shown_value(value)}" for name, value in self.options.items()]
        listed = self.search if isinstance(self.search, dict) else {}
        said += [f"{name} of {', '.join(map(shown_value, values))}" for name, values in listed.items()]
        said += ["tuned"] if self.search == TUNE else []
        said += [self.decode] if self.decode else []
        said += [self.features.label] if self.features else []
        said += [f"{name}={shown_value(value)}" for name, value in self.conditions.items()]
        return f"{title} ({'; '.join(said) if listed else ', '.join(said)})" if said else title

    @property
    def conditions(self) -> dict[str, float]:
        """What of its training data is not as usual: sequences, noise."""
        return {name: value for name in ("sequences", "noise") if (value := getattr(self, name))}

    def to_dict(self) -> dict:
        """Without what is empty: a choice keeps its hash when there is something more to choose."""
        made: dict = {"method": self.method, "options": self.options, "search": self.search, "decode": self.decode}
        made |= {"features": self.features.to_dict()} if self.features else {}
        made |= self.conditions
        return {name: value for name, value in made.items() if value or name in ("method", "options")}

    @classmethod
    def from_dict(cls, data: object) -> MethodChoice:
        """From `to_dict`, or a method's id alone."""
        data = known_keys(cls, "a method", {"method": data} if isinstance(data, str) else data)
        if data.get("features") is not None:
            data["features"] = FeatureChoice.from_dict(data["features"])
        return cls(**data)

    @classmethod
    def parse(cls, text: str) -> MethodChoice:
        """From `on_command_line`, or as somebody typed it: "crf", "crf:l2=0.1|1:decode=posterior:features=S1:noise=0.1"."""
        typed = VariantText.read(text)
        specs = method_options(typed.method)
        options, tried, own = {}, {}, {}
        for name, value in typed.given.items():
            if value and name in OF_VARIANTS and name not in specs:
                own[name] = value
            elif not value or name not in specs:
                pair, known = f"{name}={value}" if value else name, ", ".join([*specs, *OF_VARIANTS])
                raise LabSeqError(f"{pair!r} is not an option of {typed.method}; write name=value with one of {known}")
            elif SEARCH in value:
                tried[name] = list(map(specs[name].parse, values_in(value)))
            else:
                options[name] = specs[name].parse(value)
        if "search" in own and tried:
            raise LabSeqError(f"{text!r} has both search={own['search']} and values to try; leave one out")
        features = FeatureChoice.parse({name: own[name] for name in OF_FEATURES if name in own})
        return cls(
            typed.method, options, own.get("search", tried), own.get("decode", ""), features,
            _number(own, "sequences", int), _number(own, "noise", float),
        )  # fmt: skip

    def on_command_line(self) -> str:
        said = [f"{name}={shown_value(value)}" for name, value in self.options.items()]
        if self.search == TUNE:
            said.append(f"search={TUNE}")
        else:
            said += [f"{name}={listed(list(map(shown_value, values)))}" for name, values in self.tried.items()]
        said += [f"decode={self.decode}"] if self.decode else []
        said += self.features.on_command_line() if self.features else []
        said += [f"{name}={shown_value(value)}" for name, value in self.conditions.items()]
        return ":".join([self.method, *said])

    @property
    def watches_development(self) -> bool:
        """Whether the method is followed on the development set: it stops early by it, or its path is drawn with it."""
        return "patience" in method_options(self.method) or self.method in _FOLLOWED


def _number(given: dict[str, str], name: str, kind: type[Number]) -> Number:
    try:
        return kind(given.get(name, 0))
    except ValueError:
        raise LabSeqError(f"{name} is {given[name]!r}; write a number") from None


def require_whole(name: str, value: object) -> None:
    whole = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    require(whole, f"{name} is {value!r}; choose a whole number, 0 for all of the training set")


def known_keys(cls: type, what: str, data: object) -> dict:
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
