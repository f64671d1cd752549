"""Keeps leases alive, and learns from the database which jobs must stop."""

from __future__ import annotations

import asyncio

from hanbeon.clock import MICROS, Clock, micros
from hanbeon.engine.running_attempts import RunningAttempts
from hanbeon.settings import Settings
from hanbeon.store.operations import lease as lease_rows
from hanbeon.store.operations.lease import renew
from hanbeon.store.store import Store


class Renewer:
    def __init__(self, store: Store, attempts: RunningAttempts, settings: Settings, clock: Clock) -> None:
        self._store, self._attempts, self.settings, self._clock = store, attempts, settings, clock

    async def renew(self) -> float:
        """Extend every lease held."""
        held = self._attempts.held()
        if held:
            leases = [attempt.lease for attempt in held.values()]
            sent_at = self._clock.monotonic()
            async with asyncio.timeout(self.settings.heartbeat):
                facts = await self._store.write(lambda tx: renew(tx, leases, micros(self.settings.lease)))
            for seq in facts.renewed:
                held[seq].renewed(sent_at, self.settings.lease)
            self._attempts.learn(held, facts)
            if len(facts.renewed | facts.lost) < len(held):
                # Some were locked, by their own writes perhaps: a job that writes much must not lose its lease.
                return self.settings.heartbeat / 10
        return self.settings.heartbeat

    async def watch(self) -> float:
        """Look for cancelled and lost jobs between two renewals; an idle instance does not ask."""
        held = self._attempts.held()
        if not held:
            return self.settings.poll
        sent_at = self._clock.monotonic()
        async with asyncio.timeout(self.settings.heartbeat):
            leases = [attempt.lease for attempt in held.values()]
            facts = await self._store.read(lambda tx: lease_rows.look(tx, leases))
        for seq, left in facts.left.items():
            held[seq].lasts(sent_at, left / MICROS)
        self._attempts.learn(held, facts)
        return self.settings.watch
