"""The public corpora that LabSeq can fetch: where they lie, what must be said about them, who parses them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from labseq_core.data.corpus import Corpus, Parts
from labseq_core.data.downloads import RemoteFile, read_verified
from labseq_core.data.formats import published_corpora
from labseq_core.data.formats.published_corpora import Files


def public_corpus(
    *, files: tuple[RemoteFile, ...], parse: Callable[[Files], Parts], answer_columns: tuple[str, ...] = (), **said: Any
) -> Corpus:
    """A corpus that is downloaded on demand. `parse` gets the verified contents of the files by path."""

    def load() -> Parts:
        return parse({file.path: read_verified(file) for file in files})

    def fingerprint() -> str:
        checksums = [(file.path, file.sha256 or file.address) for file in files]
        return json.dumps([checksums, parse.__name__, answer_columns])

    return Corpus(load=load, files=files, fingerprint=fingerprint, answer_columns=answer_columns, **said)


# Every address names a commit, so that the bytes behind it cannot change.
_GITHUB = "https://raw.githubusercontent.com/"
_NLTK = _GITHUB + "nltk/nltk_data/5db857e6f7df11eabb5e5665836db9ec8df07e28/packages/corpora/"
_PROSODY = _GITHUB + "Helsinki-NLP/prosody/75a56c5790ca487e2bb52380bd98722ff0c147b7/data/"
_EWT = _GITHUB + "UniversalDependencies/UD_English-EWT/15d613d8447b3478787d4c278730a1e48a945efb/"
_WNUT = _GITHUB + "leondz/emerging_entities_17/e52a2d2a71ac1a051ca2d532eef28653c5c02603/"
_CB513 = _GITHUB + "shahid-43/protein_secondary_structure_prediction/f86c6fa0657d7692f63cedc43cc781ae55c45d7e/data/"
_OCR = "https://ai.stanford.edu/~btaskar/ocr/"


def _files(folder: str, base: str, checksums: dict[str, str]) -> tuple[RemoteFile, ...]:
    return tuple(RemoteFile(folder + name, base + name, sha256) for name, sha256 in checksums.items())


PUBLIC_CORPORA = (
    public_corpus(
        name="conll2002-es",
        title="CoNLL-2002 Spanish named entities",
        task="segment",
        licence="free for research (EFE news agency)",
        citation="Tjong Kim Sang 2002, Introduction to the CoNLL-2002 shared task",
        size="1.9 MB",
        description="Spanish news with persons, places, organisations and other names; column pos: part of speech. "
        "Train is esp.train, dev is esp.testb and test is esp.testa: the thesis tests on testa and tunes "
        "on testb.",
        files=_files("", _NLTK, {"conll2002.zip": "64440e49236d0d393e08e0b266284966d68e2d2a82a50cc41b8e96d98c03b5c8"}),
        parse=published_corpora.parse_conll2002_es,
        n_labels=9,
    ),
    public_corpus(
        name="conll2000",
        title="CoNLL-2000 chunking",
        task="segment",
        licence="Wall Street Journal text, research use",
        citation="Tjong Kim Sang and Buchholz 2000, Introduction to the CoNLL-2000 shared task: chunking",
        size="0.8 MB",
        description="English business news cut into noun, verb and other phrases; column pos: part of speech. Dev is "
        "the last tenth of the published training part.",
        files=_files("", _NLTK, {"conll2000.zip": "01e65164f268366e7caa0db92332a1955d081908c87016e2c7640c3c5279b7cd"}),
        parse=published_corpora.parse_conll2000,
        n_labels=23,
    ),
    public_corpus(
        name="treebank-sample",
        title="Penn Treebank sample, parts of speech",
        task="token",
        licence="sample for non-commercial use",
        citation="Marcus, Santorini and Marcinkiewicz 1993, Building a large annotated corpus of English",
        size="1.7 MB",
        description="One twentieth of the Wall Street Journal part with Penn tags. Articles in order: the first 80 % "
        "are train, then 10 % dev and 10 % test.",
        files=_files("", _NLTK, {"treebank.zip": "9da92d76c3666cfb6cddeaed0f7e86b344cce0f0928a286d439e555f19c37399"}),
        parse=published_corpora.parse_treebank,
        n_labels=45,
    ),
    public_corpus(
        name="prosody",
        title="Helsinki prosody, prominent words",
        task="token",
        licence="CC BY 4.0",
        citation="Talman et al. 2019, Predicting prosodic prominence from text with pre-trained contextualized word "
        "representations",
        size="4.8 MB",
        description="Read English books; the label says whether a word is prominent (A) or not (N), punctuation is "
        "left out. The published dev part is cut into train (first 80 %) and dev, the published test part "
        "is test. The column prominence (0, 1, 2) is the finer label, not an observation.",
        files=_files(
            "prosody/",
            _PROSODY,
            {
                "dev.txt": "ce5c73f9bccd59bed0c2a1054854357f157c74cc95723472bb09f7f0a6f15567",
                "test.txt": "70f5f21e79a40f2d7163089f2682e0d3c464b50514467a9e389c3f6d139d1f93",
            },
        ),
        parse=published_corpora.parse_prosody,
        n_labels=2,
        answer_columns=("prominence",),
    ),
    public_corpus(
        name="ud-english-ewt",
        title="Universal Dependencies English web treebank, parts of speech",
        task="token",
        licence="CC BY-SA 4.0",
        citation="Silveira et al. 2014, A gold standard dependency corpus for English",
        size="18 MB",
        description="Blogs, mails, reviews and answers with the 17 universal parts of speech. Lemmas and Penn tags "
        "would give the answer away and are not offered.",
        files=_files(
            "ud_english_ewt/",
            _EWT,
            {
                "en_ewt-ud-train.conllu": "3fb78e2b55482c8ee00caa653af436c88c9e5bc9a73ce26e4ae3ddc79d2b7e7b",
                "en_ewt-ud-dev.conllu": "531a54ff90d6ab12201c5a50c3e78e6ddac4de69abc4bce5d275d3cd29efe2b6",
                "en_ewt-ud-test.conllu": "e266e515a0a7547657ed3d90d9ba46487d6bd251f27ad4269d4e8a427c8555cd",
            },
        ),
        parse=published_corpora.parse_ud_english_ewt,
        n_labels=17,
    ),
    public_corpus(
        name="wnut17",
        title="WNUT 2017 emerging entities",
        task="segment",
        licence="CC BY 4.0",
        citation="Derczynski et al. 2017, Results of the WNUT2017 shared task on novel and emerging entity recognition",
        size="0.8 MB",
        description="Noisy English from the social web with rare and new names of six kinds.",
        files=_files(
            "wnut17/",
            _WNUT,
            {
                "wnut17train.conll": "731820e13f71af324c6b55a1575ec2ce59fbaa2a0806f8f0400b98d56cd6a7a5",
                "emerging.dev.conll": "e053b752b8155113ca66e7db08af5f2f5f43ab993694e4774f1ec5bad42312d8",
                "emerging.test.annotated": "2aa79b764e56ec9264a1b30fdd9b70195bd00ff400b62edd8f399d5f13c178f0",
            },
        ),
        parse=published_corpora.parse_wnut17,
        n_labels=13,
    ),
    public_corpus(
        name="ocr-letters",
        title="Handwritten words, letter by letter",
        task="token",
        licence="freely obtainable, no licence text",
        citation="Kassel 1995; Taskar, Guestrin and Koller 2004, Max-margin Markov networks",
        size="1.1 MB",
        description="Words in handwriting, one image of 16 x 8 pixels per letter (columns p0 to p127; the token is "
        "always 'glyph'), 26 labels. Of the ten published folds (column fold) 0 is test, 1 is dev, the "
        "others are train.",
        files=(RemoteFile("ocr_letters/letter.data.gz", _OCR + "letter.data.gz", check=published_corpora.ocr_fault),),
        parse=published_corpora.parse_ocr_letters,
        n_labels=26,
        answer_columns=("fold",),
    ),
    public_corpus(
        name="cb513",
        title="CB513 protein secondary structure",
        task="token",
        licence="labels derived from the PDB (CC0); file without licence text",
        citation="Cuff and Barton 1999, Evaluation and improvement of multiple sequence methods for protein secondary "
        "structure prediction",
        size="1.6 MB",
        description="Protein chains, one residue letter per position, labelled helix (H), strand (E) or coil (C). In "
        "file order: 80 % train, 10 % dev, 10 % test. Some chains stand there two to four times in a row.",
        files=_files(
            "cb513/", _CB513, {"CB513.csv": "35e442debd6faea0aa156551cd65dc9ce1f96b59023eef08bce8522e20f8bb0d"}
        ),
        parse=published_corpora.parse_cb513,
        n_labels=3,
    ),
)
