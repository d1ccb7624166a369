from __future__ import annotations

import hashlib
import threading
from pathlib import Path

import pytest

from labseq_core.checks import LabSeqError
from labseq_core.data.corpus import Corpus
from labseq_core.data.downloads import RemoteFile, read_verified
from labseq_core.data.formats.registry import read_conll
from labseq_core.data.public_corpora import public_corpus

from .web import closed_address, serve

GOOD = b"a O\n\nb B\n" * 2000
TAMPERED = GOOD.replace(b"B", b"X", 1)
PATH = "tiny/tiny.conll"


def tiny_corpus(address: str, checksum: str | None = None) -> Corpus:
    file = RemoteFile(PATH, f"{address}/public.conll", checksum or hashlib.sha256(GOOD).hexdigest())

    def parse(files):
        return (read_conll(files[PATH], name="tiny.conll"),) * 3

    said = {
        "title": "Tiny",
        "task": "token",
        "licence": "none",
        "citation": "none",
        "size": "18 KB",
        "description": "-",
    }
    return public_corpus(name="tiny", files=(file,), parse=parse, **said)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch) -> Path:
    """An empty cache, no mirror, and no proxy between the test and loopback."""
    monkeypatch.setenv("LABSEQ_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("LABSEQ_DATA_MIRROR", raising=False)
    for variable in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(variable, "127.0.0.1")
    return tmp_path / "cache" / "corpora"


@pytest.fixture
def web():
    with serve() as web:
        yield web


def kept(cache: Path) -> list[str]:
    return sorted(path.relative_to(cache).as_posix() for path in cache.rglob("*") if path.is_file())


def failure(corpus: Corpus, tmp_path: Path) -> str:
    with pytest.raises(LabSeqError) as caught:
        corpus.dataset()
    message = str(caught.value)
    assert str(tmp_path) not in message
    assert "\n" not in message
    return message


def test_download_is_verified_kept_and_used_without_the_net(tmp_path, cache):
    with serve() as web:
        web.files["public.conll"] = GOOD
        corpus = tiny_corpus(web.address)
        assert not corpus.available
        assert corpus.dataset().train.n_tokens == 4000
        assert web.asked == ["public.conll"]
    assert kept(cache) == [PATH]
    assert corpus.available
    assert corpus.dataset().test.n_tokens == 4000


def test_progress_rises_to_one(tmp_path, web):
    web.files["public.conll"] = GOOD * 50
    corpus = tiny_corpus(web.address, hashlib.sha256(GOOD * 50).hexdigest())
    seen: list[tuple[float, str]] = []
    corpus.fetch(lambda *step: seen.append(step))
    fractions = [fraction for fraction, _ in seen]
    assert len(set(fractions)) > 5
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    assert any("tiny.conll" in message for _, message in seen)


@pytest.mark.parametrize(
    ("body", "promised"),
    [(TAMPERED, None), (GOOD[:-1], None), (GOOD[:5000], len(GOOD)), (b"", None)],
    ids=["tampered", "cut by one byte", "broken off", "empty"],
)
def test_bad_download_is_refused_and_not_kept(tmp_path, cache, web, body, promised):
    web.files["public.conll"] = body
    if promised:
        web.promised["public.conll"] = promised
    message = failure(tiny_corpus(web.address), tmp_path)
    assert PATH in message
    assert ("broke off" in message) if promised else ("sha256" in message)
    assert kept(cache) == []


def test_missing_on_the_server(tmp_path, cache, web):
    message = failure(tiny_corpus(web.address), tmp_path)
    assert f"{web.address}/public.conll: the server answers 404" in message
    assert kept(cache) == []


def test_offline_says_what_to_do(tmp_path, cache):
    address = closed_address()
    message = failure(tiny_corpus(address), tmp_path)
    for part in (PATH, address, "cannot be reached", "LABSEQ_DATA_MIRROR", "LABSEQ_CACHE_DIR", "corpora"):
        assert part in message
    assert kept(cache) == []


def test_file_put_into_the_cache_by_hand_is_used(tmp_path, cache):
    (cache / PATH).parent.mkdir(parents=True)
    (cache / PATH).write_bytes(GOOD)
    assert tiny_corpus(closed_address()).dataset().dev.n_tokens == 4000


def test_bad_file_in_the_cache_is_replaced(tmp_path, cache, web):
    web.files["public.conll"] = GOOD
    (cache / PATH).parent.mkdir(parents=True)
    (cache / PATH).write_bytes(TAMPERED)
    tiny_corpus(web.address).dataset()
    assert (cache / PATH).read_bytes() == GOOD


def test_bad_file_in_the_cache_is_never_used(tmp_path, cache):
    (cache / PATH).parent.mkdir(parents=True)
    (cache / PATH).write_bytes(GOOD[:100])
    failure(tiny_corpus(closed_address()), tmp_path)
    assert kept(cache) == []


def test_mirror_directory_is_read_in_place(tmp_path, cache, monkeypatch):
    mirror = tmp_path / "mirror"
    (mirror / PATH).parent.mkdir(parents=True)
    (mirror / PATH).write_bytes(GOOD)
    monkeypatch.setenv("LABSEQ_DATA_MIRROR", str(mirror))
    corpus = tiny_corpus(closed_address())
    assert corpus.available
    assert corpus.dataset().train.n_tokens == 4000
    assert kept(cache) == []


def test_bad_file_in_a_mirror_directory_is_refused(tmp_path, monkeypatch):
    mirror = tmp_path / "mirror"
    (mirror / PATH).parent.mkdir(parents=True)
    (mirror / PATH).write_bytes(TAMPERED)
    monkeypatch.setenv("LABSEQ_DATA_MIRROR", str(mirror))
    message = failure(tiny_corpus(closed_address()), tmp_path)
    assert f"{PATH} in the mirror (LABSEQ_DATA_MIRROR)" in message
    assert "sha256" in message
    assert (mirror / PATH).exists()


def test_mirror_directory_without_the_file_leads_to_the_public_address(tmp_path, monkeypatch, web):
    web.files["public.conll"] = GOOD
    monkeypatch.setenv("LABSEQ_DATA_MIRROR", str(tmp_path / "empty"))
    assert tiny_corpus(web.address).dataset().train.n_tokens == 4000


def test_mirror_address_comes_before_the_public_one(tmp_path, monkeypatch, web):
    web.files |= {f"mirror/{PATH}": GOOD, "public.conll": GOOD}
    monkeypatch.setenv("LABSEQ_DATA_MIRROR", f"{web.address}/mirror/")
    tiny_corpus(web.address).dataset()
    assert web.asked == [f"mirror/{PATH}"]


def test_mirror_address_without_the_file_leads_to_the_public_address(tmp_path, monkeypatch, web):
    web.files["public.conll"] = GOOD
    monkeypatch.setenv("LABSEQ_DATA_MIRROR", f"{web.address}/mirror")
    tiny_corpus(web.address).dataset()
    assert web.asked == [f"mirror/{PATH}", "public.conll"]


def test_tampered_mirror_is_reported_and_its_password_is_not(tmp_path, monkeypatch, cache, web):
    web.files |= {f"mirror/{PATH}": TAMPERED, "public.conll": GOOD}
    monkeypatch.setenv("LABSEQ_DATA_MIRROR", web.address.replace("//", "//user:secret@") + "/mirror")
    message = failure(tiny_corpus(web.address), tmp_path)
    assert "from mirror (LABSEQ_DATA_MIRROR)" in message
    assert "secret" not in message
    assert kept(cache) == []


def test_contents_are_checked_where_no_checksum_is_known(cache, web):
    web.files["data"] = b"short"
    file = RemoteFile("x/data", f"{web.address}/data", check=lambda data: None if len(data) > 9 else "it is too short")
    with pytest.raises(LabSeqError, match="it is too short"):
        read_verified(file)
    assert kept(cache) == []
    web.files["data"] = b"long enough"
    assert read_verified(file) == b"long enough"


def test_concurrent_fetches_do_not_disturb_each_other(tmp_path, cache, web):
    web.files["public.conll"] = GOOD * 50
    corpus = tiny_corpus(web.address, hashlib.sha256(GOOD * 50).hexdigest())
    results: list[bytes] = []
    start = threading.Barrier(6)

    def fetch() -> None:
        start.wait()
        results.append(read_verified(corpus.files[0]))

    threads = [threading.Thread(target=fetch) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [GOOD * 50] * 6
    assert kept(cache) == [PATH]


def test_unwritable_cache_is_named(tmp_path, monkeypatch, web):
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("LABSEQ_CACHE_DIR", str(tmp_path / "file" / "below"))
    message = failure(tiny_corpus(web.address), tmp_path)
    assert "LABSEQ_CACHE_DIR" in message
