"""The corpora that come with LabSeq: a folder each, with a description and three files."""

from __future__ import annotations

import contextlib
import hashlib
import json
from functools import partial
from pathlib import Path

from labseq_core.checks import LabSeqError, require
from labseq_core.data.corpus import ABOUT, Corpus, Parts
from labseq_core.data.formats.conll import read_conll

PARTS = ("train", "dev", "test")
_SAID = ("title", "task", "description", "licence", "citation")


def bundled_corpora(directory: Path) -> list[Corpus]:
    """Those in the folders of a directory, by name. One that is broken must not take the others with it: it is left out."""
    found = []
    for folder in corpus_folders(directory):
        with contextlib.suppress(LabSeqError):
            found.append(bundled_corpus(folder))
    return found


def corpus_folders(directory: Path) -> list[Path]:
    """The folders that should hold a corpus, broken ones too."""
    return [about.parent for about in sorted(directory.glob(f"*/{ABOUT}"))]


def bundled_corpus(folder: Path) -> Corpus:
    """The corpus in a folder; what is wrong with it is told."""
    about = _about(folder)
    size = sum(_file(folder, part).stat().st_size for part in PARTS)
    return Corpus(
        name=folder.name, load=partial(_read, folder, about["columns"]), size=f"{size / 1e3:.0f} KB", bundled=True,
        bayes_test_accuracy=about.get("bayes_test_accuracy", {}), fingerprint=partial(_fingerprint, folder, about["columns"]),
        **{key: about[key] for key in _SAID},
    )  # fmt: skip


def _about(folder: Path) -> dict:
    try:
        about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
        missing = {*_SAID, "columns"} - about.keys()
    except (ValueError, AttributeError):
        raise LabSeqError(f"datasets/{folder.name}/{ABOUT} is not a JSON object; write it anew") from None
    require(not missing, f"datasets/{folder.name}/{ABOUT} has no {', '.join(sorted(missing))}; add what is missing")
    columns = about["columns"]
    named = isinstance(columns, list) and len(columns) >= 2 and all(isinstance(name, str) for name in columns)
    require(named, f"datasets/{folder.name}/{ABOUT}: columns are {columns!r}; list the names, from token to label")
    gone = [file.name for file in (_file(folder, part) for part in PARTS) if not file.is_file()]
    require(not gone, f"datasets/{folder.name} has no {', '.join(gone)}; add what is missing")
    return about


def _file(folder: Path, part: str) -> Path:
    return folder / f"{part}.conll"


def _read(folder: Path, columns: list[str]) -> Parts:
    train, dev, test = (read_conll(_file(folder, part), columns=columns[1:-1]) for part in PARTS)
    return train, dev, test


def _fingerprint(folder: Path, columns: list[str]) -> str:
    files = [hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.glob("*.conll"))]
    return json.dumps([columns, files])
