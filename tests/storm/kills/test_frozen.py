"""A worker frozen for longer than its lease finds its job gone and everything it writes refused."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hanbeon.domain.lifecycle import State
from tests.guarantees import guarantee
from tests.storm.fleet import QUICK, fleet, opened
from tests.storm.journal import Journal
from tests.storm.moments import assert_sound, enqueue, ledger_of, make_ledger, statuses, until_line, until_state
from tests.storm.sizes import TIMEOUT

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(TIMEOUT)]


# Once thawed, the worker sees by its own clock that its leases have ended. If the clock stopped with it, as after a
# pause of a virtual machine, it still trusts them, and only the fence stands between it and the job: all the more so
# while the job runs elsewhere, since nothing but the fence tells the two apart then.
@pytest.mark.timing_sensitive
@pytest.mark.parametrize(
    ("clock", "thawed"),
    [
        pytest.param("system", "afterwards", marks=pytest.mark.slow),
        pytest.param("paused", "afterwards", marks=pytest.mark.slow),
        ("paused", "meanwhile"),
    ],
)
async def test_frozen_workers_late_writes_are_refused(
    postgres_url: str, journal: Journal, clock: str, thawed: str
) -> None:
    gate = journal.path.with_name("gate")
    args: dict[str, Any] = {"journal": str(journal), "gate": str(gate), "gates": 2}
    async with opened(postgres_url) as app:
        await make_ledger(app)
        writing = await enqueue(app, "gated_ledger", **args)
        noting = await enqueue(app, "gated_progress", **args)
        jobs = (writing, noting)
        with fleet(postgres_url) as workers:
            frozen = workers.start(settings=QUICK | {"clock": clock})
            for job_id in jobs:
                await until_line(journal, "began", job_id, 1)
            frozen.freeze()
            workers.start(settings=QUICK | {"lease": 30.0})
            for job_id in jobs:
                await until_line(journal, "began", job_id, 2)
            if thawed == "afterwards":
                gate.with_suffix(".2").touch()
                for job_id in jobs:
                    await until_state(app, job_id, State.SUCCEEDED)

            gate.with_suffix(".1").touch()
            frozen.thaw()
            await until_line(journal, "refused", noting, 1)
            word = "result_refused" if clock == "paused" else "lease_lost"
            await asyncio.to_thread(frozen.wait_for, lambda line: word in line and writing in line, word)
            gate.with_suffix(".2").touch()
            for job_id in jobs:
                await until_state(app, job_id, State.SUCCEEDED)
        for job_id in jobs:
            assert await statuses(app, job_id) == ["lost", "completed"]
        with guarantee():
            assert await ledger_of(app) == [(writing, 2)]
            assert (await app.store.job(noting)).progress == "2"
        await assert_sound(app)
