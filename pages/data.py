"""Data: choose a corpus or bring one, and look at it."""

import streamlit as st

from labseq_core.csv_text import table_csv
from labseq_core.data.catalogue import DatasetInfo, fetch_dataset
from pages.ui import cached as caching
from pages.ui.choices import corpus as corpus_choice
from pages.ui.choices import links
from pages.ui.choices.registry import Data
from pages.ui.data import cached as drawn
from pages.ui.data import charts as pictures_of
from pages.ui.data.upload_form import upload_form
from pages.ui.drawing import charts, tokens
from pages.ui.drawing.downloads import csv_button
from pages.ui.drawing.plain_text import shortened
from pages.ui.frame.errors import shown_errors
from pages.ui.frame.navigation import begin_page


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
    st.html(drawn.sentences(name, part, page))


def pictures(seen: caching.PartOverview, about: dict) -> None:
    counts, lengths = st.columns(2, gap="large")
    with counts:
        st.header("How often each label occurs")
        frequent = next(iter(seen.label_counts))
        charts.draw(
            pictures_of.label_bars(seen.label_counts), "labels", f"Label counts; most frequent is {shortened(frequent)}"
        )
        rows = [{"label": label, "tokens": count} for label, count in seen.label_counts.items()]
        csv_button("Label counts as CSV", rows, "label-counts", more=about)
    with lengths:
        st.header("How long the sequences are")
        alt = f"Sequence lengths, from {seen.shortest} to {seen.longest} tokens"
        charts.draw(pictures_of.length_histogram(seen.length_bins), "lengths", alt)

        def lengths(**about: str) -> str:
            given = enumerate(caching.lengths(**about), start=1)
            return table_csv([{**about, "sequence": number, "tokens": length} for number, length in given])

        with st.container(horizontal=True):
            csv_button("Counts of lengths as CSV", seen.length_bins, "length-counts", more=about)
            csv_button("All lengths as CSV", lengths, "lengths", more=about)


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
