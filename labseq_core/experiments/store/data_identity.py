"""What a corpus is, told without reading or fetching it: part of a run's id, so that other data is another run."""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from pathlib import Path

from labseq_core.data.public_corpora import CORPORA
from labseq_core.data.uploads import is_upload
from labseq_core.places import datasets_directory


def data_identity(dataset: str) -> str:
    """12 hex digits: of the files of a bundled corpus, of the checksums of a public one. The id of an upload says all."""
    return _identity(dataset, datasets_directory())


@lru_cache(maxsize=64)
def _identity(dataset: str, directory: Path) -> str:
    if is_upload(dataset):
        return _hash(dataset.encode())
    about = directory / dataset / "about.json"
    if about.is_file():
        columns = json.loads(about.read_text(encoding="utf-8"))["columns"]
        parts = [hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(about.parent.glob("*.conll"))]
        return _hash(json.dumps([columns, parts]).encode())
    public = next(corpus for corpus in CORPORA if corpus.name == dataset)
    files = [(file.path, file.sha256 or file.address) for file in public.files]
    return _hash(json.dumps([files, public.parse.__name__, public.answer_columns]).encode())


def _hash(contents: bytes) -> str:
    return hashlib.sha256(contents).hexdigest()[:12]
