"""The id of a run: its configuration, its data and the versions, so that the same question has one answer in a store."""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache

from labseq_core.data.catalogue import find_corpus
from labseq_core.data.uploads import is_upload
from labseq_core.experiments.plan.config import ExperimentConfig
from labseq_core.experiments.run.one_task import data_hash
from labseq_core.experiments.store.versions import versions


def run_id_of(config: ExperimentConfig) -> str:
    """The id of the run of a configuration, on the data that are here, with the versions that are installed."""
    made_with = versions(config.to_dict())
    text = json.dumps([config.hash, data_identity(config.dataset), made_with], sort_keys=True)
    return f"{config.hash}-{hashlib.sha256(text.encode()).hexdigest()[:6]}"


@lru_cache(maxsize=64)
def data_identity(dataset: str) -> str:
    """What a corpus is, told without fetching it. 12 hex digits: of the files of a bundled corpus, of the checksums of a public
    one, of the data of one from outside. The id of an upload says all.
    """
    if is_upload(dataset):
        return _hash(dataset)
    fingerprint = find_corpus(dataset).fingerprint
    return data_hash(dataset) if fingerprint is None else _hash(fingerprint())


def _hash(contents: str) -> str:
    return hashlib.sha256(contents.encode()).hexdigest()[:12]
