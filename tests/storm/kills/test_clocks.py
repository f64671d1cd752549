"""The database's clock decides: a worker whose own is wrong, and wrong in another way each time, changes nothing."""

from __future__ import annotations

import pytest

from hanbeon.clock import MICROS
from hanbeon.domain.lifecycle import State
from hanbeon.store.operations.queries import attempts_of
from tests.storm.fleet import QUICK, fleet, opened
from tests.storm.journal import Journal
from tests.storm.moments import assert_sound, enqueue, statuses, until_state
from tests.storm.sizes import TIMEOUT

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(TIMEOUT)]

_LEASE = 6.0


@pytest.mark.timing_sensitive
async def test_jumping_wall_clock_moves_no_lease_retry_or_deadline(postgres_url: str, journal: Journal) -> None:
    async with opened(postgres_url) as app:
        with fleet(postgres_url, settings=QUICK | {"clock": "jumping", "lease": _LEASE}) as workers:
            workers.start(2, before="tests.storm.clocks:travel")
            await workers.ready()
            long = await enqueue(app, "nap", seconds=1.5 * _LEASE)
            retried = await enqueue(app, "flaky", failures=2)
            delayed = await enqueue(app, "quick", options={"delay": 1.0})
            limited = await enqueue(app, "limited", journal=str(journal))
            for job_id in (long, retried, delayed, limited):
                await until_state(app, job_id, State.SUCCEEDED)
        assert await statuses(app, long) == ["completed"], "a lease was taken for expired"
        assert await statuses(app, retried) == ["failed", "failed", "completed"]
        assert await statuses(app, limited) == ["timeout", "completed"]
        record = await app.store.job(delayed)
        assert record.started_at is not None
        assert 1.0 <= (record.started_at - record.created_at) / MICROS < 60
        (timed_out, _) = await app.store.read(lambda tx: attempts_of(tx, limited))
        assert 3.0 <= (timed_out.ended_at - timed_out.started_at) / MICROS < 60
        await assert_sound(app)
