"""Which corpus: the same choice on every page, a visitor's own file included."""

from __future__ import annotations

from labseq_core.data.catalogue import DatasetInfo
from labseq_core.data.uploads import is_upload
from labseq_core.experiments.results.run_results import FIRST
from pages.ui import cached as caching
from pages.ui.choices.registry import DATASET
from pages.ui.drawing.plain_text import visible
from pages.ui.frame.errors import shown_errors


def choose_corpus() -> DatasetInfo:
    """A corpus of the catalogue, or the upload that the URL names; an unknown name in the URL is told and left."""
    infos = caching.corpora()
    wanted = DATASET.text
    if wanted and wanted not in infos:
        with shown_errors():
            infos[wanted] = caching.upload(wanted)
    return infos[DATASET.choose("Corpus", list(infos), FIRST, lambda name: _line(infos[name]))]


def _line(info: DatasetInfo) -> str:
    if is_upload(info.name):
        return f"{visible(info.title)} (your file)"
    state = "bundled" if info.bundled else "on this machine" if info.available else f"to download, {info.size}"
    return f"{info.name}: {info.title} ({state})"
