"""The logins that are in use, read together: as many reads for a hundred open pages as for one."""

from __future__ import annotations

import math

from hanbeon.clock import Clock
from hanbeon.server.shared_read import SharedRead
from hanbeon.service.tokens import find_logins, hash_of
from hanbeon.store.operations.access import LoginRecord
from hanbeon.store.store import Store

_IN_USE_SECONDS = 10.0
"""Open pages are admitted more often than that, by their streams."""


class LoginCache:
    """Finds logins by their cookies. Only those that exist are remembered: cookies that are made up fill nothing."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._found: dict[str, LoginRecord] = {}
        self._used_at: dict[str, float] = {}
        self._wanted: set[str] = set()
        self._read_at = -math.inf
        self._reading = SharedRead(self._read)

    async def find(self, cookie: str, known_for: float) -> LoginRecord | None:
        """Return the login, as it was at most `known_for` seconds ago; None if it has ended or never was."""
        digest, now = hash_of(cookie), self._clock.monotonic()
        if digest not in self._found or now - self._read_at > known_for:
            self._wanted.add(digest)
            found = (await self._reading.get()).get(digest)
        else:
            found = self._found[digest]
        if found is not None:
            self._used_at[digest] = now
        return found

    def forget(self, cookie: str) -> None:
        self._found.pop(hash_of(cookie), None)

    async def _read(self) -> dict[str, LoginRecord]:
        """Read those that are wanted now, and with them all that are in use."""
        began = self._clock.monotonic()
        self._used_at = {each: at for each, at in self._used_at.items() if began - at < _IN_USE_SECONDS}
        wanted, self._wanted = self._wanted | self._used_at.keys(), set()
        self._found = await find_logins(self._store, wanted)
        self._read_at = began
        return self._found
