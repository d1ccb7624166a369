"""Parsers of the public corpora, on a few invented lines in their formats."""

from __future__ import annotations

import gzip
import io
import zipfile

import numpy as np

from labseq_core.data.formats import published_corpora as formats


def zipped(members: dict[str, str]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return data.getvalue()


def test_conll2002_tests_on_testa():
    members = {f"conll2002/esp.{part}": f"{part} NN B-PER\n" for part in ("train", "testa", "testb")}
    train, dev, test = formats.parse_conll2002_es({"conll2002.zip": zipped(members)})
    assert [part.flat_tokens for part in (train, dev, test)] == [["train"], ["testb"], ["testa"]]
    assert train.flat_columns == {"pos": ["NN"]}


def test_conll2000_takes_dev_from_the_end_of_train():
    text = "".join(f"w{number} NN B-NP\n\n" for number in range(20))
    archive = zipped({"conll2000/train.txt": text, "conll2000/test.txt": "z NN O\n"})
    train, dev, test = formats.parse_conll2000({"conll2000.zip": archive})
    assert train.flat_tokens == [f"w{number}" for number in range(18)]
    assert dev.flat_tokens == ["w18", "w19"]
    assert test.flat_tokens == ["z"]


def test_treebank_words_and_sentences():
    text = (
        "\n\n[ Dogs/NNS ]\n\n[ that/WDT ]\nbark/VBP half|part/NN 1\\/2/CD running/VBG|NN\n./. ''/'' \n\n"
        "[ Cats/NNS ]\nsleep/VBP (/(\n =====================\n[ No/DT end/NN ]\n"
    )
    sentences = list(formats.treebank_sentences(text))
    assert [[word for word, _ in sentence] for sentence in sentences] == [
        ["Dogs", "that", "bark", "half|part", "1/2", "running", ".", "''"],
        ["Cats", "sleep", "("],
        ["No", "end"],
    ]
    assert [tag for _, tag in sentences[0]] == ["NNS", "WDT", "VBP", "NN", "CD", "VBG", ".", "''"]


def test_treebank_is_cut_by_articles_in_order():
    members = {f"treebank/tagged/wsj_{number:04d}.pos": f"w{number}/NN\n" for number in range(10)}
    members |= {"treebank/tagged/README": "no/NN", "treebank/combined/wsj_0001.mrg": "no/NN"}
    train, dev, test = formats.parse_treebank({"treebank.zip": zipped(members)})
    assert train.flat_tokens == [f"w{number}" for number in range(8)]
    assert (dev.flat_tokens, test.flat_tokens) == (["w8"], ["w9"])


def test_prosody_keeps_words_and_hides_the_acoustics():
    sentence = "<file>\tf{0}.txt\nso{0}\t0\t0\t0.1\t0.2\n,\tNA\tNA\tNA\tNA\nvery\t1\t2\t1.1\t2.0\nred\t2\t0\t2.5\t0.5\n"
    only_marks = "<file>\tx.txt\n.\tNA\tNA\tNA\tNA\n"
    text = (only_marks + "".join(sentence.format(number) for number in range(5))).encode()
    train, dev, test = formats.parse_prosody({"prosody/dev.txt": text, "prosody/test.txt": text})
    assert [len(part) for part in (train, dev, test)] == [4, 1, 5]
    assert dev.tokens == [["so4", "very", "red"]]
    assert dev.labels == [["N", "A", "A"]]
    assert dev.columns == {"prominence": [["0", "1", "2"]]}


def test_wnut_lines_of_a_lone_tab_end_sentences():
    names = ("wnut17train.conll", "emerging.dev.conll", "emerging.test.annotated")
    parts = formats.parse_wnut17({f"wnut17/{name}": b"#a\tO\nb\tB-person\n\t\nc\tO\n" for name in names})
    assert parts[0].tokens == [["#a", "b"], ["c"]]


def test_ewt_offers_no_columns():
    line = b"1\tgo\tgo\tVERB\tVB\t_\t0\troot\t_\t_\n"
    files = {f"ud_english_ewt/en_ewt-ud-{part}.conllu": line for part in ("train", "dev", "test")}
    train, _, _ = formats.parse_ud_english_ewt(files)
    assert (train.flat_labels, train.flat_columns) == (["VERB"], {})


def ocr_line(number: int, letter: str, last: bool, fold: int, pixels: np.ndarray) -> str:
    fields = [number, letter, -1 if last else number + 1, 1, 1, fold, *pixels]
    return "\t".join(map(str, fields)) + "\t\n"


def test_ocr_letters_words_folds_and_pixels():
    pixels = np.random.default_rng(0).integers(0, 2, (6, 128))
    folds = (5, 5, 1, 1, 0, 0)
    text = "".join(ocr_line(i, "abcdef"[i], i % 2 == 1, folds[i], pixels[i]) for i in range(6))
    for data in (gzip.compress(text.encode()), text.encode()):
        train, dev, test = formats.parse_ocr_letters({"ocr_letters/letter.data.gz": data})
        assert [part.labels for part in (train, dev, test)] == [[["a", "b"]], [["c", "d"]], [["e", "f"]]]
        assert train.flat_tokens == ["glyph", "glyph"]
        for place in (0, 1, 64, 127):
            assert dev.flat_columns[f"p{place}"].dtype == np.float64
            np.testing.assert_array_equal(dev.flat_columns[f"p{place}"], pixels[2:4, place])
        assert test.flat_columns["fold"].tolist() == [0.0, 0.0]


def test_ocr_shape_is_checked():
    pixels = np.zeros(128, dtype=int)
    good = [ocr_line(i, "a", i < formats.OCR_WORDS, 0, pixels) for i in range(formats.OCR_LETTERS)]
    assert formats.ocr_fault("".join(good).encode()) is None
    assert "expected 52152" in formats.ocr_fault("".join(good[:-1]).encode())
    grey = [*good[:-1], good[-1].replace("0\t\n", "7\t\n")]
    assert "other than 0 and 1" in formats.ocr_fault("".join(grey).encode())
    short = [*good[:-1], good[-1].replace("0\t\n", "\n")]
    assert "134 columns" in formats.ocr_fault("".join(short).encode())
    assert "unpacked" in formats.ocr_fault(gzip.compress(good[0].encode())[:-9])


def test_cb513_is_cut_in_file_order():
    header = "input,dssp3,dssp8,disorder,cb513_mask\n"
    rows = "".join(f"{'ACD'[number % 3]}X,HC,HT,1.0 1.0,1.0 1.0\n" for number in range(10))
    train, dev, test = formats.parse_cb513({"cb513/CB513.csv": (header + rows).encode()})
    assert [len(part) for part in (train, dev, test)] == [8, 1, 1]
    assert test.tokens == [["A", "X"]]
    assert test.labels == [["H", "C"]]
