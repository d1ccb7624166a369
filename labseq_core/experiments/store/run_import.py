"""Taking in a run that was exported elsewhere, by anybody: a process of its own unpacks the file, checks all of it, and uses
every model once; what it has found good is then put into the store.

Scores are put together anew from what the tasks say they found, so that tables agree with one another. Whether a model was
trained as it says, and on these data, nobody can see: such a run is marked as imported wherever it is shown. A model of a
method from outside is not taken in: only LabSeq's own methods are known to check what they load.
"""

from __future__ import annotations

import errno
import json
import re
import shutil
import tempfile
import time
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from labseq_core.archives import checked_members, read_json
from labseq_core.checks import LabSeqError, brief, require
from labseq_core.data.sequences import Sequences
from labseq_core.evaluation.label_pairs import pair_up
from labseq_core.evaluation.token import confusion_of
from labseq_core.experiments.plan.config import MAX_TASKS, ExperimentConfig
from labseq_core.experiments.plan.tasks import Task, tasks_of
from labseq_core.experiments.plan.variant import MethodChoice
from labseq_core.experiments.results.collecting import collect, final_tasks
from labseq_core.experiments.results.predictions import Predictions
from labseq_core.experiments.run.active_run import KINDS
from labseq_core.experiments.run.one_task import TaskOutcome
from labseq_core.experiments.service import run_row
from labseq_core.experiments.store.run_archive import ARTEFACTS, RUN_FILE
from labseq_core.experiments.store.run_shapes import EXPORT, RUN_FORMAT, outcome_shape
from labseq_core.experiments.store.run_store import run_store
from labseq_core.explain import answers
from labseq_core.guarded_process import Limits, Tell, call_guarded
from labseq_core.learners.base import SequenceLearner
from labseq_core.learners.registry import find_method, load_model, make_learner, method_options

MAX_RUN_JSON = 50 << 20  # bytes; a run of 5000 tasks has about a tenth of it
MAX_READ = 2**30  # bytes of run.json and of all models and predictions, as they are packed in the file
MAX_ALL = 2**32  # bytes of all members: tables for people, which are not read, may be many times as long
MAX_MEMBERS = 2 * MAX_TASKS + 100  # two artefacts of each task, and a dozen tables
# The largest model takes a gigabyte, and twice that while it is read; twenty of an ordinary size take a minute.
LIMITS = {"seconds": 300.0, "megabytes": 3000}
_TRIED = 20  # attributes of an observation on which a model is tried
_ARTEFACT = re.compile(rf"{ARTEFACTS}({'|'.join(KINDS)})\.(0|[1-9][0-9]{{0,5}})\.npz")
_LOAD = "start with --with and the file that defines it; its tables can be read without"
# What zipfile, zlib and json raise on files that are something else, cut off or altered.
_DAMAGE = (OSError, ValueError, KeyError, TypeError, NotImplementedError, RuntimeError, EOFError, zlib.error,
           zipfile.BadZipFile)  # fmt: skip


def import_run(source: bytes | str | Path, tell: Tell | None = None) -> str:
    """Take a run that was exported elsewhere into this store; gives its id. One that is here already stays as it is.

    tell: is told how far it is, ten times a second; what it raises cancels the import.
    """
    name = "the file" if isinstance(source, bytes) else Path(source).name
    require(isinstance(source, bytes) or Path(source).is_file(), f"there is no file {name}; check the name")
    with tempfile.TemporaryDirectory(prefix="labseq-import-") as folder:
        path = Path(folder) / "run.zip" if isinstance(source, bytes) else Path(source).resolve()
        if isinstance(source, bytes):
            path.write_bytes(source)
        limits = Limits(**LIMITS, what=name, fix="import a smaller run")
        found = call_guarded(checked_run, limits, tell, path=str(path), name=name, folder=folder)
        _insert(found, Path(folder))
    return found["run"]["id"]


def _insert(found: dict, folder: Path) -> None:
    """What the other process has found good."""
    run, store = found["run"], run_store()
    here = store.get(run["id"])
    if here is None or here["state"] != "done":
        at_work = here is not None and here["state"] in ("queued", "running")
        require(not at_work, f"run {run['id']} is at work here; cancel it first")
        # Pages tell runs of one id apart by when they were finished: this one by when it came here.
        store.insert({**run, "finished": time.time()}, found["tasks"], _Files(folder, found["artefacts"]))


class _Files(Mapping[str, bytes]):
    """Files by name, each read when it is asked for: all of them at once may be a gigabyte."""

    def __init__(self, folder: Path, names: list[str]):
        self._folder, self._names = folder, names

    def __getitem__(self, name: str) -> bytes:
        return (self._folder / name).read_bytes()

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


# What follows happens in the other process.


def checked_run(tell: Tell, path: str, name: str, folder: str) -> dict:
    """The rows of the store, and the names of the artefacts, whose files are then in the folder."""
    try:
        about, packed = _unpacked(Path(path), Path(folder))
    except LabSeqError as problem:
        raise _broken(name, f": {problem}") from None
    except _DAMAGE as problem:
        full = getattr(problem, "errno", None) == errno.ENOSPC
        raise LabSeqError(f"there is no space to unpack {name}; free some") if full else _broken(name) from None
    tell(0.1, "Checking the scores")
    config, run, tasks = checked_about(about, name)
    checks = _Artefacts(config, tasks)
    kept = []
    for done, label in enumerate(packed):
        tell(0.1 + 0.9 * done / len(packed), f"Checking {done + 1} of {len(packed)} models and predictions")
        try:
            kept += [label] if checks.takes(label, (Path(folder) / label).read_bytes()) else []
        except LabSeqError as problem:
            raise LabSeqError(f"{name} cannot be imported: {label}: {problem}") from None
    return {"run": run, "tasks": tasks, "artefacts": kept}


def checked_about(about: object, name: str) -> tuple[ExperimentConfig, dict, list[dict]]:
    """What run.json says: the configuration, and the run and its tasks as the store has them."""
    try:
        EXPORT(about, RUN_FILE)
        config = _config_of(about["run"], name)
        return config, *_checked_rows(config, about)
    except _NotHere:
        raise
    except LabSeqError as problem:
        raise _broken(name, f": {problem}") from None


def _broken(name: str, problem: str = "") -> LabSeqError:
    return LabSeqError(f"{name} is not a run exported by LabSeq, or it is damaged{problem}; export it again")


class _NotHere(LabSeqError):
    """The file may be whole, but it is about something that this LabSeq does not have."""


def _unpacked(path: Path, folder: Path) -> tuple[dict, list[str]]:
    """run.json, and the names of the artefacts, which are written as they are. Members that we do not know stay packed."""
    with zipfile.ZipFile(path) as archive:
        members = {member.filename: member for member in checked_members(archive, MAX_MEMBERS, MAX_ALL)}
        require(RUN_FILE in members, f"it has no {RUN_FILE}")
        packed = {label: member for place, member in members.items() if (label := _label_of(place))}
        size = members[RUN_FILE].file_size
        require(size <= MAX_RUN_JSON, f"its {RUN_FILE} has {size >> 20:,} MB, more than {MAX_RUN_JSON >> 20}")
        size += sum(member.file_size for member in packed.values())
        require(size <= MAX_READ, f"its models and predictions have {size >> 20:,} MB, more than {MAX_READ >> 20:,}")
        about = read_json(archive.read(members[RUN_FILE]))
        version = about.get("labseq_export") if isinstance(about, dict) else None
        known = version == RUN_FORMAT or not isinstance(version, int)
        require(
            known, f"it has format {brief(version)}, this version reads {RUN_FORMAT}: install the version that wrote it"
        )
        for label, member in packed.items():
            with archive.open(member) as source, (folder / label).open("xb") as target:
                shutil.copyfileobj(source, target)
    return about, list(packed)


def _label_of(place: str) -> str:
    """What the store calls the artefact that has this place in the archive; nothing of any other member."""
    known = _ARTEFACT.fullmatch(place)
    return f"{known[1]}.{int(known[2])}" if known else ""


def _config_of(run: dict, name: str) -> ExperimentConfig:
    """What it is about; a corpus, method or file from outside that is not here is told."""
    try:
        return ExperimentConfig.from_dict(run["config"])
    except LabSeqError as problem:
        outside = [thing for thing in run["versions"] if " " in thing]  # "method votes", "kernel laplace"
        needs = f". It was made with {', '.join(outside)} from outside of LabSeq; {_LOAD}" if outside else ""
        raise _NotHere(f"{name} cannot be imported: {problem}{needs}") from None


def _checked_rows(config: ExperimentConfig, about: dict) -> tuple[dict, list[dict]]:
    """The run and its tasks as the store has them; scores are put together anew."""
    run, tasks, planned = about["run"], about["tasks"], tasks_of(config)
    columns = {**run_row(config), "versions": run["versions"]}
    other = [name for name, value in columns.items() if run[name] != value]
    require(not other, f"its {other[0] if other else ''} is not that of its configuration")
    require(run["id"].startswith(config.hash), "its id is not that of its configuration")
    same = [(task["label"], task["fold"], task["point"]) for task in tasks] == [
        (task.label, task.fold, task.point) for task in planned
    ]
    require(same, "its tasks are not those of its configuration")
    outcomes: dict[int, TaskOutcome] = {}
    for number, (task, plan) in enumerate(zip(tasks, planned)):
        where, found = f"tasks[{number}]", task["outcome"]
        require((found is not None) == (task["state"] == "done"), f"{where} is {task['state']}, its outcome is not")
        if found is not None:
            outcome_shape(config, plan)(found, f"{where}.outcome")
            require(found["data_hash"] == run["data_hash"], f"{where} is of other data")
            if "row" in found:
                _check_options(config, config.methods[plan.method], found["row"]["options"], where)
            _require_square(found.get("confusion"), where)
            outcomes[number] = TaskOutcome(found)
    failures = _failures(tasks, run["metrics"])
    complete = {
        n: found for n, found in outcomes.items() if planned[n].label not in {tasks[m]["label"] for m in failures}
    }
    _check_examples({n: complete[n].facts for n in final_tasks(config, complete)}, planned)
    metrics = collect(config, outcomes, failures)
    require(bool(metrics["rows"]), "it has no scores")
    dates = {name: run[name] for name in ("id", "created", "data_hash", "state")}
    return {**columns, **dates, "metrics": metrics, "imported": 1, "fraction": 1.0}, tasks


def _failures(tasks: list[dict], metrics: dict) -> dict[int, str]:
    """Why tasks could not be performed, by their numbers."""
    said = {failure["label"]: failure["error"] for failure in metrics.get("failures", [])}
    failed = {number: task["label"] for number, task in enumerate(tasks) if task["state"] == "failed"}
    return {number: said.get(label, "it could not be trained") for number, label in failed.items()}


def _check_examples(final: Mapping[int, dict], planned: list[Task]) -> None:
    """All tasks whose scores count have scores; those of the first fold have the same sequences as examples."""
    first: list | None = None
    for number, found in final.items():
        require("row" in found and "confusion" in found, f"tasks[{number}] has no scores")
        if planned[number].fold == 0:
            require("examples" in found, f"tasks[{number}] has no examples")
            shown = [(example["tokens"], example["truth"]) for example in found["examples"]]
            first = shown if first is None else first
            require(shown == first, f"tasks[{number}] has other examples than the tasks before")
            even = all(
                0 < len(each["tokens"]) == len(each["truth"]) == len(each["predicted"]) for each in found["examples"]
            )
            require(even, f"tasks[{number}] has an example with more labels than tokens, or fewer")


def _check_options(config: ExperimentConfig, choice: MethodChoice, text: str, where: str) -> None:
    """A row says in JSON what its method was trained with: as the configuration has it, or one of the values to try."""
    known = _given_options(config, choice)
    try:
        said = json.loads(text)
        fits = set(said) == {*known, *choice.tried} and all(said[name] == known[name] for name in known)
        fits = fits and all(said[name] in values for name, values in choice.tried.items())
    except (ValueError, TypeError, RecursionError):
        fits = False
    require(fits, f"{where} has other options than its configuration")


def _given_options(config: ExperimentConfig, choice: MethodChoice) -> dict:
    """Those that are not searched for; the seed of the run goes to methods that have one."""
    seed = {"seed": config.seed} if "seed" in method_options(choice.method) else {}
    return {name: value for name, value in {**seed, **choice.options}.items() if name not in choice.tried}


def _require_square(confusion: dict | None, where: str) -> None:
    if confusion is not None:
        size = len(confusion["labels"])
        square = len(confusion["counts"]) == size == len(set(confusion["labels"]))
        square = square and all(len(counts) == size for counts in confusion["counts"])
        require(square, f"{where} has a confusion matrix that is not one row and one column for each label")


class _Artefacts:
    """Whether predictions and models are those of the tasks that they are said to be of."""

    def __init__(self, config: ExperimentConfig, tasks: list[dict]):
        self._config, self._planned, self._tasks = config, tasks_of(config), tasks
        self._truth: dict[int, list[list[str]]] = {}  # by fold

    def takes(self, label: str, data: bytes) -> bool:
        """Whether it is to be kept; an error if it is not what it should be."""
        kind, _, number = label.partition(".")
        outcome = (self._tasks[int(number)]["outcome"] or {}) if int(number) < len(self._tasks) else {}
        require("row" in outcome and "confusion" in outcome, "no task of this run has it")
        task = self._planned[int(number)]
        if kind == "predictions":
            self._check_predictions(task, outcome, Predictions.from_bytes(data))
            return True
        return self._takes_model(task, data)

    def _check_predictions(self, task: Task, outcome: dict, said: Predictions) -> None:
        require(bool((said.folds == task.fold).all()), "the predictions are those of another fold")
        truth = said.labellings("truth")
        require(self._truth.setdefault(task.fold, truth) == truth, "the methods were scored on different sequences")
        found = confusion_of(pair_up(truth, said.labellings("predicted")))
        same = outcome["confusion"] == {"labels": list(found.labels), "counts": found.counts.tolist()}
        row = outcome["row"]
        same = same and (row["n_tokens"], row["n_sequences"]) == (said.truth.size, said.lengths.size)
        require(same, "the predictions do not give the confusion matrix of the run")

    def _takes_model(self, task: Task, data: bytes) -> bool:
        config, choice = self._config, self._config.methods[task.method]
        method = find_method(choice.method)
        if method.learner.source is not None:
            return False
        learner = load_model(data)
        made = make_learner(choice.method, **_given_options(config, choice)).get_params()
        same = type(learner) is method.learner and all(
            value == made[name] or (name in choice.tried and value in choice.grid()[name])
            for name, value in learner.get_params().items()
        )
        require(same, "the model is that of another method, or has other options")
        template = learner.template_
        same = template is not None and template.get_params() == config.features_of(choice).make().get_params()
        require(same, "the model has other features")
        _try(learner)
        return True


def _try(learner: SequenceLearner) -> None:
    """Use it once: on an observation with attributes that it knows and one with none, and on words."""
    _label(learner, [[list(learner.vocabulary_.names[:_TRIED]), []]])
    coder = learner.template_.coder_
    require(coder is not None, "the model does not say what its attributes were made of")
    columns = {name: [[0.0, 0.0] if name in coder.numeric else ["a", "b"]] for name in coder.columns if name != "token"}
    _label(learner, Sequences.from_lists([["a", "b"]], columns=columns))


def _label(learner: SequenceLearner, X) -> None:
    answers(learner, X, learner.predict(X))
