"""Attempts lost before their body began: they count for nothing under any policy."""

from __future__ import annotations

import pytest

from hanbeon.clock import MICROS
from hanbeon.domain.job import Claimed, JobRecord
from hanbeon.domain.lifecycle import State
from hanbeon.domain.retry import OnLost, RetryPolicy
from hanbeon.store.operations.incarnation import begin_incarnation
from hanbeon.store.operations.lease import Lease
from hanbeon.store.operations.queries import attempts_of, jobs_by_id
from hanbeon.store.tx import Tx
from tests.store.world import LEASE, World

_BASE = 10


async def _lose(world: World, *, begun: bool | None) -> JobRecord:
    """Lose the only job; None: nobody has noted anything."""
    (held,) = await world.claim(1)
    if begun is not None:
        assert await _note(world, held, begun=False)
    if begun:
        assert await _note(world, held, begun=True)
    await world.clock.advance(LEASE + 1)
    (lost,) = await world.recover(10)
    (job,) = await world.store.read(lambda tx: jobs_by_id(tx, [lost.id]))
    return job


async def _note(world: World, held: Claimed, *, begun: bool) -> bool:
    return await world.store.note_begin(Lease(held.seq, held.fence, held.instance), begun=begun)


async def _next(world: World, job: JobRecord) -> float:
    """Advance to the next try; return how long that took."""
    wait = (job.run_at - world.clock.now_us()) / MICROS
    await world.clock.advance(max(0.0, wait))
    await world.promote(10)
    return wait


@pytest.mark.parametrize("on_lost", OnLost)
async def test_loss_before_the_body_began_counts_for_nothing(world: World, on_lost: OnLost) -> None:
    policy = RetryPolicy(max_retries=0, base_us=_BASE * MICROS, on_lost=on_lost)
    job_id = await world.make(policy=policy, timeout_us=1)
    waits = []
    for _ in range(4):
        job = await _lose(world, begun=False)
        assert (job.retry_count, job.failure_type) == (0, None)
        waits.append(await _next(world, job))
    assert waits == [0.0, _BASE, 2 * _BASE, 4 * _BASE]
    attempts = await world.store.read(lambda tx: attempts_of(tx, job_id))
    assert [each.status.value for each in attempts] == ["released"] * 4
    (held,) = await world.claim(1)
    assert await _note(world, held, begun=False)
    assert await _note(world, held, begun=True)
    assert await world.settle(held)


@pytest.mark.parametrize("begun", [True, None], ids=["begun", "unknown"])
async def test_loss_of_a_body_that_may_have_begun_counts(world: World, begun: bool | None) -> None:
    await world.make(policy=RetryPolicy(max_retries=0, on_lost=OnLost.FAIL))
    assert (await _lose(world, begun=begun)).state is State.FAILED


async def test_unbegun_loss_neither_forgives_nor_counts(world: World) -> None:
    """The first loss of a body is forgiven, the second is not, also with other attempts between them."""
    await world.make(policy=RetryPolicy(max_retries=0))
    for begun, expected in [(False, "ready"), (True, "ready"), (False, "ready"), (True, "failed")]:
        job = await _lose(world, begun=begun)
        await _next(world, job) if job.state is State.PENDING else None
        (now,) = await world.store.read(lambda tx, id=job.id: jobs_by_id(tx, [id]))  # type: ignore[misc]
        assert now.state == expected


async def test_restored_database_knows_nothing_of_begins(world: World) -> None:
    """The body may have begun after the backup was taken."""
    await world.make(policy=RetryPolicy(max_retries=0, on_lost=OnLost.FAIL))
    (held,) = await world.claim(1)
    assert await _note(world, held, begun=False)
    await world.store.write(_restore)


async def _restore(tx: Tx) -> None:
    await begin_incarnation(tx)
    (running,) = await tx.fetch("expired", 10)
    assert running["unbegun_fence"] is None


async def test_note_needs_the_lease(world: World) -> None:
    await world.make()
    (held,) = await world.claim(1)
    await world.clock.advance(LEASE + 1)
    assert not await _note(world, held, begun=True)
