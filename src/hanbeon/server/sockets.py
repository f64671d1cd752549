"""The sockets of a server."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator

from hanbeon.errors import AddressUnavailable
from hanbeon.server.auth import is_loopback


@contextlib.contextmanager
def bound(host: str, port: int) -> Iterator[list[socket.socket]]:
    """Sockets at every address that the host's name has; at one of them if the port is to be any."""
    with contextlib.ExitStack() as opened:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        except (OSError, UnicodeError) as error:
            raise AddressUnavailable(f"there is no address {host!r} ({error}); use one of this machine's") from error
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
                    f"port {port} of {host} cannot be had ({error.strerror}); choose another with --port"
                ) from error
            sockets.append(opening)
        yield sockets


def only_local(sockets: list[socket.socket]) -> bool:
    """Whether nobody but this machine can reach them."""
    return all(is_loopback(each.getsockname()[0]) for each in sockets)


def url_of(sockets: list[socket.socket]) -> str:
    host, port = sockets[0].getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
