"""All corpora by name: bundled ones, public ones fetched on demand, and files that a user has uploaded."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from labseq_core.checks import LabSeqError
from labseq_core.data.bundled_corpora import bundled_corpora, bundled_corpus, corpus_folders
from labseq_core.data.corpus import Corpus
from labseq_core.data.downloads import MIRROR_VARIABLE, Progress
from labseq_core.data.public_corpora import PUBLIC_CORPORA
from labseq_core.data.sequences import Dataset
from labseq_core.data.uploads import is_upload, load_upload, store_upload
from labseq_core.places import datasets_directory
from labseq_core.registry import Registry

__all__ = ["CORPORA", "Corpus", "DatasetInfo", "dataset_info", "fetch_dataset", "find_corpus", "list_datasets"]
__all__ += ["load_dataset", "store_upload"]

_KEPT_IN_MEMORY, _UPLOADS_KEPT = 8, 3  # an upload may take 300 MB, and loads in a second
CORPORA: Registry[Corpus] = Registry("corpus", [*bundled_corpora(datasets_directory()), *PUBLIC_CORPORA])


@dataclass(frozen=True)
class DatasetInfo:
    """What can be said about a corpus, or an upload, without reading it; see `Corpus`."""

    name: str
    title: str
    task: str
    bundled: bool
    available: bool
    licence: str
    citation: str
    size: str
    description: str
    n_labels: int | None = None
    answer_columns: tuple[str, ...] = ()
    bayes_test_accuracy: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, corpus: Corpus) -> DatasetInfo:
        return cls(**{key: getattr(corpus, key) for key in cls.__dataclass_fields__})


def _upload_info(dataset: Dataset) -> DatasetInfo:
    n_tokens = sum(part.n_tokens for part in (dataset.train, dataset.dev, dataset.test))
    said = {key: getattr(dataset, key) for key in ("name", "title", "task", "licence", "citation", "description")}
    return DatasetInfo(bundled=False, available=True, size=f"{n_tokens} tokens", n_labels=len(dataset.labels), **said)


def find_corpus(name: str) -> Corpus:
    """The corpus of a name; an unknown one is told with those that are spelled similarly."""
    if name in CORPORA:
        return CORPORA[name]
    for folder in corpus_folders(datasets_directory()):
        if folder.name == name:
            return bundled_corpus(folder)  # which says why it was left out
    close = difflib.get_close_matches(str(name), CORPORA, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(close)}?" if close else f"known are {', '.join(CORPORA)}"
    raise LabSeqError(f"unknown dataset {name!r}; {hint}")


def list_datasets() -> list[DatasetInfo]:
    """All corpora that can be loaded by name, bundled ones first. Uploads are not listed: their ids are private."""
    return list(map(DatasetInfo.of, CORPORA.values()))


def dataset_info(name: str) -> DatasetInfo:
    """What is known of a corpus without reading it; an upload is read (once)."""
    return _upload_info(load_dataset(name)) if is_upload(name) else DatasetInfo.of(find_corpus(name))


def load_dataset(name: str) -> Dataset:
    """A corpus by name, or an upload by its id, with `.train .dev .test`. Kept in memory: do not change it."""
    load = _load_upload_once if is_upload(name) else _load_once
    return load(name, *map(os.environ.get, (MIRROR_VARIABLE, "LABSEQ_CACHE_DIR", "LABSEQ_STORE")))


@lru_cache(maxsize=_KEPT_IN_MEMORY)
def _load_once(name: str, *places: str | None) -> Dataset:
    return find_corpus(name).dataset()


@lru_cache(maxsize=_UPLOADS_KEPT)
def _load_upload_once(name: str, *places: str | None) -> Dataset:
    return load_upload(name)


def fetch_dataset(name: str, progress: Progress | None = None) -> None:
    """Bring a corpus onto this machine so that it loads without the net. An upload is there already."""
    if not is_upload(name):
        find_corpus(name).fetch(progress)
