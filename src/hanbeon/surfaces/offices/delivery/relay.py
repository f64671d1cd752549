"""Turns events into messages, a bounded number at a time. Every worker relays; none of them leads."""

from __future__ import annotations

import math

from hanbeon.clock import Clock
from hanbeon.engine.loop import AGAIN
from hanbeon.settings import Settings
from hanbeon.store.store import Store
from hanbeon.surfaces.offices.delivery.messages import MessageBuilder
from hanbeon.surfaces.offices.delivery.relay_rows import relay, relay_state

_EVENTS_AT_ONCE = 1_000
_QUIET_POLLS = 6


class Relay:
    """Relays events to listeners. While there are none, it only checks from time to time if there are any."""

    def __init__(self, store: Store, settings: Settings, clock: Clock) -> None:
        self._store, self._settings, self._clock = store, settings, clock
        self._make = MessageBuilder(settings)
        self._look_at = -math.inf
        self.listening = False

    def look_again(self) -> None:
        """Wake up: there may be a new listener."""
        self._look_at = -math.inf

    @property
    def quiet_seconds(self) -> float:
        """Time between two checks without listeners: the notification of a new one may have been lost."""
        return self._settings.poll * _QUIET_POLLS

    async def run_once(self) -> float:
        now = self._clock.monotonic()
        if not self.listening and now < self._look_at:
            return self._look_at - now
        self._look_at = now + self.quiet_seconds
        state = await self._store.read(relay_state)
        self.listening = state.listening
        if not state.listening:
            return self.quiet_seconds
        if not state.behind:
            return self._settings.poll
        await self._store.number_events()
        relayed = await self._store.write(
            lambda tx: relay(tx, self._store.lanes, self._make, _EVENTS_AT_ONCE), _EVENTS_AT_ONCE
        )
        return AGAIN if relayed.more else self._settings.poll
