"""All corpora by name: bundled ones, public ones fetched on demand, and files that a user has uploaded."""

from __future__ import annotations

import difflib
import json
import os
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from labseq_core.checks import LabSeqError, require
from labseq_core.data.downloads import MIRROR_VARIABLE, Progress, is_at_hand, read_verified
from labseq_core.data.formats.conll import read_conll
from labseq_core.data.public_corpora import CORPORA, Corpus
from labseq_core.data.sequences import Dataset
from labseq_core.data.uploads import is_upload, load_upload, store_upload
from labseq_core.places import datasets_directory

__all__ = ["Catalogue", "DatasetInfo", "dataset_info", "fetch_dataset", "list_datasets", "load_dataset", "store_upload"]

_PARTS = ("train", "dev", "test")
_ABOUT = "about.json"
_KEPT_IN_MEMORY = 8


@dataclass(frozen=True)
class DatasetInfo:
    """What can be said about a corpus without reading it."""

    name: str
    title: str
    task: str  # "segment" or "token", as in Dataset
    bundled: bool
    available: bool  # without the net
    licence: str
    citation: str
    size: str
    description: str
    n_labels: int | None = None
    answer_columns: tuple[str, ...] = ()  # never observations: they restate the label or say how the corpus is cut
    bayes_test_accuracy: float | None = (
        None  # of the best possible labelling of the test part, where the truth is known
    )


@dataclass(frozen=True)
class Catalogue:
    """The corpora of one table and one folder."""

    corpora: tuple[Corpus, ...] = CORPORA
    bundled_in: Path | None = None

    @cached_property
    def _corpora_by_name(self) -> dict[str, Corpus]:
        return {corpus.name: corpus for corpus in self.corpora}

    def infos(self) -> list[DatasetInfo]:
        """All corpora, bundled ones first."""
        return [*map(self._bundled_info, self._bundled()), *map(_public_info, self.corpora)]

    def info(self, name: str) -> DatasetInfo:
        """One corpus by name."""
        if name in self._bundled():
            return self._bundled_info(name)
        return _public_info(self._corpus(name))

    def load(self, name: str) -> Dataset:
        """The corpus, fetched first if need be."""
        if is_upload(name):
            return load_upload(name)
        if name in self._bundled():
            return self._load_bundled(name)
        corpus = self._corpus(name)
        train, dev, test = corpus.parse({file.path: read_verified(file) for file in corpus.files})
        about = {"title": corpus.title, "description": corpus.description, "licence": corpus.licence}
        return Dataset(name, train, dev, test, **about, citation=corpus.citation, task=corpus.task)

    def fetch(self, name: str, progress: Progress | None = None) -> None:
        """Bring the files of a corpus onto this machine. `progress(fraction, message)` is told how far it is."""
        report = progress or (lambda fraction, message: None)
        files = () if is_upload(name) or name in self._bundled() else self._corpus(name).files
        for number, file in enumerate(files):
            report(number / len(files), f"looking for {file.name}")

            def report_part(part: float, message: str, before: int = number) -> None:
                report((before + part) / len(files), message)

            read_verified(file, report_part)
        report(1.0, f"{name} is at hand")

    def _directory(self) -> Path:
        return self.bundled_in or datasets_directory()

    def _bundled(self) -> list[str]:
        return sorted(about.parent.name for about in self._directory().glob(f"*/{_ABOUT}"))

    def _about(self, name: str) -> dict:
        try:
            about = json.loads((self._directory() / name / _ABOUT).read_text(encoding="utf-8"))
            missing = {"title", "task", "description", "licence", "citation", "columns"} - about.keys()
        except (ValueError, AttributeError):
            raise LabSeqError(f"datasets/{name}/{_ABOUT} is not a JSON object; write it anew") from None
        require(not missing, f"datasets/{name}/{_ABOUT} has no {', '.join(sorted(missing))}; add what is missing")
        return about

    def _bundled_info(self, name: str) -> DatasetInfo:
        about = self._about(name)
        size = sum((self._directory() / name / f"{part}.conll").stat().st_size for part in _PARTS)
        said = {key: about[key] for key in ("title", "task", "licence", "citation", "description")}
        best = about.get("bayes_test_accuracy")
        return DatasetInfo(
            name, bundled=True, available=True, size=f"{size / 1e3:.0f} KB", bayes_test_accuracy=best, **said
        )

    def _load_bundled(self, name: str) -> Dataset:
        about = self._about(name)
        columns = about["columns"][1:-1]
        train, dev, test = (read_conll(self._directory() / name / f"{part}.conll", columns=columns) for part in _PARTS)
        said = {key: about[key] for key in ("title", "description", "licence", "citation", "task")}
        return Dataset(name, train, dev, test, **said)

    def _corpus(self, name: str) -> Corpus:
        if name in self._corpora_by_name:
            return self._corpora_by_name[name]
        known = [*self._bundled(), *self._corpora_by_name]
        close = difflib.get_close_matches(str(name), known, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(close)}?" if close else f"known are {', '.join(known)}"
        raise LabSeqError(f"unknown dataset {name!r}; {hint}")


def _public_info(corpus: Corpus) -> DatasetInfo:
    said = {key: getattr(corpus, key) for key in DatasetInfo.__dataclass_fields__ if hasattr(corpus, key)}
    return DatasetInfo(bundled=False, available=all(map(is_at_hand, corpus.files)), **said)


def _upload_info(dataset: Dataset) -> DatasetInfo:
    n_tokens = sum(part.n_tokens for part in (dataset.train, dataset.dev, dataset.test))
    said = {key: getattr(dataset, key) for key in ("name", "title", "task", "licence", "citation", "description")}
    return DatasetInfo(bundled=False, available=True, size=f"{n_tokens} tokens", n_labels=len(dataset.labels), **said)


_CATALOGUE = Catalogue()


def list_datasets() -> list[DatasetInfo]:
    """All corpora that can be loaded by name, bundled ones first. Uploads are not listed: their ids are private."""
    return _CATALOGUE.infos()


def dataset_info(name: str) -> DatasetInfo:
    """What is known of a corpus without reading it; an upload is read (once)."""
    return _upload_info(load_dataset(name)) if is_upload(name) else _CATALOGUE.info(name)


def load_dataset(name: str) -> Dataset:
    """A corpus by name, or an upload by its id, with `.train .dev .test`. Kept in memory: do not change it."""
    return _load_once(name, *map(os.environ.get, (MIRROR_VARIABLE, "LABSEQ_CACHE_DIR", "LABSEQ_STORE")))


@lru_cache(maxsize=_KEPT_IN_MEMORY)
def _load_once(name: str, *places: str | None) -> Dataset:
    return _CATALOGUE.load(name)


def fetch_dataset(name: str, progress: Progress | None = None) -> None:
    """Bring a corpus onto this machine so that it loads without the net."""
    _CATALOGUE.fetch(name, progress)
