"""A batch so large that it keeps all other writers of a SQLite file waiting: no lease of others ends meanwhile."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence

import pytest

from hanbeon import App, State
from hanbeon.clock import MICROS
from hanbeon.domain.job import OnDependencyFailure
from hanbeon.domain.outcome import Raised
from hanbeon.errors import DatabaseUnavailable
from hanbeon.store.database import sqlite
from hanbeon.store.operations import lease as lease_rows
from hanbeon.store.operations.enqueue import Enqueued
from hanbeon.store.operations.lease import GRANT_MOST_US, renew
from hanbeon.store.tx import Tx
from tests.store.world import World, lease_of, new_job

_BATCH = 5_000
_GRANTED_US = 10 * MICROS
_SHORT_US = 2 * MICROS


class _Pause:
    """Keeps a write from ending, in the thread that does it."""

    def __init__(self) -> None:
        self.reached, self._go = threading.Event(), threading.Event()

    async def here(self, tx: Tx, answers: Sequence[Enqueued]) -> None:
        self.reached.set()
        assert self._go.wait(60)

    def end(self) -> None:
        self._go.set()


async def _during(pause: _Pause, write: Awaitable[object], look: Callable[[], Awaitable[object]]) -> object:
    writing = asyncio.ensure_future(write)
    try:
        assert await asyncio.to_thread(pause.reached.wait, 60)
        return await look()
    finally:
        pause.end()
        await writing


@pytest.fixture
async def held_world(sqlite_url: str) -> World:
    return await World.open(sqlite_url)


async def test_a_long_write_first_extends_leases_of_others(held_world: World) -> None:
    store = held_world.store
    try:
        await held_world.make()
        (held,) = await held_world.claim(lease_us=_SHORT_US)

        async def left() -> int:
            return (await store.read(lambda tx: lease_rows.look(tx, [lease_of(held)]))).left[held.seq]

        for count, expected in ((10, _SHORT_US), (_BATCH, _GRANTED_US)):
            pause = _Pause()
            writing = store.enqueue([new_job() for _ in range(count)], last=pause.here)
            assert await _during(pause, writing, left) == expected
        await held_world.clock.advance(5)
        facts = await store.write(lambda tx: renew(tx, [lease_of(held)], _SHORT_US))
        assert (facts.renewed, facts.left) == ({held.seq}, {held.seq: 5 * MICROS}), "a renewal never shortens a lease"
        assert await held_world.settle(held) is not None
    finally:
        await store.close()


async def test_edges_make_a_write_long_too(held_world: World) -> None:
    store = held_world.store
    try:
        await held_world.make()
        (held,) = await held_world.claim(lease_us=_SHORT_US)
        roots = [new_job() for _ in range(100)]
        ids = tuple(job.id for job in roots)
        await store.enqueue([*roots, *(new_job(depends_on=ids) for _ in range(100))])
        assert (await store.read(lambda tx: lease_rows.look(tx, [lease_of(held)]))).left[held.seq] == _SHORT_US, (
            "10,000 edges are not long"
        )
        await store.enqueue([new_job(depends_on=ids) for _ in range(200)])
        assert (await store.read(lambda tx: lease_rows.look(tx, [lease_of(held)]))).left[held.seq] > _SHORT_US
    finally:
        await store.close()


@pytest.mark.parametrize("end", ["succeeds", "fails", "is_cancelled"])
async def test_an_end_with_many_dependents_is_long_too(held_world: World, end: str) -> None:
    """How many there are is known only inside the transaction, which is begun again once the leases last longer."""
    store = held_world.store
    try:
        root = new_job()
        behind = [new_job(depends_on=(root.id,), on_dependency_failure=OnDependencyFailure.FAIL) for _ in range(_BATCH)]
        await store.enqueue([root, *behind])
        await store.enqueue([new_job(task="other")])
        (held,) = await held_world.claim(tasks=["other"], lease_us=_SHORT_US)
        match end:
            case "succeeds":
                await held_world.finish(root.id)
            case "fails":
                await held_world.finish(root.id, Raised("no"))
            case _:
                await store.cancel(root.id)
        left = (await store.read(lambda tx: lease_rows.look(tx, [lease_of(held)]))).left[held.seq]
        assert left == _GRANTED_US
        expected = State.READY if end == "succeeds" else State.FAILED
        assert (await store.job(behind[-1].id)).state is expected
    finally:
        await store.close()


async def test_a_lease_from_before_a_clock_step_is_renewed(world: World) -> None:
    """A lease that lasts longer than anybody could have granted is shortened: the clock was set back."""
    await world.make()
    (held,) = await world.claim(lease_us=_SHORT_US + GRANT_MOST_US + 1)
    facts = await world.store.write(lambda tx: renew(tx, [lease_of(held)], _SHORT_US))
    assert facts.left == {held.seq: _SHORT_US}


async def test_a_write_that_takes_too_long_leaves_nothing(held_world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "_GRANT_SLACK", 0.5)  # No time at all is left.
    try:
        with pytest.raises(DatabaseUnavailable, match="smaller batches"):
            await held_world.store.enqueue([new_job() for _ in range(_BATCH)])
        assert sum((await held_world.counts()).values()) == 0
        monkeypatch.undo()
        await held_world.store.enqueue([new_job() for _ in range(_BATCH)])
    finally:
        await held_world.store.close()


@pytest.mark.slow
async def test_a_worker_keeps_its_job_during_a_long_write(sqlite_url: str) -> None:
    """The write of another process takes two leases of the worker; its job is neither stopped nor run again."""
    async with App(sqlite_url, lease=6) as app, App(sqlite_url) as other:
        started, go = asyncio.Event(), asyncio.Event()
        runs = 0

        @app.task
        async def work() -> str:
            nonlocal runs
            runs += 1
            started.set()
            await go.wait()
            return "kept"

        job = await app.enqueue(work)
        async with app.worker():
            await asyncio.wait_for(started.wait(), 30)
            pause = _Pause()
            writing = other.store.enqueue([new_job(task="none") for _ in range(4 * _BATCH)], last=pause.here)

            async def wait_two_leases() -> None:
                await asyncio.sleep(12)
                go.set()  # Its result waits for the write, too.

            await _during(pause, writing, wait_two_leases)
            assert await job.result(60) == "kept"
        record = await job.record()
        assert (record.state, record.fence, runs) == (State.SUCCEEDED, 1, 1)
