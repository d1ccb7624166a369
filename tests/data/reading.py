"""What tests have done in a process of its own: read many files one after the other, each timed."""

from __future__ import annotations

import random
import tempfile
import time
import traceback
from pathlib import Path

from labseq_core.checks import LabSeqError
from labseq_core.data.formats.registry import FORMATS
from labseq_core.data.parsed_upload import load_parsed, save_parsed
from labseq_core.data.uploads import ReadUpload, read_upload
from tests.data.hostile_files import HOSTILE
from tests.data.mutations import mutated

LONGEST = 1200  # characters of a message
SECONDS = 5.0  # of work that no file may take here; the slowest take a tenth


def read_hostile(tell, size: int) -> dict[str, list]:
    """By name what came of each file, and the seconds that it took: an error, or that it was read."""
    found = {}
    for place, (name, hostile) in enumerate(HOSTILE.items()):
        tell(place / len(HOSTILE), name)
        data = hostile.make(size)
        began = time.process_time()
        try:
            read_upload(data, name)
            said = ""
        except LabSeqError as problem:
            said = str(problem)
        found[name] = [said, time.process_time() - began]
    return found


def read_mutated(tell, seed: int, count: int) -> dict[str, int]:
    """How many of so many altered files could be read, and how many were refused; anything else is an error."""
    counts = {"read": 0, "refused": 0}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(count):
            chance = random.Random(f"{seed} {number}")
            name, data = mutated(chance)
            format = chance.choice([None, None, None, *FORMATS])
            options = chance.choice([{}, {}, {"encoding": "latin-1"}])
            tell(number / count, f"file {number}: {name} as {format}")
            began = time.process_time()
            problem = None
            try:
                _require_same(read_upload(data, name, format=format, **options), Path(folder) / "parsed.npz")
            except LabSeqError as refusal:
                problem = str(refusal)
            except Exception:
                raise LabSeqError(
                    f"file {number} of seed {seed}, {name} as {format}: {traceback.format_exc()}"
                ) from None
            counts["read" if problem is None else "refused"] += 1
            if problem is not None and ("; " not in problem or len(problem) > LONGEST):
                raise LabSeqError(
                    f"file {number} of seed {seed}: {problem[:LONGEST]!r} does not say what to do, or too much"
                )
            seconds = time.process_time() - began
            if seconds > SECONDS:
                raise LabSeqError(f"file {number} of seed {seed}, {name} as {format}, took {seconds:.1f} s")
    return counts


def _require_same(read: ReadUpload, path: Path) -> None:
    """What was read comes back from the compact form, to the bit."""
    save_parsed(path, read.parts, {})
    for part, loaded in zip(read.parts, load_parsed(path, {}), strict=True):
        assert part.tokens == loaded.tokens
        assert part.labels == loaded.labels
        assert repr(part.columns) == repr(loaded.columns)  # NaN too
