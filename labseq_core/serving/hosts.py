"""Whose requests the server answers. A page of the web can give its own name the address of this machine (DNS rebinding), and
its scripts then talk to the dashboard as if it were theirs; or it sends requests from its own address. Host and Origin, which
browsers write and scripts cannot, tell such requests apart.

Imports no streamlit: the command line reads this before it starts the server.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Iterable, Sequence
from ipaddress import ip_address

from labseq_core.checks import LabSeqError

HOST_NAMES_VARIABLE = "LABSEQ_HOST_NAMES"  # names separated by commas, beside those of --host-name
_LOCAL_NAME = "localhost"
# Host and port as browsers write them into a header; what is read by this can be repeated in a text or a log.
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9_.-]{1,254})(?::([0-9]{1,5}))?", re.ASCII)
_NO_HOST = (
    "LabSeq refused a request without a valid Host header. Send one: localhost, an IP address or a name of this server."
)
_UNKNOWN_HOST = (
    "LabSeq does not know the host name {name}. Open the dashboard by localhost or by an IP address; "
    "or, if {name} is a name of this server, start it with: labseq app --host-name {name}"
)
_ANOTHER_SITE = "LabSeq refused a request from a page of another site."
_NAMED_SITE = (
    "LabSeq refused a request from a page of another site, {name}. "
    "If {name} is a name of this server, start it with: labseq app --host-name {name}"
)


class OwnHosts:
    """Names that lead to a server that listens at an address: those that its operator gives and, if others reach it, the
    machine's own, also as a local network without a name server calls it (mDNS). IP addresses and localhost always may be
    asked for: a page that a browser takes to be from elsewhere has another name.
    """

    def __init__(self, address: str, given: Iterable[str] = ()):
        self.given = [_checked(name) for name in given]
        machine = socket.gethostname().lower()
        short = machine.partition(".")[0]
        machines = [machine, short, f"{short}.local", *([] if _is_address(address) else [address.lower()])]
        self.names = list(dict.fromkeys([*self.given, *([] if is_loopback(address) else machines)]))

    def problem(self, hosts: Sequence[str], origins: Sequence[str]) -> str | None:
        """Why a request with these headers is refused, and what to do; None if it is not."""
        host = _read(hosts[0]) if len(hosts) == 1 else None
        if host is None:
            return _NO_HOST
        if not (_is_address(host[0]) or host[0] == _LOCAL_NAME or host[0] in self.names):
            return _UNKNOWN_HOST.format(name=host[0])
        if not origins:  # no browser, or a page that is opened or asks its own server
            return None
        scheme, _, rest = origins[0].lower().partition("://")
        origin = _read(rest) if len(origins) == 1 and scheme in ("http", "https") else None
        if origin is None:
            return _ANOTHER_SITE
        # Another port is another site. Of a name that was given any will do: behind a proxy, Host may be another.
        return None if origin == host or origin[0] in self.given else _NAMED_SITE.format(name=origin[0])


def _read(text: str) -> tuple[str, str] | None:
    """Host, in small letters and without a dot at its end, and port; None if that is not what the text has."""
    found = _HOST.fullmatch(text.lower())
    if not found:
        return None
    host, port = found.groups(default="")
    return host.strip("[]").removesuffix("."), port


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def is_loopback(address: str) -> bool:
    """Whether only this machine reaches a server that listens there."""
    return ip_address(address).is_loopback if _is_address(address) else address == _LOCAL_NAME


def _checked(name: str) -> str:
    """A name as browsers write it."""
    if _is_address(name):
        return name.lower()
    try:
        host = _read(name.encode("idna").decode())
    except UnicodeError:
        host = None
    if host is None or host[1]:
        raise LabSeqError(
            f"{name!r} is not a host name; give the name alone, such as laptop.example.org, without http:// and port"
        )
    return host[0]


def url(host: str, port: int) -> str:
    """Where a browser finds what listens there."""
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"
