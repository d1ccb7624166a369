"""The test set of another corpus, which must have the same labels."""

from __future__ import annotations

import streamlit as st

from labseq_core.checks import LabSeqError
from labseq_core.data.catalogue import DatasetInfo, dataset_info
from pages.ui import cached as caching
from pages.ui.choices.registry import Train
from pages.ui.frame.errors import shown_errors

_OWN = ""


def choose(info: DatasetInfo) -> str:
    """Its name; empty for the corpus that is trained on."""
    offered = [_OWN, *(name for name in caching.corpora() if name != info.name and _fits(info, name))]
    wanted = Train.test_dataset.text
    if wanted and wanted not in offered:
        with shown_errors():
            if not _fits(info, wanted):
                raise LabSeqError(
                    f"{wanted} does not have the labels of {info.name}, so it cannot test what is trained there"
                )
            offered.append(wanted)
    if len(offered) == 1:
        Train.test_dataset.forget()
        st.caption("No other corpus on this machine has these labels, so none can be chosen for testing.")
        return _OWN
    return Train.test_dataset.choose(
        "Test on another corpus", offered, describe=lambda name: name or "no: its own test set",
        help="Train here, test there: corpora on this machine with the same labels.",
    )  # fmt: skip


def _fits(info: DatasetInfo, name: str) -> bool:
    """Corpora are read, once, only where the number of labels that they declare does not say no already."""
    other = dataset_info(name)
    if not (info.available and other.available):
        return False
    labels = caching.labels_of(info.name)
    return other.n_labels in (None, len(labels)) and labels == caching.labels_of(name)
