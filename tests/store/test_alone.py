"""The fast path for a single job writes the same rows as the general path."""

from typing import Any

import msgspec
import pytest

from hanbeon.domain.job import NewJob, OnConflict, OnDependencyFailure
from hanbeon.domain.lifecycle import State
from hanbeon.domain.retry import Backoff, RetryPolicy
from hanbeon.errors import IdAlreadyUsed, UniqueKeyTaken
from hanbeon.store.fast.single import is_simple
from hanbeon.store.operations import enqueue as enqueues
from hanbeon.store.tx import Tx
from tests.store.world import World, new_id, new_job

PLAIN: dict[str, Any] = {}
FULL: dict[str, Any] = {
    "args": '{"a":"☃ \\"at\\":0"}',
    "urgent": True,
    "priority": -7,
    "role": "r",
    "concurrency_key": "k",
    "timeout_us": 5,
    "policy": RetryPolicy(max_retries=9, backoff=Backoff.LINEAR),
    "work_item": "w",
    "meta": "{}",
    "on_dependency_failure": OnDependencyFailure.FAIL,
    "on_conflict": OnConflict.SKIP,
}


async def rows(world: World, job_id: str) -> list[dict[str, Any]]:
    """All that the database has of a job, without what tells it from its twin."""

    async def read(tx: Tx) -> list[dict[str, Any]]:
        found = await tx.fetch("jobs_by_id", f'["{job_id}"]')
        return [{name: value for name, value in dict(row).items() if name not in ("seq", "id")} for row in found]

    return await world.store.read(read)


@pytest.mark.parametrize("given", [PLAIN, FULL], ids=["plain", "full"])
async def test_both_paths_write_the_same(postgres_world: World, given: dict[str, Any]) -> None:
    world = postgres_world
    first = new_job(**given)
    await world.enqueue(first)  # Creates the lane, by the general path.
    quick, long = (msgspec.structs.replace(first, id=new_id()) for _ in range(2))
    assert is_simple(quick)
    (made,) = await world.enqueue(quick)
    assert (made.id, made.state, made.created) == (quick.id, State.READY, True)
    await world.store.write(lambda tx: enqueues.enqueue(tx, world.store.lanes, [long]))
    assert await rows(world, quick.id) == await rows(world, long.id) != []
    events = [(await world.events(job.id))[0] for job in (quick, long)]
    assert len({msgspec.json.encode(msgspec.structs.replace(event, id=0, job_id="")) for event in events}) == 1
    assert await world.claim_ids(10) == [first.id, quick.id, long.id]


@pytest.mark.parametrize(
    "given",
    [
        {"delay_us": 1},
        {"run_at_us": 1},
        {"depends_on": (new_id(),)},
        {"unique_key": "u", "on_conflict": OnConflict.REPLACE_PENDING},
    ],
)
def test_other_jobs_take_the_general_path(given: dict[str, Any]) -> None:
    assert not is_simple(NewJob(id=new_id(), task="t", **given))


async def test_a_key_that_is_taken_makes_nothing(postgres_world: World) -> None:
    world = postgres_world
    job = new_job(unique_key="u", idempotency_key="i")
    await world.enqueue(job)
    before = await world.rows()
    assert await world.enqueue(job) == [enqueues.Enqueued(job.id, State.READY, False)]
    with pytest.raises(UniqueKeyTaken):
        await world.enqueue(new_job(unique_key="u"))
    with pytest.raises(IdAlreadyUsed):
        await world.enqueue(new_job(idempotency_key="i", args='{"other":1}'))
    assert await world.rows() == before
