"""Through every driver and wrapper: a job exists if and only if its caller commits, and refusals leave it usable."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from hanbeon import App, Job, State, Task
from hanbeon.errors import HanbeonError, IdAlreadyUsed, JobNotFound, UniqueKeyTaken, UnknownDependency
from hanbeon.surfaces.verify import verify
from tests.store.external.callers import Caller

Send = Task[[str], str]


async def rows(app: App, sql: str) -> Sequence[Any]:
    async with app.transaction() as tx:
        return [tuple(row) for row in await tx.fetch(sql)]


async def leftovers(app: App) -> tuple[Any, ...]:
    """How much there is of everything that a transaction may leave behind."""
    tables = ("hanbeon.job", "hanbeon.edge", "hanbeon.event_batch", "orders")
    (counts,) = await rows(app, "SELECT " + ", ".join(f"(SELECT count(*) FROM {table})" for table in tables))
    return tuple(counts)


async def test_the_job_is_there_and_runs_once_its_caller_has_committed(app: App, send: Send, caller: Caller) -> None:
    async with app.worker():
        await caller.execute("INSERT INTO orders VALUES (1)")
        job = await app.enqueue(send.call("Ada"), transaction=caller.transaction, priority=3)
        with pytest.raises(JobNotFound):
            await job.state()
        assert await app.events_after() == []
        await caller.execute("INSERT INTO orders VALUES (2)")
        await caller.commit()
        assert await asyncio.wait_for(job.result(), 30) == "sent to Ada"  # Woken, not polled for: that takes a minute.
    assert await rows(app, "SELECT number FROM orders ORDER BY 1") == [(1,), (2,)]
    events = [event for event in await app.events_after() if event.job_id == job.id]
    assert [event.type for event in events] == ["enqueued", "claimed", "succeeded"]
    assert [event.id for event in await app.events_after()] == list(range(1, 1 + len(await app.events_after())))
    assert (await verify(app.store)).findings == ()


async def test_nothing_is_left_when_its_caller_rolls_back(app: App, send: Send, caller: Caller) -> None:
    first = await app.enqueue(send.call("first"), delay=60)
    before = await leftovers(app)
    await caller.execute("INSERT INTO orders VALUES (1)")
    one, two = send.call("one").set(after=[first]), send.call("two")
    jobs = await app.enqueue_many([one, two.set(after=[one])], transaction=caller.transaction)
    await caller.roll_back()
    assert await leftovers(app) == before
    for job in jobs:
        with pytest.raises(JobNotFound):
            await job.state()


async def test_rejected_enqueue_keeps_the_transaction_usable(app: App, send: Send, caller: Caller) -> None:
    taken = await app.enqueue(send.call("taken"), idempotency_key="i", unique_key="u", delay=60)
    for error, bad in (
        (IdAlreadyUsed, send.call("other").set(idempotency_key="i")),
        (UniqueKeyTaken, send.call("other").set(unique_key="u")),
        (UnknownDependency, send.call("other").set(depends_on=["00000000-0000-0000-0000-000000000000"])),
    ):
        with pytest.raises(error):
            await app.enqueue_many([send.call("good"), bad], transaction=caller.transaction)
    assert (await app.enqueue(send.call("skip"), unique_key="u", on_conflict="skip", transaction=caller.transaction)).id
    again = await app.enqueue(
        send.call("taken"), idempotency_key="i", unique_key="u", delay=60, transaction=caller.transaction
    )
    assert (again.id, again.created) == (taken.id, False)
    await caller.execute("INSERT INTO orders VALUES (1)")
    job = await app.enqueue(send.call("good"), unique_key="new", transaction=caller.transaction)
    await caller.commit()
    assert {record.id for record in await app.jobs()} == {taken.id, job.id}
    assert (await leftovers(app))[-1] == 1
    assert (await verify(app.store)).findings == ()


async def test_a_holder_is_replaced_if_and_only_if_the_caller_commits(app: App, send: Send, caller: Caller) -> None:
    holder = await app.enqueue(send.call("old"), unique_key="u", delay=60)
    new = send.call("new").set(unique_key="u", on_conflict="replace_pending")
    job = await app.enqueue(new, transaction=caller.transaction)
    assert await holder.state() is State.PENDING
    await caller.commit()
    assert [await holder.state(), await job.state()] == [State.CANCELLED, State.READY]
    assert (await verify(app.store)).findings == ()


async def test_a_holder_that_others_wait_for_is_not_replaced(app: App, send: Send, caller: Caller) -> None:
    holder = await app.enqueue(send.call("old"), unique_key="u", delay=60)
    await app.enqueue(send.call("behind").set(after=[holder]))
    new = send.call("new").set(unique_key="u", on_conflict="replace_pending")
    with pytest.raises(HanbeonError, match="cannot be replaced inside your transaction"):
        await app.enqueue(new, transaction=caller.transaction)
    # Nor does it stay locked by a transaction that lasts.
    assert await asyncio.wait_for(holder.cancel(), 30) is State.CANCELLED
    await caller.commit()


async def test_a_thousand_jobs_in_one_call(app: App, send: Send, caller: Caller) -> None:
    requests = [send.call(str(n)) for n in range(1000)]
    requests = [request.set(after=requests[n - 1 : n]) for n, request in enumerate(requests)]
    jobs: list[Job[str]] = await app.enqueue_many(requests, transaction=caller.transaction)
    await caller.commit()
    assert [record.id for record in await app.jobs(limit=1000)] == [job.id for job in jobs]
    assert await rows(app, "SELECT count(*) FROM hanbeon.edge") == [(999,)]
    assert (await verify(app.store)).findings == ()


async def test_settings_of_the_caller_are_kept_and_irrelevant(app: App, send: Send, caller: Caller) -> None:
    await caller.execute("CREATE SCHEMA elsewhere")
    await caller.execute("SET LOCAL search_path = elsewhere")
    await caller.execute("CREATE TABLE settings AS SELECT name, setting FROM pg_settings")
    await app.enqueue(send.call("Ada"), transaction=caller.transaction)
    changed = "(SELECT name, setting FROM pg_settings EXCEPT SELECT name, setting FROM settings) AS changed"
    await caller.execute(f"SELECT 1 / CASE WHEN count(*) = 0 THEN 1 ELSE 0 END FROM {changed}")
    await caller.execute("DROP SCHEMA elsewhere CASCADE")
    await caller.commit()
    assert len(await app.jobs()) == 1


@pytest.mark.parametrize("level", ["READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"])
async def test_any_isolation_level_will_do(app: App, send: Send, caller: Caller, level: str) -> None:
    done = await app.enqueue(send.call("done"))
    await caller.execute(f"SET TRANSACTION ISOLATION LEVEL {level}")
    await caller.execute("SELECT count(*) FROM orders")
    await app.enqueue(send.call("a queue that the snapshot does not know"), queue="new", transaction=caller.transaction)
    request = send.call("behind").set(after=[done], unique_key="u")
    job = await app.enqueue(request, transaction=caller.transaction)
    await caller.commit()
    async with app.worker():
        assert await job.result(timeout=10) == "sent to behind"
    assert (await verify(app.store)).findings == ()
