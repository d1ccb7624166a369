"""Data: choose a corpus or bring one, and look at it."""

import streamlit as st

from labseq_core.data.catalogue import DatasetInfo, fetch_dataset, store_upload
from labseq_core.data.formats.registry import FORMATS
from labseq_core.data.limits import MAX_UPLOAD_MEGABYTES
from labseq_core.data.splitting import SEED, SHARES
from pages.ui import cached as caching
from pages.ui.choices import corpus as corpus_choice
from pages.ui.choices import links
from pages.ui.choices.registry import DATASET, Data
from pages.ui.drawing import charts, tokens
from pages.ui.drawing.downloads import csv_button
from pages.ui.drawing.plain_text import shortened
from pages.ui.frame.errors import shown_errors
from pages.ui.frame.navigation import begin_page
from pages.ui.train import forms

AUTOMATIC = "by name and contents"


def upload_form() -> None:
    extensions = sorted({extension[1:] for format in FORMATS.values() for extension in format.extensions} | {"gz"})
    file = st.file_uploader(
        f"A file with one label per token, up to {MAX_UPLOAD_MEGABYTES} MB", type=extensions, key="file",
        max_upload_size=MAX_UPLOAD_MEGABYTES, help="Packed by gzip or not; the limit is on what is inside.",
    )  # fmt: skip
    kind = st.selectbox(
        "Format", [AUTOMATIC, *FORMATS], key="read.format",
        format_func=lambda name: f"{name}: {FORMATS[name].title}" if name in FORMATS else name,
    )  # fmt: skip
    options = {}
    if kind in FORMATS:
        with st.container(horizontal=True):
            options = {option.name: forms.reader_widget(kind, option) for option in FORMATS[kind].options}
    split = split_form()
    if st.button("Read the file", type="primary", disabled=file is None) and file is not None:
        with shown_errors():
            chosen = kind if kind in FORMATS else None
            name = store_upload(file.getvalue(), file.name, format=chosen, **split, **options)
            DATASET.change(name)
            st.rerun()


def split_form() -> dict:
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


def offer_download(info: DatasetInfo) -> None:
    st.info(f"This corpus is not on this machine yet. Its licence: {info.licence}.", icon=":material/download:")
    if st.button(f"Download {info.size}", type="primary"):
        bar = st.progress(0.0, text="Looking for it")
        with shown_errors():
            fetch_dataset(info.name, lambda fraction, message: bar.progress(fraction, text=message))
            st.rerun()


def sentences(name: str, part: str, seen: caching.PartOverview) -> None:
    st.header("Sentences and their labels")
    st.html(tokens.legend(seen.label_counts, seen.all_labels))
    page = Data.page.leaf(seen.n_pages)
    words, labels = caching.sentences(name, part, page)
    st.html(tokens.sentences(words, labels, seen.all_labels, caching.first_number(page)))


def pictures(seen: caching.PartOverview, about: dict) -> None:
    counts, lengths = st.columns(2, gap="large")
    with counts:
        st.header("How often each label occurs")
        frequent = next(iter(seen.label_counts))
        charts.draw(
            charts.label_bars(seen.label_counts), "labels", f"Label counts; most frequent is {shortened(frequent)}"
        )
        rows = [{"label": label, "tokens": count} for label, count in seen.label_counts.items()]
        csv_button("Label counts as CSV", rows, "label-counts", more=about)
    with lengths:
        st.header("How long the sequences are")
        alt = f"Sequence lengths, from {min(seen.lengths)} to {max(seen.lengths)} tokens"
        charts.draw(charts.length_histogram(seen.lengths), "lengths", alt)
        rows = [{"sequence": number, "tokens": length} for number, length in enumerate(seen.lengths, 1)]
        csv_button("Lengths as CSV", rows, "lengths", more=about)


def look_inside(info: DatasetInfo) -> None:
    part = Data.part.buttons("Part", caching.PARTS)
    seen = caching.overview(info.name, part)
    numbers = {"Sequences": seen.n_sequences, "Tokens": seen.n_tokens, "Labels": len(seen.label_counts)}
    with st.container(horizontal=True, gap="large"):
        for name, number in numbers.items():
            st.metric(name, f"{number:,}", width="content")
    sentences(info.name, part, seen)
    about = {"dataset": info.name, "part": part}
    pictures(seen, about)
    if seen.columns:
        st.header("Columns beside token and label")
        st.dataframe(seen.columns, hide_index=True)
        csv_button("Columns as CSV", seen.columns, "columns", more=about)


begin_page("data")
st.title("Data")
corpus = corpus_choice.choose_corpus()
with Data.bring.choose("Use a file of your own", draw=st.expander, icon=":material/upload_file:") as own_file:
    if own_file.open:
        upload_form()
st.markdown(corpus.description)
st.caption(f"Licence: {corpus.licence or 'yours'}. Cite: {corpus.citation or 'your source'}.")
if not corpus.available:
    offer_download(corpus)
    st.stop()
with shown_errors():
    look_inside(corpus)
links.go("Train on this corpus", "train", "model_training", main=True, dataset=corpus.name)
