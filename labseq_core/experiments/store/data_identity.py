"""What a corpus is: part of a run's id, so that other data is another run. Told without fetching it."""

from __future__ import annotations

import hashlib
from functools import lru_cache

from labseq_core.data.catalogue import find_corpus
from labseq_core.data.uploads import is_upload
from labseq_core.experiments.run.one_task import data_hash


@lru_cache(maxsize=64)
def data_identity(dataset: str) -> str:
    """12 hex digits: of the files of a bundled corpus, of the checksums of a public one, of the data of one from outside. The
    id of an upload says all.
    """
    if is_upload(dataset):
        return _hash(dataset)
    fingerprint = find_corpus(dataset).fingerprint
    return data_hash(dataset) if fingerprint is None else _hash(fingerprint())


def _hash(contents: str) -> str:
    return hashlib.sha256(contents.encode()).hexdigest()[:12]
