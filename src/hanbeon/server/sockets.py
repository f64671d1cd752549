"""The sockets of a server."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator

from hanbeon.errors import AddressUnavailable
from hanbeon.quotation import quoted
from hanbeon.server.auth import is_loopback


@contextlib.contextmanager
def bound(host: str, port: int) -> Iterator[list[socket.socket]]:
    """Sockets on every address of the host; on one address only if the port is 0."""
    with contextlib.ExitStack() as opened:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        except (OSError, UnicodeError) as error:
            raise AddressUnavailable(
                f"cannot resolve {quoted(host)} ({error}); use an address of this machine"
            ) from error
        sockets = []
        for family, kind, protocol, _, address in found[:1] if port == 0 else found:
            opening = opened.enter_context(socket.socket(family, kind, protocol))
            opening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family is socket.AF_INET6:
                opening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            try:
                opening.bind(address)
            except OSError as error:
                raise AddressUnavailable(
                    f"cannot listen on port {port} of {host} ({error.strerror}); choose another with --port"
                ) from error
            sockets.append(opening)
        yield sockets


def only_local(sockets: list[socket.socket]) -> bool:
    """Return true if only this machine can reach the sockets."""
    return all(is_loopback(each.getsockname()[0]) for each in sockets)


def url_of(sockets: list[socket.socket]) -> str:
    host, port = sockets[0].getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
