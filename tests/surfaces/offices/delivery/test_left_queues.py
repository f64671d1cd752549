"""Queues of deleted offices and webhooks are deleted once nothing of theirs is left; no others ever are."""

from __future__ import annotations

import asyncio
from unittest.mock import AsyncMock

import pytest

from hanbeon import Context
from hanbeon.errors import InvalidInput
from hanbeon.store.database.postgres import PostgresDatabase
from hanbeon.store.operations.prune import count_prunable
from hanbeon.surfaces.offices.delivery.rules import queue_of_tests
from hanbeon.surfaces.offices.queue import queue_of_office
from hanbeon.surfaces.offices.webhooks import OfficeWebhooks
from hanbeon.surfaces.verify import verify
from tests.outbound.web import Web, reply
from tests.service.raw_sql import run_sql
from tests.surfaces.offices.delivery.hooks import SECRET, listen
from tests.surfaces.offices.office_kit import OfficeKit

DAY = 86_400.0
THEIRS = ("lane", "tally", "timing", "queue_batch")


async def _queues(office: OfficeKit) -> set[str]:
    return {each.name for each in await office.kit.app.queues()}


async def _counted(office: OfficeKit, older_than: float) -> int:
    """Return how many of them would go, by the query of `prune --dry-run`."""
    return (
        await office.kit.app.store.read(
            lambda tx: count_prunable(tx, office.kit.app.store.retention, int(older_than * 1_000_000))
        )
    )["queues"]


async def _tidy(office: OfficeKit, older_than: float) -> None:
    """Run the maintenance loops of a worker once."""
    store = office.kit.app.store
    for _ in range(2):  # Events of the pruning are folded before the queues go.
        while await store.prune(int(older_than * 1_000_000), 500):
            pass
        while await store.number_events():
            pass
        while await store.fold():
            pass
    while await store.prune(int(older_than * 1_000_000), 500):
        pass


async def _orphans(office: OfficeKit) -> int:
    """Return the rows of queues that do not exist."""
    store, found = office.kit.app.store, 0
    for table in THEIRS:
        sql = f"SELECT queue_id FROM hanbeon.{table} WHERE queue_id NOT IN (SELECT id FROM hanbeon.queue)"
        found += len(await run_sql(store, sql))
    return found


async def test_orphaned_queues_go_once_their_jobs_are_gone(office: OfficeKit) -> None:
    async with Web(reply(204)) as web:
        (hook,) = await listen(office, web)
        await office.offices.change(office.id, notifications=["mailto://someone@example.org"])
        await office.offices.test_webhook(office.id, hook)
        await office.one()
        await office.kit.run_all()
        await office.kit.app.enqueue("work")
        await office.kit.run_all()
        theirs = {queue_of_office(office.id), f"webhook:{hook}", queue_of_tests(hook)}
        before = await _queues(office)
        assert theirs < before
        await office.offices.delete(office.id)
        await _tidy(office, 30 * DAY)
        assert await _queues(office) == before
        await office.kit.advance(10 * DAY)
        assert await _counted(office, 30 * DAY) == 0
        await _tidy(office, 30 * DAY)
        assert await _queues(office) == before  # Their jobs are kept, and can be read.
        await office.kit.advance(21 * DAY)
        assert await _counted(office, 30 * DAY) == len(before - {"default"})
        await _tidy(office, 30 * DAY)
        assert await _queues(office) == {"default"}
        assert await _counted(office, 30 * DAY) == 0
        assert await _orphans(office) == 0
        report = await verify(office.kit.app.store)
        assert report.sound, report.errors


async def test_a_webhook_that_is_removed_leaves_the_others_alone(office: OfficeKit) -> None:
    async with Web(reply(410)) as dead, Web(reply(204)) as alive:
        first, second = await listen(office, dead, alive)
        await office.one()
        await office.kit.run_all()  # The first is disabled, and has its queue paused.
        await office.offices.change(office.id, webhooks=[{"url": f"{alive.url}/hook"}])
        await office.kit.run_all()
        await office.kit.advance(31 * DAY)
        await _tidy(office, 30 * DAY)
        assert await _queues(office) == {queue_of_office(office.id), f"webhook:{second}"}
        heard = len(alive.seen)
        await office.one()
        await office.kit.run_all()
        assert len(alive.seen) == heard + 3
        assert first not in str(await office.offices.get(office.id))


async def test_one_with_a_job_that_waits_stays_however_old_it_is(
    office: OfficeKit, monkeypatch: pytest.MonkeyPatch
) -> None:
    (hook,) = (
        await office.offices.change(office.id, webhooks=[{"url": "https://example.org", "secret": SECRET}])
    ).webhooks
    sent = await office.offices.test_webhook(office.id, hook.id)  # Nobody has sent it.
    # As if the server died between the removal and the cancel of what waits.
    monkeypatch.setattr(OfficeWebhooks, "_cancel_deliveries", AsyncMock())
    await office.offices.change(office.id, webhooks=None)
    await office.kit.advance(90 * DAY)
    assert await _counted(office, 30 * DAY) == 1
    await _tidy(office, 30 * DAY)
    assert queue_of_tests(hook.id) in await _queues(office)
    assert f"webhook:{hook.id}" not in await _queues(office)
    await office.kit.run_all()
    assert (await office.kit.app.job(sent.id).state()).value == "succeeded"  # There was no receiver.


async def test_orphaned_queue_stays_a_day_and_for_a_recreated_office(office: OfficeKit) -> None:
    await office.offices.delete(office.id)
    await office.kit.advance(DAY - 60)
    assert await _counted(office, 0) == 0
    await _tidy(office, 0)
    assert queue_of_office(office.id) in await _queues(office)
    await office.offices.create(name="again", sessions={"default": "work"}, new_id=lambda _: office.id)
    await office.kit.advance(31 * DAY)
    await _tidy(office, 0)
    assert queue_of_office(office.id) in await _queues(office)
    job = await office.one()
    await office.kit.run_all()
    assert await office.status(job) == ["done"]


async def test_only_their_owners_put_jobs_into_them(office: OfficeKit) -> None:
    """An instance that caches a lane of a deleted queue would create jobs that nobody sees."""
    for kind in ("office", "webhook", "webhook-test", "notification"):
        with pytest.raises(
            InvalidInput, match=r"belongs to (an office|a webhook|a notification).*use another queue"
        ) as refused:
            await office.kit.app.enqueue("work", queue=f"{kind}:{office.id}")
        assert refused.value.field == "queue"
        await office.kit.app.enqueue("work", queue=f"{kind}:lobby")


async def test_a_job_of_an_office_may_make_others_beside_itself(office: OfficeKit) -> None:
    ran: list[str] = []

    @office.kit.app.task
    async def child(ctx: Context) -> None:
        ran.append(ctx.queue)

    @office.kit.app.task
    async def parent(ctx: Context) -> None:
        await ctx.enqueue(child.call().set(queue=ctx.queue))

    made = await office.one(handler="parent")
    await office.kit.run_all()
    assert await office.status(made) == ["done"]
    assert ran == [queue_of_office(office.id)]


async def test_nobody_is_waited_for_and_nobody_waits(office: OfficeKit) -> None:
    """A queue whose row is locked, as by a claim, is skipped and goes the next time."""
    store = office.kit.app.store
    if not isinstance(store.database, PostgresDatabase):
        pytest.skip("SQLite has one writer at a time")
    await office.offices.delete(office.id)
    await office.kit.advance(31 * DAY)
    async with store.database.connection() as connection, connection.transaction():
        await connection.execute("SELECT 1 FROM hanbeon.queue FOR NO KEY UPDATE")
        async with asyncio.timeout(60):
            await _tidy(office, 30 * DAY)
        assert queue_of_office(office.id) in await _queues(office)
    await _tidy(office, 30 * DAY)
    assert queue_of_office(office.id) not in await _queues(office)
