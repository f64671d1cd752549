"""Effects once: what a task writes and enqueues is there if and only if its success is."""

from collections.abc import AsyncIterator

import pytest

from hanbeon.domain.job import Claimed
from hanbeon.domain.lifecycle import AttemptStatus, State
from hanbeon.domain.outcome import Raised, Returned
from hanbeon.errors import DatabaseUnavailable, DependencyCycle, UniqueKeyTaken
from hanbeon.store.operations import lease as lease_rows
from hanbeon.store.operations.complete import CompletionReport
from hanbeon.store.operations.lease import renew
from hanbeon.store.operations.queries import attempts_of
from hanbeon.store.user_transaction import UserTransaction
from tests.store.world import LEASE, World, lease_of, new_id, new_job


@pytest.fixture
async def effects(world: World) -> AsyncIterator[World]:
    """A world with a table of the task's own."""
    await world.script("CREATE TABLE IF NOT EXISTS hanbeon.test_effect (job text NOT NULL)")
    await world.script("DELETE FROM hanbeon.test_effect")
    yield world
    await world.script("DROP TABLE hanbeon.test_effect")


async def _write(world: World, transaction: UserTransaction, job_id: str) -> None:
    table = "hanbeon.test_effect" if world.on_postgres else "hanbeon_test_effect"
    await transaction.execute(f"INSERT INTO {table} (job) VALUES ({'$1' if world.on_postgres else '?'})", job_id)
    rows = await transaction.fetch(f"SELECT job FROM {table}")
    assert [row["job"] for row in rows] == [job_id]


def _report(held: Claimed) -> CompletionReport:
    return CompletionReport(held.seq, held.fence, Returned('"done"'))


async def test_writes_are_there_when_the_success_is(effects: World) -> None:
    job_id = await effects.make()
    held = await effects.claim_this(job_id)
    transaction = await effects.store.begin()
    await _write(effects, transaction, job_id)
    settled = await effects.store.complete_within(transaction, _report(held), [])
    assert settled is not None
    assert settled.state is State.SUCCEEDED
    assert await effects.count("test_effect") == 1
    assert (await effects.job(job_id)).result == '"done"'
    assert await effects.reasons(job_id) == ["enqueued", "claimed", "succeeded"]
    await transaction.abandon()
    with pytest.raises(DatabaseUnavailable):
        await effects.store.complete_within(transaction, _report(held), [])


@pytest.mark.parametrize("why", ["stale", "expired", "cancelled", "failed"])
async def test_rejected_success_rolls_back_writes_and_children(effects: World, why: str) -> None:
    job_id = await effects.make()
    held = await effects.claim_this(job_id)
    report = _report(held)
    if why == "stale":
        report = CompletionReport(held.seq, held.fence + 1, Returned())
    elif why == "expired":
        await effects.clock.advance(LEASE)
    elif why == "cancelled":
        await effects.store.cancel(job_id)
    else:
        report = CompletionReport(held.seq, held.fence, Raised("boom"))
    rows = await effects.rows()
    transaction = await effects.store.begin()
    await _write(effects, transaction, job_id)
    assert await effects.store.complete_within(transaction, report, [new_job()]) is None
    assert await effects.store.complete_with_children(report, [new_job()]) is None
    assert await effects.count("test_effect") == 0
    assert await effects.rows() == rows
    assert await effects.state(job_id) is State.RUNNING


async def test_abandoned_transaction_leaves_no_rows_or_locks(effects: World) -> None:
    job_id = await effects.make()
    held = await effects.claim_this(job_id)
    transaction = await effects.store.begin()
    await _write(effects, transaction, job_id)
    await transaction.abandon()
    await transaction.abandon()
    assert await effects.count("test_effect") == 0
    assert await effects.settle(held) is not None
    with pytest.raises(DatabaseUnavailable):
        await transaction.fetch("SELECT 1")


async def test_children_exist_if_and_only_if_the_success_does(effects: World) -> None:
    parent = await effects.make()
    held = await effects.claim_this(parent)
    first = new_job(queue="a queue of its own")
    second = new_job(queue="a queue of its own", depends_on=(first.id,))
    settled = await effects.store.complete_with_children(_report(held), [first, second])
    assert settled is not None
    assert await effects.states([parent, first.id, second.id]) == [State.SUCCEEDED, State.READY, State.PENDING]
    assert [event.job_id for event in (await effects.events())[-3:]] == [parent, first.id, second.id]
    held = await effects.claim_this(first.id)
    transaction = await effects.store.begin()
    third = new_job(queue="another one", task="never seen before")
    assert await effects.store.complete_within(transaction, _report(held), [third]) is not None
    assert await effects.states([first.id, second.id, third.id]) == [State.SUCCEEDED, State.READY, State.READY]


async def test_children_that_cannot_be_made_undo_the_success(effects: World) -> None:
    await effects.make(unique_key="key", delay_us=10**12)
    parent = await effects.make()
    held = await effects.claim_this(parent)
    rows = await effects.rows()
    with pytest.raises(UniqueKeyTaken):
        await effects.store.complete_with_children(_report(held), [new_job(), new_job(unique_key="key")])
    circle = new_id()
    with pytest.raises(DependencyCycle):
        await effects.store.complete_with_children(_report(held), [new_job(id=circle, depends_on=(circle,))])
    transaction = await effects.store.begin()
    await _write(effects, transaction, parent)
    with pytest.raises(UniqueKeyTaken):
        await effects.store.complete_within(transaction, _report(held), [new_job(unique_key="key")])
    assert await effects.rows() == rows
    assert await effects.count("test_effect") == 0
    assert await effects.settle(held) is not None


async def test_ending_the_user_transaction_raises(effects: World) -> None:
    held = await effects.claim_this(await effects.make())
    transaction = await effects.store.begin()
    await transaction.execute("COMMIT")
    with pytest.raises(DatabaseUnavailable, match="leave its end to the engine"):
        await effects.store.complete_within(transaction, _report(held), [])
    assert await effects.state(held.id) is State.RUNNING


async def test_open_transaction_does_not_block_renewal(effects: World) -> None:
    """On SQLite it holds the only write lock, for as long as it may last; the progress then goes through it."""
    held = await effects.claim_this(await effects.make())
    transaction = await effects.store.begin()
    await _write(effects, transaction, held.id)
    assert await effects.store.write_progress(lease_of(held), '"half"', transaction) is True
    if effects.on_postgres:
        assert (await effects.store.write(lambda tx: renew(tx, [lease_of(held)], 1))).renewed == {held.seq}
    assert (await effects.store.read(lambda tx: lease_rows.look(tx, [lease_of(held)]))).lost == set()
    assert await effects.store.complete_within(transaction, _report(held), []) is not None
    assert (await effects.job(held.id)).progress == '"half"'
    assert [attempt.status for attempt in await effects.store.read(lambda tx: attempts_of(tx, held.id))] == [
        AttemptStatus.COMPLETED
    ]


async def test_session_settings_do_not_leak_to_the_next_task(postgres_world: World) -> None:
    for _ in range(2):
        held = await postgres_world.claim_this(await postgres_world.make())
        transaction = await postgres_world.store.begin()
        (row,) = await transaction.fetch(
            "SELECT current_setting('work_mem') AS memory, pg_try_advisory_lock(7) AS free"
        )
        assert (row["memory"], row["free"]) == ("4MB", True)
        await transaction.execute("SET work_mem = '64kB'")
        assert await postgres_world.store.complete_within(transaction, _report(held), []) is not None
