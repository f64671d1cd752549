"""Renewals: what was locked just now is asked for again soon, not only at the next heartbeat."""

from typing import cast

import pytest

from hanbeon.engine.running_attempts import Renewer, RunningAttempts
from hanbeon.settings import load_settings
from hanbeon.store.operations.lease import LeaseFacts
from hanbeon.store.store import Store
from hanbeon.testing import VirtualClock
from tests.engine.attempts import new_attempt


class Leases:
    def __init__(self, facts: LeaseFacts) -> None:
        self.facts = facts

    async def write(self, operation: object) -> LeaseFacts:
        return self.facts


@pytest.mark.parametrize(
    ("renewed", "lost", "pause"), [({1, 2}, set(), 10.0), ({1}, {2}, 10.0), ({1}, set(), 1.0), (set(), set(), 1.0)]
)
async def test_a_lease_that_was_passed_over_is_renewed_soon(renewed: set[int], lost: set[int], pause: float) -> None:
    store, clock = cast(Store, Leases(LeaseFacts(renewed, lost, set()))), VirtualClock()
    attempts = RunningAttempts(store, clock, idle_seconds=5)
    for seq in (1, 2):
        attempts.add(new_attempt(seq=seq))
    assert await Renewer(store, attempts, load_settings(lease=30), clock).renew() == pause
