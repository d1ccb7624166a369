"""The data page: every corpus, the visitor's own file, and what is wrong with a broken one."""

from __future__ import annotations

import pytest

from labseq_core import load_dataset
from labseq_core.data.catalogue import list_datasets
from tests.app.conftest import problems, text

GOOD = b"Ana B-PER\nsleeps O\n\nIn O\nLima B-LOC\n\nIt O\nrains O\n"
MARKUP = b"<script>alert(1)</script> B-PER\nsleeps O\n\nIn O\nLima B-LOC\n\nIt O\nrains O\n"


def shown_html(app) -> str:
    return "".join(element.proto.body for element in app.get("html"))


def upload(app, name: str, contents: bytes):
    """Into the form, which must be open (`bring`)."""
    app.file_uploader(key="file").set_value((name, contents, "text/plain")).run()
    button = next(button for button in app.button if button.label == "Read the file")
    return button.click().run()


@pytest.mark.parametrize("name", [info.name for info in list_datasets() if info.bundled])
def test_a_bundled_corpus_is_shown(open_page, name):
    app = open_page("data", dataset=name)
    assert problems(app) == []
    train = load_dataset(name).train
    assert [metric.value for metric in app.metric] == [
        f"{len(train):,}", f"{train.n_tokens:,}", str(len(set(train.flat_labels))),
    ]  # fmt: skip
    assert all(f">{word}</span>" in shown_html(app) for word in train.tokens[0] if word.isalnum())
    assert len(app.get("plotly_chart")) == 2


def test_part_and_page_are_chosen(open_page):
    app = open_page("data", dataset="toy-pos")
    app.segmented_control(key="part").set_value("test").run()
    app.number_input(key="page").set_value(3).run()
    assert problems(app) == []
    test = load_dataset("toy-pos").test
    assert app.metric[0].value == f"{len(test):,}"
    assert '<span class="ls-number">21</span>' in shown_html(app)
    assert all(f">{word}</span>" in shown_html(app) for word in test.tokens[20] if word.isalnum())


def test_another_corpus_is_chosen_and_stays_in_the_url(open_page):
    app = open_page("data")
    app.selectbox(key="dataset").set_value("parity").run()
    assert problems(app) == []
    assert app.query_params["dataset"] in ("parity", ["parity"])


def test_an_unknown_corpus_in_the_url_is_told_and_the_page_goes_on(open_page):
    app = open_page("data", dataset="toy-poss")
    (message,) = problems(app)
    assert "unknown dataset 'toy-poss'; did you mean toy-pos?" in message
    assert app.metric


def test_a_corpus_that_is_not_here_is_offered_for_download(open_page, monkeypatch, tmp_path):
    monkeypatch.setenv("LABSEQ_DATA_MIRROR", str(tmp_path))
    monkeypatch.setenv("LABSEQ_CACHE_DIR", str(tmp_path))
    app = open_page("data", dataset="cb513")
    assert problems(app) == []
    assert [button.label for button in app.button if button.label.startswith("Download")] == ["Download 1.6 MB"]


def test_an_upload_becomes_the_corpus(open_page):
    app = upload(open_page("data", bring="true"), "mine.conll", GOOD)
    assert problems(app) == []
    assert "mine.conll" in app.selectbox(key="dataset").options[-1]
    assert app.metric[0].value == "1", "of three sequences one each is for train, dev and test"


def test_an_upload_is_split_as_asked_for(open_page):
    app = open_page("data", bring="true")
    app.slider(key="split").set_value((50, 75)).run()
    app.toggle(key="split.shuffled").set_value(False).run()
    assert app.number_input(key="split.seed").disabled
    assert "50 % train, 25 % dev, 25 % test." in text(app)
    upload(app, "order.conll", b"".join(f"w{number} O\n\n".encode() for number in range(8)))
    assert problems(app) == []
    assert "split 50/25/25 in the order of the file" in text(app)
    assert app.metric[0].value == "4"
    app.slider(key="split").set_value((80, 80)).run()
    upload(app, "order.conll", b"a O\n\nb O\n\nc O\n")
    assert "sum to 100" in app.error[0].value, "nothing is left for the development part"


def test_tokens_of_an_upload_are_never_markup(open_page):
    app = upload(open_page("data", bring="true"), "markup.conll", MARKUP)
    for part in ("train", "dev", "test"):
        app.segmented_control(key="part").set_value(part).run()
        assert "<script" not in shown_html(app)


@pytest.mark.parametrize(
    ("name", "contents", "expected"),
    [
        ("ragged.conll", b"Ana x B-PER\nsleeps y O\nwell O\n", "ragged.conll, line 3"),
        ("empty.conll", b"\n\n", "the file is empty"),
        ("latin.conll", "año O\n".encode("latin-1"), "encoding latin-1"),
        ("binary.conll", b"a\0b O\n", "NUL byte"),
        ("few.conll", b"a O\n\nb O\n", "too few to split"),
        ("nolabel.csv", b"token,tag\na,b\n", "nolabel.csv"),
        ("broken.jsonl", b'{"tokens": ["a"], "labels": ["O"]}\n{"tokens": \n', "broken.jsonl, line 2"),
    ],
)
def test_a_broken_upload_is_one_message_with_file_and_fix(open_page, name, contents, expected):
    app = upload(open_page("data", bring="true"), name, contents)
    (message,) = [error.value for error in app.error]
    assert not app.exception
    assert expected in message
    assert "Traceback" not in message
    assert "/" not in message, "no path"
    assert app.metric, "the page went on with the corpus from before"


def test_reader_options_are_used(open_page):
    app = open_page("data", bring="true")
    app.selectbox(key="read.format").set_value("table").run()
    app.text_input(key="read.table.label").set_value("tag").run()
    upload(app, "tags.csv", b"token,tag\n" + 4 * b"old,ADJ\ntree,NOUN\n\n")
    assert problems(app) == []
    assert "<small>ADJ</small>" in shown_html(app)
