"""Pages from elsewhere, in a real browser, get nothing of the dashboard; its own downloads and uploads work."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page

from tests.app.test_hosts import ask, status
from tests.browser.conftest import new_profile
from tests.browser.server import FOREIGN_NAME
from tests.browser.test_hostile_file import open_uploader
from tests.data.web import serve

pytestmark = pytest.mark.browser

# What the scripts of a page get of the dashboard at an address.
ATTEMPTS = """async address => {
    const picture = new Image(), frame = document.createElement('iframe'), socket = new WebSocket(
        address.replace('http', 'ws') + '/_stcore/stream', ['streamlit']);
    const heard = new Promise(done => { socket.onopen = () => done('open'); socket.onerror = () => done('refused'); });
    const seen = new Promise(done => { picture.onload = () => done('shown'); picture.onerror = () => done('refused'); });
    const framed = new Promise(done => { frame.onload = () => done(); });
    picture.src = address + '/favicon.png';
    frame.src = address + '/_stcore/health';
    document.body.append(frame);
    const read = fetch(address + '/_stcore/health').then(answer => answer.text(), () => 'refused');
    await framed;
    return [await heard, await seen, await read];
}"""


@dataclass
class Stranger:
    """A tab in which nobody was here before, and every address that it has asked."""

    page: Page
    asked: set[str] = field(default_factory=set)


@pytest.fixture
def stranger(browser: Browser) -> Iterator[Stranger]:
    context = new_profile(browser)
    made = Stranger(context.new_page())
    context.on("request", lambda request: made.asked.add(urlsplit(request.url).netloc))
    made.page.on("websocket", lambda socket: made.asked.add(urlsplit(socket.url).netloc))
    yield made
    context.close()


def test_a_page_that_leads_its_own_name_here_sees_nothing(stranger, server):
    foreign = f"{FOREIGN_NAME}:{server.port}"
    answer = stranger.page.goto(f"http://{foreign}/history")
    assert answer.status == 403
    assert stranger.page.locator("body").inner_text() == (
        f"LabSeq does not know the host name {FOREIGN_NAME}. Open the dashboard by localhost or by an IP address; "
        f"or, if {FOREIGN_NAME} is a name of this server, start it with: labseq app --host-name {FOREIGN_NAME}"
    )
    heard, seen, read = stranger.page.evaluate(ATTEMPTS, f"http://{foreign}")
    assert (heard, seen) == ("refused", "refused")
    assert read == answer.text()
    assert stranger.asked == {foreign}


def test_a_page_of_another_site_gets_nothing(stranger, server):
    with serve() as web:
        web.files["page"] = b"<body>"
        elsewhere = f"{FOREIGN_NAME}:{urlsplit(web.address).port}"
        stranger.page.goto(f"http://{elsewhere}/page")
        assert stranger.page.evaluate(ATTEMPTS, server.address) == ["refused"] * 3
        assert stranger.page.frames[1].url.startswith("chrome-error:")
        assert stranger.asked == {elsewhere, urlsplit(server.address).netloc}


def test_its_own_pages_get_all_and_a_download_is_no_page(visit, server):
    watched = visit("/history")
    page = watched.page
    assert page.evaluate(ATTEMPTS, server.address) == ["open", "shown", "ok"]
    assert page.frames[1].url.startswith(server.address)
    watched.expect_clean()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="List as CSV").click()
    path = urlsplit(waiting.value.url).path
    own = f"Host: 127.0.0.1:{server.port}"
    answer = ask(server.port, path, own).lower()
    assert status(answer) == 200
    assert path.startswith("/media/")
    assert "content-disposition: attachment;" in answer
    assert "x-content-type-options: nosniff" in answer
    assert status(ask(server.port, path, f"Host: {FOREIGN_NAME}")) == 403
    assert status(ask(server.port, path, own, f"Origin: http://{FOREIGN_NAME}")) == 403


def test_an_upload_comes_from_our_page_only_and_is_never_shown_as_one(new_tab, server):
    page = new_tab().page
    open_uploader(page, server.address)
    contents = b"<script>window.pwned = 1</script>"
    with page.expect_response(lambda answer: answer.request.method == "PUT") as waiting:
        page.locator("input[type=file]").set_input_files(
            [{"name": "x.conll", "mimeType": "text/html", "buffer": contents}]
        )
    assert waiting.value.status == 204
    request = waiting.value.request
    path, sent = urlsplit(request.url).path, request.all_headers()
    token = [f"{name}: {sent[name]}" for name in ("cookie", "x-xsrftoken")]
    own = f"Host: 127.0.0.1:{server.port}"

    def put(*headers: str) -> int:
        return status(ask(server.port, path, *headers, "Content-Length: 0", method="PUT"))

    assert put(own, f"Origin: {server.address}", *token) == 400, "no file in it"
    assert put(own, f"Origin: http://{FOREIGN_NAME}", *token) == 403
    assert put(f"Host: {FOREIGN_NAME}", *token) == 403
    assert put(own, f"Origin: {server.address}") == 403, "without the token of a page"
    assert contents.decode() not in ask(server.port, path, own)
