"""Limits of open connections, in total and by address: clients leave the worker the descriptors that it needs."""

from __future__ import annotations

import ipaddress
from collections import Counter
from collections.abc import Callable

from hanbeon.clock import Clock
from hanbeon.logs import get_logger
from hanbeon.settings import Settings

_log = get_logger("hanbeon.server")
_TOLD_EVERY = 10.0
_BACKLOG = 2_048


class ConnectionLimit:
    """Counts open connections, WebSockets and event streams included, and refuses those beyond the limits."""

    def __init__(self, total: int, per_address: int, clock: Clock, refused: Callable[[str], None]) -> None:
        self.total, self.per_address = total, per_address
        self._clock, self._refused = clock, refused
        self._open: Counter[str] = Counter()
        self._number = 0
        self._told_at = -_TOLD_EVERY

    def admit(self, address: str) -> Callable[[], None] | None:
        """Count a connection and return a function that ends it, to be called once; None if there is no room."""
        group = _group(address)
        full = "total" if self._number >= self.total else "address" if self._open[group] >= self.per_address else None
        if full is not None:
            self._refuse(address, full)
            return None
        self._number += 1
        self._open[group] += 1

        def release() -> None:
            self._number -= 1
            self._open[group] -= 1
            if not self._open[group]:
                del self._open[group]

        return release

    def _refuse(self, address: str, limit: str) -> None:
        self._refused(limit)
        if not self._open[_group(address)]:
            del self._open[_group(address)]
        now = self._clock.monotonic()
        if now - self._told_at >= _TOLD_EVERY:  # A client that opens too many does so by the thousand.
            self._told_at = now
            _log.warning("connection_refused", address=address, limit=limit, open=self._number)


def limits_within(descriptors: int, settings: Settings) -> tuple[int, int, int]:
    """Return the limits in total and by address, and the backlog of the sockets, for so many descriptors.

    Clients get at most half of the descriptors, and those that were accepted but not yet counted a quarter: the rest is
    for the database, files and processes of jobs.
    """
    share = min(1.0, descriptors / 2 / settings.max_connections)
    total = max(1, int(settings.max_connections * share))
    per_address = max(1, min(total, int(settings.max_connections_per_address * share)))
    return total, per_address, max(1, min(_BACKLOG, descriptors // 4))


def _group(address: str) -> str:
    """Return the address, or its network of 64 bits: a single IPv6 host usually has all of it."""
    try:
        found = ipaddress.IPv6Address(address.partition("%")[0])
    except ValueError:
        return address
    return str(found.ipv4_mapped) if found.ipv4_mapped else str(ipaddress.IPv6Network((found, 64), strict=False))
