"""A worker cut off from its database stops its work before the lease ends, and resumes when the connection is back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from hanbeon import App
from hanbeon.domain.lifecycle import State
from tests.databases.proxy import FaultProxy, fault_proxy
from tests.guarantees import guarantee
from tests.storm.fleet import WorkerProcess, fleet, opened
from tests.storm.journal import Journal, boottime
from tests.storm.moments import (
    assert_sound,
    direct,
    enqueue,
    ledger_of,
    make_ledger,
    statuses,
    until,
    until_line,
    until_state,
)
from tests.storm.sizes import LONG, TIMEOUT

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(TIMEOUT)]

SETTINGS = {"lease": 8.0, "poll": 0.5}


def _deliver(proxy: FaultProxy) -> None:
    """Bring the network back and deliver what was sent meanwhile."""
    proxy.heal()


def _reset(proxy: FaultProxy) -> None:
    """Bring the network back and reset the earlier connections."""
    proxy.cut()
    proxy.heal()


def _forget(proxy: FaultProxy) -> None:
    """Bring the network back with the earlier connections silently dropped, as by a NAT that lost its state."""
    proxy.strand()


@pytest.mark.timing_sensitive
@pytest.mark.parametrize(
    "heal", [_deliver, pytest.param(_reset, marks=pytest.mark.slow), pytest.param(_forget, marks=pytest.mark.slow)]
)
async def test_cut_off_work_stops_within_its_lease_and_runs_elsewhere(
    postgres_url: str, journal: Journal, heal: Callable[[FaultProxy], None]
) -> None:
    tasks = ("first_try_hangs", "threaded_watch")
    async with opened(postgres_url) as app:
        async with fault_proxy(postgres_url) as proxy:
            jobs = [await enqueue(app, task, journal=str(journal)) for task in tasks]
            with fleet(postgres_url, settings=SETTINGS, concurrency=len(jobs)) as workers:
                cut_off = workers.start(url=proxy.url)
                for job_id in jobs:
                    await until_line(journal, "began", job_id, 1)
                proxy.silence()
                other = workers.start()
                await asyncio.gather(*(_assert_ends_in_time(postgres_url, journal, job_id) for job_id in jobs))
                for job_id in jobs:
                    await until_state(app, job_id, State.SUCCEEDED)
                    assert await statuses(app, job_id) == ["lost", "completed"]
                    _assert_never_together(journal, job_id)

                workers.kill(other)
                heal(proxy)
                await _works_again(app, journal, cut_off)
        await assert_sound(app)


# Over a dropped connection a plain result fails only at its statement timeout, half a minute.
@pytest.mark.timing_sensitive
@pytest.mark.parametrize(
    ("heal", "tasks"),
    [
        (_deliver, ["gated", "gated_ledger"]),
        pytest.param(_reset, ["gated", "gated_ledger"], marks=pytest.mark.slow),
        pytest.param(_forget, ["gated", "gated_ledger"] if LONG else ["gated_ledger"], marks=pytest.mark.slow),
    ],
)
async def test_late_result_is_refused_and_frees_its_slot(
    postgres_url: str, journal: Journal, heal: Callable[[FaultProxy], None], tasks: list[str]
) -> None:
    gate = journal.path.with_name("gate")
    async with opened(postgres_url) as app:
        async with fault_proxy(postgres_url) as proxy:
            await make_ledger(app)
            jobs = [await enqueue(app, task, journal=str(journal), gate=str(gate)) for task in tasks]
            with fleet(postgres_url, settings=SETTINGS, concurrency=len(jobs)) as workers:
                cut_off = workers.start(url=proxy.url)
                for job_id in jobs:
                    await until_line(journal, "began", job_id, 1)
                proxy.silence()
                gate.with_suffix(".1").touch()
                for job_id in jobs:
                    await until_line(journal, "ended", job_id, 1)
                other = workers.start()
                for job_id in jobs:
                    await until_state(app, job_id, State.SUCCEEDED)

                workers.kill(other)
                heal(proxy)
                await _works_again(app, journal, cut_off)
        for job_id in jobs:
            assert await statuses(app, job_id) == ["lost", "completed"]
        with guarantee():
            assert await ledger_of(app) == [(jobs[tasks.index("gated_ledger")], 2)]
        await assert_sound(app)


async def _works_again(app: App, journal: Journal, worker: WorkerProcess) -> None:
    """Check that the worker takes a job, receives its cancellation and reports that it has stopped."""
    job_id = await enqueue(app, "first_try_hangs", journal=str(journal))
    began = await until_line(journal, "began", job_id, 1)
    assert int(began[4]) == worker.pid
    await app.cancel(job_id)
    await until_state(app, job_id, State.CANCELLED)


async def _assert_ends_in_time(url: str, journal: Journal, job_id: str) -> None:
    """Check that the first body ends within its lease, which is read from the database past the proxy."""
    lease_ends = await until("the first body's end", lambda: _lease_once_ended(url, journal, job_id))
    (ended,) = (float(line[3]) for line in journal.lines("ended") if line[1:3] == [job_id, "1"])
    assert ended < lease_ends, f"it ran on for {ended - lease_ends:.3f} s"


async def _lease_once_ended(url: str, journal: Journal, job_id: str) -> float | None:
    """Return the end of the first lease in `boottime`, erring early; None while its body runs."""
    async with direct(url) as connection:
        asked_at = boottime()
        row = await connection.fetchrow(
            "SELECT fence, locked_until - hanbeon.now() AS left_us FROM hanbeon.job WHERE id = $1", job_id
        )
    if all(line[1:3] != [job_id, "1"] for line in journal.lines("ended")):
        return None
    assert row is not None
    assert (row["fence"], row["left_us"] is not None) == (1, True), "it was taken over before its body had ended"
    return asked_at + float(row["left_us"]) / 1_000_000


def _assert_never_together(journal: Journal, job_id: str) -> None:
    """Check that every body of the job had ended before the next began."""
    words = [line[0] for line in sorted(journal.lines(), key=lambda line: float(line[3])) if line[1] == job_id]
    with guarantee():
        assert words == ["began", "ended"] * (len(words) // 2), words
