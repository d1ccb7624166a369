"""What a server that really runs refuses: requests from elsewhere, and too much of one visitor."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from labseq_core.checks import LabSeqError
from labseq_core.serving.gate import MOST_TOLD, Gate
from labseq_core.serving.hosts import HOST_NAMES_VARIABLE, OwnHosts, url
from labseq_core.serving.streamlit_inside import part_files
from tests.browser.server import Dashboard
from tests.data.web import Web, serve

GIVEN = "class.example"
FOREIGN = ("evil.test", "127.0.0.1.evil.test", "localhost.evil.test", "laptop.local", "127.1", "evil.test@localhost")
STREAM = "/_stcore/stream"
ROUTES = (
    "/", "/history", f"/static/js/{part_files()[0]}", "/media/x.csv", "/component/x/y", "/_stcore/upload_file/session/file",
    "/_stcore/bidi-components/x/y", "/_stcore/health", "/_stcore/host-config", "/_stcore/metrics", "/_stcore/agent/interact",
)  # fmt: skip
UPGRADE = (
    "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
)  # fmt: skip
SECONDS = 10


def ask(port: int, path: str, *headers: str, method: str = "GET", version: str = "1.1") -> str:
    """The answer as it comes: status, headers and body."""
    lines = [f"{method} {path} HTTP/{version}", *(UPGRADE if path == STREAM else ("Connection: close",)), *headers]
    with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as connection:
        connection.sendall("\r\n".join([*lines, "", ""]).encode())
        answer = b""
        while received := connection.recv(1 << 16):
            answer += received
            if answer.startswith(b"HTTP/1.1 101"):
                break
    return answer.decode()


def status(answer: str) -> int:
    return int(answer.split(" ", 2)[1])


@dataclass
class Served:
    server: Dashboard
    internet: Web  # what the server would ask out there, it asks here

    def ask(self, path: str, *headers: str, **how: str) -> str:
        return ask(self.server.port, path, *headers, **how)

    def statuses(self, *headers: str) -> tuple[int, int]:
        """Of a request by HTTP and of one for a WebSocket."""
        return status(self.ask("/_stcore/health", *headers)), status(self.ask(STREAM, *headers))


@pytest.fixture(scope="module")
def served(tmp_path_factory) -> Iterator[Served]:
    with serve() as internet:
        proxies = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), internet.address)
        server = Dashboard(tmp_path_factory.mktemp("hosts"), {HOST_NAMES_VARIABLE: f"{GIVEN}, 192.0.2.7", **proxies})
        try:
            server.start()
            yield Served(server, internet)
        finally:
            server.stop()


def test_own_hosts_are_answered(served):
    port = served.server.port
    hosts = (
        "127.0.0.1", f"127.0.0.1:{port}", f"localhost:{port}", "LOCALHOST", "localhost.", f"LocalHost.:{port}", "[::1]",
        f"[::1]:{port}", "192.168.1.20:8501", "[fe80::1]", GIVEN, f"{GIVEN}:443", f"{GIVEN.upper()}.",
    )  # fmt: skip
    for host in hosts:
        assert served.statuses(f"Host: {host}") == (200, 101), host
        assert served.statuses(f"Host: {host}", f"Origin: http://{host}") == (200, 101), host


def test_behind_a_proxy_that_changes_host_the_names_given_are_origins(served):
    host = f"Host: 127.0.0.1:{served.server.port}"
    for origin in (f"https://{GIVEN}", f"https://{GIVEN}:8443", "http://192.0.2.7"):
        assert served.statuses(host, f"Origin: {origin}") == (200, 101), origin
    assert served.internet.asked == [], "Streamlit has asked for the address of this machine"


def test_foreign_hosts_are_refused_whatever_is_said_beside(served):
    for name in FOREIGN:
        for host in (name, f"{name}:{served.server.port}", f"{name.upper()}."):
            for origin in ((), (f"Origin: http://{host}",), ("Origin: http://localhost",)):
                assert served.statuses(f"Host: {host}", *origin) == (403, 403), host
    trusted = (
        "X-Forwarded-Host: localhost",
        "X-Original-Host: localhost",
        "X-Host: localhost",
        "Forwarded: host=localhost",
    )
    assert served.statuses("Host: evil.test", *trusted) == (403, 403)


def test_foreign_origins_are_refused(served):
    port = served.server.port
    own = f"127.0.0.1:{port}"
    origins = (
        "http://evil.test", "https://evil.test", "null", "", own, f"file://{own}", f"http://{own}.evil.test", f"http://evil@{own}",
        "http://127.0.0.1", "http://127.0.0.1:9999", f"http://localhost:{port}", f"http://[::1]:{port}",
    )  # fmt: skip
    for origin in origins:
        assert served.statuses(f"Host: {own}", f"Origin: {origin}") == (403, 403), origin
    assert served.statuses(f"Host: {own}", f"Origin: http://{own}", "Origin: http://evil.test") == (403, 400)


def test_a_request_without_one_valid_host_is_refused(served):
    assert served.statuses() == (400, 400)
    assert status(served.ask("/_stcore/health", version="1.0")) == 403
    assert served.statuses("Host: localhost", "Host: evil.test")[0] in (400, 403)
    for host in ("", ":8501", "[::1", "[localhost]", "::1", "a b", "localhost:port", "localhost/x", "localhost#"):
        assert {*served.statuses(f"Host: {host}")} <= {400, 403}, host


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "OPTIONS"])
def test_every_route_refuses(served, method):
    own = f"Host: 127.0.0.1:{served.server.port}"
    for path in ROUTES:
        for headers in (("Host: evil.test",), (own, "Origin: http://evil.test")):
            answer = served.ask(path, *headers, "Content-Length: 0", method=method)
            assert status(answer) == 403, path
            assert "Access-Control" not in answer, path
            assert answer.endswith("start it with: labseq app --host-name evil.test"), path
        assert "evil.test" not in served.ask(path, own, "Content-Length: 0", method=method), path


def test_answers_tell_browsers_what_not_to_do(served):
    for path in ROUTES:
        for host in ("localhost", "evil.test"):
            answer = served.ask(path, f"Host: {host}").lower()
            assert "x-content-type-options: nosniff\r\n" in answer, path
            assert "cross-origin-resource-policy: same-origin\r\n" in answer, path
            assert "frame-ancestors 'self'" in answer, path
    assert '"allowedOrigins":[]' in served.ask("/_stcore/host-config", "Host: localhost"), (
        "pages that steer it from around"
    )


def test_a_refusal_is_logged_once_and_nobody_is_asked(served):
    for number in range(3):
        assert served.statuses("Host: logged.test", "Origin: http://logged.test") == (403, 403)
        assert served.statuses("Host: localhost", "Origin: http://origin.test", f"X-Number: {number}") == (403, 403)
    for number in range(MOST_TOLD):
        assert served.statuses(f"Host: many-{number}.test") == (403, 403)
    lines = (served.server.place / "log.txt").read_text().splitlines()
    told = [line for line in lines if "--host-name" in line and ".test" in line]
    assert len(told) == len(set(told)) <= MOST_TOLD
    assert sum("does not know the host name logged.test." in line for line in told) == 1
    assert sum("another site, origin.test." in line for line in told) == 1
    assert served.internet.asked == []


def test_a_message_that_no_page_sends_ends_the_connection(served):
    """Each visitor's choices are remembered: they could fill the memory."""
    opened = "\r\n".join([f"GET {STREAM} HTTP/1.1", "Host: localhost", *UPGRADE, "", ""]).encode()
    frame, too_big = b"\x82\xff", (1009).to_bytes(2, "big")
    for size, ended in ((900_000, False), (1_100_000, True)):
        with socket.create_connection(("127.0.0.1", served.server.port), timeout=SECONDS) as connection:
            connection.sendall(opened)
            assert connection.recv(1 << 16).startswith(b"HTTP/1.1 101")
            connection.sendall(frame + size.to_bytes(8, "big") + bytes(4 + size))
            answer = connection.recv(1 << 16)
        assert (answer[0] == 0x88 and answer[2:4] == too_big) == ended


def test_a_file_makes_room_first():
    """Nothing else does."""
    seen = []

    async def app(scope: dict, receive: Callable, send: Callable) -> None:
        seen.append(scope["method"])

    gate = Gate(app, OwnHosts("127.0.0.1"), lambda: seen.append("room"))
    for method in ("GET", "PUT", "DELETE"):
        asyncio.run(gate({"type": "http", "method": method, "headers": [(b"host", b"localhost")]}, None, None))
    assert seen == ["GET", "room", "PUT", "DELETE"]


FEW_CONNECTIONS = """
import resource
from labseq_core.serving import server
resource.setrlimit(resource.RLIMIT_NOFILE, (256, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
server._let_many_in()
print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
"""


def test_a_system_that_allows_few_connections_is_asked_for_more():
    command = [sys.executable, "-c", FEW_CONNECTIONS]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert int(done.stdout) > 1000


def test_a_server_that_others_reach_knows_the_names_of_its_machine(monkeypatch):
    monkeypatch.setattr(socket, "gethostname", lambda: "Laptop.uni.example")
    alone, shared = OwnHosts("127.0.0.1"), OwnHosts("0.0.0.0", ["bücher.example"])
    for name in ("laptop", "laptop.uni.example", "laptop.local", "LAPTOP.local.:8501"):
        assert alone.problem([name], []) is not None
        assert shared.problem([name], []) is None
        assert shared.problem([name], [f"http://{name}"]) is None
        assert shared.problem(["10.0.0.5:8501"], [f"http://{name}"]) is not None, "another port of the same machine"
    assert shared.problem(["xn--bcher-kva.example"], []) is None
    assert OwnHosts("board.example").problem(["board.example:8501"], []) is None
    assert shared.problem(["laptop.example"], []) is not None
    assert shared.problem(["localhost", "evil.test"], []) is not None
    assert url("::1", 8501) == "http://[::1]:8501"


@pytest.mark.parametrize("name", ["http://laptop.local", "laptop.local:8501", "a b", "", "x" * 64, "*.example.org"])
def test_what_is_no_host_name_is_refused(name):
    with pytest.raises(LabSeqError, match="is not a host name; give the name alone"):
        OwnHosts("127.0.0.1", [name])


def test_the_command_refuses_it_too():
    command = [sys.executable, "-m", "labseq_core.cli", "app", "--no-browser", "--host-name", "http://x"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("labseq: 'http://x' is not a host name;")
