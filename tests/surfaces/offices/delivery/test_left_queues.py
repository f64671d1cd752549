"""The queues of offices and listeners that are gone go, too, once nothing of theirs is left; no others ever do."""

from __future__ import annotations

import asyncio

import pytest

from hanbeon import Context
from hanbeon.domain.delivery import queue_of_tests
from hanbeon.domain.offices import queue_of_office
from hanbeon.errors import InvalidInput
from hanbeon.service.verify import verify
from hanbeon.store.postgres import PostgresDatabase
from tests.outbound.web import Web, reply
from tests.service.raw_sql import run_sql
from tests.surfaces.offices.delivery.hooks import SECRET, listen
from tests.surfaces.offices.office_kit import Desk

DAY = 86_400.0
THEIRS = ("lane", "tally", "timing", "queue_batch")


async def _queues(desk: Desk) -> set[str]:
    return {each.name for each in await desk.kit.app.queues()}


async def _counted(desk: Desk, older_than: float) -> int:
    """How many of them would go, by what `prune --dry-run` asks."""
    return (await desk.kit.app.store.count_prunable(int(older_than * 1_000_000))).queues


async def _tidy(desk: Desk, older_than: float) -> None:
    """What the loops of a worker do in their time."""
    store = desk.kit.app.store
    for _ in range(2):  # What is told of the pruning is folded before the queues go.
        while await store.prune(int(older_than * 1_000_000), 500):
            pass
        while await store.number_events():
            pass
        while await store.fold():
            pass
    while await store.prune(int(older_than * 1_000_000), 500):
        pass


async def _orphans(desk: Desk) -> int:
    """Rows that belong to a queue that is not there."""
    store, found = desk.kit.app.store, 0
    for table in THEIRS:
        sql = f"SELECT queue_id FROM hanbeon.{table} WHERE queue_id NOT IN (SELECT id FROM hanbeon.queue)"
        found += len(await run_sql(store, sql))
    return found


async def test_they_go_with_all_that_is_theirs_when_their_jobs_are_gone(desk: Desk) -> None:
    async with Web(reply(204)) as web:
        (hook,) = await listen(desk, web)
        await desk.offices.change(desk.id, {"notifications": ["mailto://someone@example.org"]})
        await desk.offices.test_webhook(desk.id, hook)
        await desk.one()
        await desk.kit.run_all()
        await desk.kit.app.enqueue("work")
        await desk.kit.run_all()
        theirs = {queue_of_office(desk.id), f"webhook:{hook}", queue_of_tests(hook)}
        before = await _queues(desk)
        assert theirs < before
        await desk.offices.delete(desk.id)
        await _tidy(desk, 30 * DAY)
        assert await _queues(desk) == before
        await desk.kit.advance(10 * DAY)
        assert await _counted(desk, 30 * DAY) == 0
        await _tidy(desk, 30 * DAY)
        assert await _queues(desk) == before  # Their jobs are kept, and can be looked at.
        await desk.kit.advance(21 * DAY)
        assert await _counted(desk, 30 * DAY) == len(before - {"default"})
        await _tidy(desk, 30 * DAY)
        assert await _queues(desk) == {"default"}
        assert await _counted(desk, 30 * DAY) == 0
        assert await _orphans(desk) == 0
        report = await verify(desk.kit.app.store)
        assert report.sound, report.errors


async def test_a_webhook_that_is_removed_leaves_the_others_alone(desk: Desk) -> None:
    async with Web(reply(410)) as dead, Web(reply(204)) as alive:
        first, second = await listen(desk, dead, alive)
        await desk.one()
        await desk.kit.run_all()  # The first is disabled, and has its queue paused.
        await desk.offices.change(desk.id, {"webhooks": [{"url": f"{alive.url}/hook"}]})
        await desk.kit.run_all()
        await desk.kit.advance(31 * DAY)
        await _tidy(desk, 30 * DAY)
        assert await _queues(desk) == {queue_of_office(desk.id), f"webhook:{second}"}
        heard = len(alive.seen)
        await desk.one()
        await desk.kit.run_all()
        assert len(alive.seen) == heard + 3
        assert first not in str(await desk.offices.get(desk.id))


async def test_one_with_a_job_that_waits_stays_however_old_it_is(desk: Desk) -> None:
    (hook,) = (
        await desk.offices.change(desk.id, {"webhooks": [{"url": "https://example.org", "secret": SECRET}]})
    ).webhooks
    sent = await desk.offices.test_webhook(desk.id, hook.id)  # Nobody has sent it.
    await desk.offices.change(desk.id, {"webhooks": None})
    await desk.kit.advance(90 * DAY)
    assert await _counted(desk, 30 * DAY) == 1
    await _tidy(desk, 30 * DAY)
    assert queue_of_tests(hook.id) in await _queues(desk)
    assert f"webhook:{hook.id}" not in await _queues(desk)
    await desk.kit.run_all()
    assert (await desk.kit.app.job(sent.id).state()).value == "succeeded"  # There was nobody to send it to.


async def test_a_day_passes_at_the_least_and_an_office_made_again_keeps_its_queue(desk: Desk) -> None:
    await desk.offices.delete(desk.id)
    await desk.kit.advance(DAY - 60)
    assert await _counted(desk, 0) == 0
    await _tidy(desk, 0)
    assert queue_of_office(desk.id) in await _queues(desk)
    await desk.offices.create({"name": "again", "sessions": {"default": "work"}}, office_id=desk.id)
    await desk.kit.advance(31 * DAY)
    await _tidy(desk, 0)
    assert queue_of_office(desk.id) in await _queues(desk)
    job = await desk.one()
    await desk.kit.run_all()
    assert await desk.status(job) == ["done"]


async def test_only_their_owners_put_jobs_into_them(desk: Desk) -> None:
    """An instance that remembers a lane of one that is gone would make jobs that nobody sees."""
    for kind in ("office", "webhook", "webhook-test", "notification"):
        with pytest.raises(
            InvalidInput, match=r"belongs to (an office|a webhook|a notification).*use another queue"
        ) as refused:
            await desk.kit.app.enqueue("work", queue=f"{kind}:{desk.id}")
        assert refused.value.field == "queue"
        await desk.kit.app.enqueue("work", queue=f"{kind}:lobby")


async def test_a_job_of_an_office_may_make_others_beside_itself(desk: Desk) -> None:
    ran: list[str] = []

    @desk.kit.app.task
    async def child(ctx: Context) -> None:
        ran.append(ctx.queue)

    @desk.kit.app.task
    async def parent(ctx: Context) -> None:
        await ctx.enqueue(child.call().set(queue=ctx.queue))

    made = await desk.one(handler="parent")
    await desk.kit.run_all()
    assert await desk.status(made) == ["done"]
    assert ran == [queue_of_office(desk.id)]


async def test_nobody_is_waited_for_and_nobody_waits(desk: Desk) -> None:
    """A queue whose row another holds, as a claim does, is passed over and goes the next time."""
    store = desk.kit.app.store
    if not isinstance(store.database, PostgresDatabase):
        pytest.skip("SQLite has one writer at a time")
    await desk.offices.delete(desk.id)
    await desk.kit.advance(31 * DAY)
    async with store.database.connection() as connection, connection.transaction():
        await connection.execute("SELECT 1 FROM hanbeon.queue FOR NO KEY UPDATE")
        async with asyncio.timeout(60):
            await _tidy(desk, 30 * DAY)
        assert queue_of_office(desk.id) in await _queues(desk)
    await _tidy(desk, 30 * DAY)
    assert queue_of_office(desk.id) not in await _queues(desk)
