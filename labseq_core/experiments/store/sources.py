"""One hash of the sources that can change a number of a run: of nothing else, so that finished runs stay findable, and the
workers of a cluster usable, when a page, a message or a comment is edited.

A file counts or it does not; what is left out of a room, or is used by what counts, has its reason here.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import json
import os
import platform
import re
import secrets
from pathlib import Path

from labseq_core.checks import LabSeqError
from labseq_core.places import cache_root, private_directory, private_opener

CORE = Path(__file__).resolve().parents[2]
COUNTED = (  # folders and files
    "chain", "data", "features", "kernels", "scoring", "losses", "solvers", "learners", "evaluation",
    "compiling/routines.py",  # how sums may be reordered and products contracted
    "progress.py",  # whether a fit goes on
    "csv_text.py",  # what a cell of a table says
    "explain/confidence.py", "explain/sparsity.py",  # columns of a row
    "experiments/plan/config.py", "experiments/plan/variant.py", "experiments/plan/tasks.py",
    "experiments/run/one_task.py",
    "experiments/run/live_accuracy.py", "experiments/results/predictions.py", "experiments/results/collecting.py",
)  # fmt: skip
NOT_COUNTED = {
    "data/downloads.py": "brings files here, unchanged",
    "data/public_corpora.py": "what it says of a corpus that matters is in the run id (see data_identity)",
    "data/formats/writers.py": "a run writes no corpus",
    "_lazy.py": "loads what is asked for",
    "archives.py": "keeps arrays as they are, or refuses them",
    "checks.py": "refuses input, or hands it on",
    "registry.py": "finds things by name",
    "compiling/code_cache.py": "keeps machine code",
    "compiling/threads.py": "shares out work; numbers do not depend on how (tested)",
    "places.py": "where files lie",
    "data/limits.py": "how large an upload may be",
    "data/guarded_uploads.py": "which process reads an upload",
    "learners/cost.py": "estimates time and memory; a fit does not ask",
    "learners/plugins.py": "finds methods whose own sources are among the versions",
    "experiments/run/memory.py": "measures the machine",
}
_KEPT_DIGESTS = 16  # of several trees and versions that share a cache
_DIGEST = re.compile(r"[0-9a-f]{12}")


def counted_files(core: Path = CORE) -> list[Path]:
    """The files that count, in a fixed order."""
    listed = [path for entry in COUNTED for path in [core / entry, *(core / entry).rglob("*.py")] if path.is_file()]
    return sorted(path for path in listed if path.relative_to(core).as_posix() not in NOT_COUNTED)


def sources_digest(core: Path = CORE) -> str:
    """12 hex digits that change with the code of the files that count, not with comments, docstrings or layout.

    To parse all of them takes a quarter of a second, so the answer is kept in the cache, under a hash of their bytes.
    """
    sources = {path.relative_to(core).as_posix(): path.read_bytes() for path in counted_files(core)}
    lengths = [(name, len(source)) for name, source in sources.items()]
    bytes_digest = hashlib.sha256(json.dumps([platform.python_version(), lengths]).encode())
    for source in sources.values():
        bytes_digest.update(source)
    key = bytes_digest.hexdigest()
    known = _kept()
    if key not in known:
        text = json.dumps([(name, _code_of(source)) for name, source in sources.items()])
        known[key] = hashlib.sha256(text.encode()).hexdigest()[:12]
        _keep(known)
    return known[key]


def _code_of(source: bytes) -> str:
    """What Python understands of a source, without statements that are only text: docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(body := getattr(node, "body", None), list):
            node.body = [statement for statement in body if not _is_text(statement)]
    return ast.dump(tree)


def _is_text(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _place() -> Path:
    return cache_root() / "source-digests.json"


def _kept() -> dict[str, str]:
    """By hash of the bytes; nothing where it cannot be read."""
    with contextlib.suppress(OSError, ValueError, AttributeError, TypeError, LabSeqError):
        known = json.loads(_place().read_text(encoding="utf-8"))
        return {key: digest for key, digest in known.items() if _DIGEST.fullmatch(digest)}
    return {}


def _keep(known: dict[str, str]) -> None:
    """The newest ones; where nothing can be written, the next process parses again."""
    with contextlib.suppress(OSError, LabSeqError):
        newest = dict(list(known.items())[-_KEPT_DIGESTS:])
        private_directory(_place().parent)
        part = _place().with_name(f"{_place().name}.{secrets.token_hex(4)}.part")
        try:
            with open(part, "x", encoding="utf-8", opener=private_opener) as file:
                json.dump(newest, file)
            os.replace(part, _place())
        finally:
            part.unlink(missing_ok=True)
