"""A visitor's own file: chosen, read in a process of its own, and shown as the corpus."""

from __future__ import annotations

from typing import Any

import streamlit as st

from labseq_core.data.formats.registry import FORMATS
from labseq_core.data.guarded_uploads import store_upload_guarded
from labseq_core.data.limits import MAX_UPLOAD_MEGABYTES
from labseq_core.data.splitting import SEED, SHARES
from pages.ui.choices.registry import DATASET
from pages.ui.drawing.plain_text import in_markdown, shortened
from pages.ui.frame.errors import shown_errors
from pages.ui.train import forms

_AUTOMATIC = "by name and contents"
_CANCEL = "file.cancel"


def upload_form() -> None:
    """Choose a file, how it is read and split, and have it read."""
    extensions = sorted({extension[1:] for format in FORMATS.values() for extension in format.extensions} | {"gz"})
    file = st.file_uploader(
        f"A file with one label per token, up to {MAX_UPLOAD_MEGABYTES} MB", type=extensions, key="file",
        max_upload_size=MAX_UPLOAD_MEGABYTES, help="Packed by gzip or not; the limit is on what is inside.",
    )  # fmt: skip
    kind = st.selectbox(
        "Format", [_AUTOMATIC, *FORMATS], key="read.format",
        format_func=lambda name: f"{name}: {FORMATS[name].title}" if name in FORMATS else name,
    )  # fmt: skip
    options: dict[str, Any] = {}
    if kind in FORMATS:
        with st.container(horizontal=True):
            options = {option.name: forms.reader_widget(kind, option) for option in FORMATS[kind].options}
    split = _split_form()
    clicked = st.button("Read the file", type="primary", disabled=file is None)
    place = st.empty()
    if clicked and file is not None:
        chosen = kind if kind in FORMATS else None
        with shown_errors():
            with place.container(horizontal=True, vertical_alignment="center"):
                name = _read(file.getvalue(), file.name, format=chosen, **split, **options)
            DATASET.change(name)
            st.rerun()
        place.empty()
    elif st.session_state.get(_CANCEL):
        place.info("Cancelled: the file was not stored.", icon=":material/cancel:")


def _read(data: bytes, name: str, **settings: Any) -> str:
    """Have the file read by a process of its own. A click on anything interrupts the page at the next step of the bar."""
    bar = st.progress(0.0, text="Starting")
    st.button("Cancel", key=_CANCEL, icon=":material/cancel:")

    def tell(fraction: float, text: str) -> None:
        bar.progress(fraction, text=in_markdown(shortened(text)))

    return store_upload_guarded(data, name, tell, **settings)


def _split_form() -> dict[str, Any]:
    """How many of the sequences are for train, dev and test, and which."""
    sizes, shuffling = st.columns([2, 1], gap="large", vertical_alignment="bottom")
    with sizes:
        train, dev = st.slider(
            "Split", 1, 99, (SHARES[0], SHARES[0] + SHARES[1]), format="%d %%", key="split",
            help="Sequences up to the first mark are for training, from there to the second for development (choosing "
            "options), the rest for testing.",
        )  # fmt: skip
    with shuffling, st.container(horizontal=True, vertical_alignment="bottom"):
        shuffled = st.toggle(
            "Shuffled", value=True, key="split.shuffled", help="Off: train, dev and test in the order of the file."
        )
        seed = st.number_input(
            "Split seed", 0, 2**32 - 1, SEED, key="split.seed", disabled=not shuffled, help="Same seed, same split."
        )
    st.caption(f"{train} % train, {dev - train} % dev, {100 - dev} % test.")
    return {"shares": (train, dev - train, 100 - dev), "split_seed": seed if shuffled else None}
