"""Public addresses and others, which may be an internal network; a guard checks the lookups of foreign libraries."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Callable, Iterator
from functools import cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any

from hanbeon.rule import Rule

HOW_TO_ALLOW = Rule("allow_private")
HOW_TO_NAME = Rule("allow_by_name")
EVERYTHING = "true"
Private = bool | str
"""Addresses that are allowed although they are not public: all or none, or networks with spaces between.

Among networks, `true` allows all. What clouds and link-local networks answer, such as credentials of the machine, is
allowed only by its network.
"""
_METADATA = "cloud metadata"
_ONLY_NAMED = (_METADATA, "link-local")
# The special-purpose registries of IANA, and the metadata services of clouds. Written out, because what the
# standard library calls private or global has changed from one patch release to the next.
_KINDS_4 = [
    (IPv4Network(network), kind)
    for network, kind in (
        ("0.0.0.0/8", "unspecified"),
        ("10.0.0.0/8", "private"),
        ("100.100.100.200/32", _METADATA),
        ("100.64.0.0/10", "private (shared by a carrier)"),
        ("127.0.0.0/8", "loopback"),
        ("168.63.129.16/32", "cloud metadata"),
        ("169.254.169.254/32", "cloud metadata"),
        ("169.254.0.0/16", "link-local"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.192/32", _METADATA),
        ("192.0.0.0/24", "reserved"),
        ("192.0.2.0/24", "reserved"),
        ("192.88.99.0/24", "reserved"),
        ("192.168.0.0/16", "private"),
        ("198.18.0.0/15", "reserved"),
        ("198.51.100.0/24", "reserved"),
        ("203.0.113.0/24", "reserved"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
    )
]
_KINDS_6 = [
    (IPv6Network(network), kind)
    for network, kind in (
        ("::/128", "unspecified"),
        ("::1/128", "loopback"),
        ("2001::/23", "reserved"),
        ("2001:db8::/32", "reserved"),
        ("3fff::/20", "reserved"),
        ("fd00:ec2::254/128", _METADATA),
        ("fd20:ce::254/128", _METADATA),
        ("fc00::/7", "private"),
        ("fe80::/10", "link-local"),
        ("fec0::/10", "private"),
        ("ff00::/8", "multicast"),
    )
]
_GLOBAL_6 = IPv6Network("2000::/3")
# Where an address of IPv6 holds one of IPv4, and how many bits from the right: what is reached is the latter.
_EMBEDDED = [
    (IPv6Network("::ffff:0:0/96"), 0),
    (IPv6Network("64:ff9b::/96"), 0),
    (IPv6Network("2002::/16"), 80),
]


def why_refused(address: str, allowed: Private) -> str | None:
    """Return the kind of an address that is neither public nor allowed, else None."""
    kind = why_not_public(address)
    if kind is None or (kind not in _ONLY_NAMED and (allowed is True or EVERYTHING in str(allowed).split())):
        return None
    ip = ip_address(address.partition("%")[0])
    hidden = None if isinstance(ip, IPv4Address) else _hidden(ip)
    named = any(each in network for network in _networks(str(allowed)) for each in (ip, hidden) if each is not None)
    return None if named else kind


def how_to_allow(kind: str) -> Rule:
    return HOW_TO_NAME if kind in _ONLY_NAMED else HOW_TO_ALLOW


@cache
def _networks(text: str) -> list[IPv4Network | IPv6Network]:
    return [ip_network(each) for each in text.split() if "/" in each]


def _hidden(ip: IPv6Address) -> IPv4Address | None:
    for network, shift in _EMBEDDED:
        if ip in network:
            return IPv4Address(int(ip) >> shift & 0xFFFF_FFFF)
    return None


def why_not_public(address: str) -> str | None:
    """Return the kind of an address that is not public (loopback, private, link-local …), else None."""
    ip = ip_address(address.partition("%")[0])
    return _why_not_4(ip) if isinstance(ip, IPv4Address) else _why_not_6(ip)


def _why_not_4(ip: IPv4Address) -> str | None:
    return next((kind for network, kind in _KINDS_4 if ip in network), None)


def _why_not_6(ip: IPv6Address) -> str | None:
    if (hidden := _hidden(ip)) is not None:
        return _why_not_4(hidden)
    for network, kind in _KINDS_6:
        if ip in network:
            return kind
    return None if ip in _GLOBAL_6 else "reserved"


_one_at_a_time = threading.Lock()
_PROXIES = "NO_PROXY"
"""The variable that lists hosts for which no proxy is used."""


class AddressRefused(OSError):
    """A name leads to an address that is not public."""


@contextlib.contextmanager
def only_public(*, allow_private: Private) -> Iterator[None]:
    """While active, no lookup in this process returns a private address that is not allowed.

    Nor is a proxy of the environment used, unless all private addresses are allowed.

    In the main thread that holds for all threads, which is meant for a process that does nothing else. In another
    thread it holds for that one: beside it a worker goes on, whose own database may well be at a private address. What
    is connected to is what was looked up, so that a name cannot lead elsewhere between the check and the connection,
    nor a redirect past it.
    """
    # Of two that overlap, the first to end would take the check of the other away.
    with _one_at_a_time:
        yield from _checking(socket.getaddrinfo, allow_private)


def _checking(look_up: Callable[..., Any], allow_private: Private) -> Iterator[None]:
    here = threading.current_thread()
    alone = here is threading.main_thread()

    def checked(host: Any, *args: Any, **options: Any) -> Any:
        found = look_up(host, *args, **options)
        if not alone and threading.current_thread() is not here:
            return found
        for each in found:
            kind = why_refused(str(each[4][0]), allow_private)
            if kind is not None:
                raise AddressRefused(f"{host} is refused: a {kind} address")
        return found

    proxies = os.environ.get(_PROXIES)
    direct = allow_private is not True  # Where all is allowed, so is a proxy of the environment.
    setattr(socket, "getaddrinfo", checked)  # noqa: B010 - its type knows no such change
    if direct:
        os.environ[_PROXIES] = "*"
    try:
        yield
    finally:
        setattr(socket, "getaddrinfo", look_up)  # noqa: B010
        if direct:
            del os.environ[_PROXIES]
        if direct and proxies is not None:
            os.environ[_PROXIES] = proxies
