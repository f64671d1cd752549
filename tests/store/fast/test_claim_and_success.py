"""The fast path of claims and successes writes what the general path writes, or leaves it everything."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import asyncpg
import msgspec
import pytest

from hanbeon.clock import MICROS
from hanbeon.domain.event_groups import decode_events, deltas_of, queues_of
from hanbeon.domain.job import Claimed
from hanbeon.domain.lifecycle import State
from hanbeon.domain.outcome import Returned
from hanbeon.domain.tally import Delta, tally
from hanbeon.store.database.postgres import PostgresDatabase
from hanbeon.store.dialect import Postgres
from hanbeon.store.fast.lane_claim import LONGEST_TEXT
from hanbeon.store.fast.path import Ended, FastPath
from hanbeon.store.operations.claim import ClaimAnswer, ClaimRequest, LanePosition
from hanbeon.store.operations.complete import CompletionReport
from hanbeon.store.rows import Row
from hanbeon.store.statements import statement
from hanbeon.store.tx import JOBS_A_SECOND
from tests.store.world import INSTANCE, LEASE_US, World, new_job

_OWN = ("seq", "id")
_WAITING = """
SELECT count(*) FROM pg_locks AS l JOIN pg_database AS d ON d.oid = l.database
WHERE l.locktype = 'advisory' AND NOT l.granted AND d.datname = current_database()
"""


def _fast(world: World) -> FastPath:
    fast = world.store.fast
    assert fast is not None
    fast._refused_until.clear()
    return fast


@pytest.fixture
def fast(world: World) -> FastPath:
    return _fast(world)


@pytest.fixture
def postgres_fast(postgres_world: World) -> FastPath:
    return _fast(postgres_world)


@pytest.fixture
async def somebody(postgres_world: World) -> AsyncIterator[Any]:
    """A connection of somebody else."""
    assert isinstance(postgres_world.store.database, PostgresDatabase)
    connection: Any = await asyncpg.connect(postgres_world.store.database.url)
    yield connection
    await connection.close()


async def _claim(world: World, fast: FastPath, want: int = 10) -> ClaimAnswer | None:
    """Claim from the lane of the tests' jobs, by the fast path."""
    lanes = world.store.lanes
    behind = LanePosition.before_all(lanes.number(new_job().lane))
    return await fast.claim(lanes, ClaimRequest(INSTANCE, ["t"], want, LEASE_US, behind=behind))


async def _claimed(world: World, fast: FastPath, count: int) -> list[Claimed]:
    await world.enqueue(*[new_job() for _ in range(count)])
    answer = await _claim(world, fast)
    assert answer is not None
    return answer.jobs


def _reports(jobs: Sequence[Claimed], result: str = "null") -> list[CompletionReport]:
    return [CompletionReport(job.seq, job.fence, Returned(result), instance=INSTANCE) for job in jobs]


async def _succeed(world: World, fast: FastPath, jobs: Sequence[Claimed], *results: str) -> Ended | None:
    """End the attempts by the fast path."""
    return await fast.succeed(world.store.lanes, jobs, results or ("null",) * len(jobs))


async def test_event_groups_are_derived_once_for_all_readers(
    world: World, fast: FastPath, monkeypatch: pytest.MonkeyPatch
) -> None:
    derived: list[int] = []

    def counted(body: str, at: int) -> dict[str, Delta]:
        derived.append(at)
        return deltas_of(body, at)

    monkeypatch.setattr("hanbeon.store.operations.tallies.deltas_of", counted)
    jobs = await _claimed(world, fast, 3)
    for _ in range(2):
        assert (await world.counts())[State.RUNNING] == 3
    assert len(derived) == 1
    assert await _succeed(world, fast, jobs)
    for _ in range(2):
        assert (await world.counts())[State.SUCCEEDED] == 3
        assert (await world.statistics(None, MICROS))["default"].succeeded == 3
    assert len(derived) == 2
    await world.fold()
    derived.clear()
    assert (await world.counts())[State.SUCCEEDED] == 3
    assert derived == []
    assert world.store.unfolded._groups == {}


async def _rows(world: World) -> list[dict[str, Any]]:
    """All that the database has of the jobs, without what tells them from each other."""
    rows = await world.sql("SELECT * FROM hanbeon.job ORDER BY seq")
    names = rows[0].names if isinstance(rows[0], Row) else list(rows[0].keys())
    return [{name: row[name] for name in names if name not in _OWN} for row in rows]


async def _events(world: World) -> list[bytes]:
    """The last event of each job, likewise."""
    last = {event.job_id: msgspec.structs.replace(event, id=0, job_id="") for event in await world.events()}
    return [msgspec.json.encode(event) for event in last.values()]


@pytest.mark.parametrize("result", ["null", '"\\u0000☃"'])
async def test_batches_write_what_the_general_path_writes(world: World, fast: FastPath, result: str) -> None:
    await world.enqueue(*[new_job(args='{"x":1}', timeout_us=7_000_000, priority=3) for _ in range(4)])
    general, quick = await world.claim(2), await _claim(world, fast)
    assert quick is not None
    assert {msgspec.structs.replace(job, seq=0, id="") for job in (*general, *quick.jobs)} == {
        msgspec.structs.replace(general[0], seq=0, id="")
    }
    assert len({(job.seq, job.id) for job in (*general, *quick.jobs)}) == 4
    rows = await _rows(world)
    assert rows[:2] == rows[2:]
    assert len(set(await _events(world))) == 1
    await world.clock.advance(1.5)
    assert len(await world.store.complete(_reports(general, result))) == 2
    assert await _succeed(world, fast, quick.jobs, result, result) is not None
    rows = await _rows(world)
    assert rows[:2] == rows[2:]
    assert rows[0]["result"] == result
    assert len(set(await _events(world))) == 1
    await world.check_tallies()
    await world.fold()
    await world.check_tallies()


async def test_batches_keep_the_order_and_the_place(world: World, fast: FastPath) -> None:
    late, soon, first = new_job(priority=1), new_job(), new_job(urgent=True)
    await world.enqueue(late, soon, first)
    answer = await _claim(world, fast, 2)
    assert answer is not None
    assert [job.id for job in answer.jobs] == [first.id, soon.id]
    assert answer.more
    assert answer.place == LanePosition(answer.jobs[1].lane, 0, answer.jobs[1].seq)
    claimed = [event.job_id for event in await world.events() if event.type == "claimed"]
    assert claimed == [first.id, soon.id]


async def test_batches_write_different_results(world: World, fast: FastPath) -> None:
    jobs = await _claimed(world, fast, 3)
    assert await _succeed(world, fast, jobs, "1", '"2"', "null")
    assert [(await world.job(job.id)).result for job in jobs] == ["1", '"2"', "null"]


@pytest.mark.parametrize("closed", ["paused", "limited"])
async def test_claim_leaves_closed_queues_alone(world: World, fast: FastPath, closed: str) -> None:
    await world.enqueue(new_job())
    await world.script(f"UPDATE hanbeon.queue SET {closed} = true")
    assert await _claim(world, fast) is None
    assert await world.count("event_batch") == 1


async def test_restored_databases_are_left_alone(postgres_world: World, postgres_fast: FastPath) -> None:
    """The general path refuses them, as SQLite does before any statement."""
    world = postgres_world
    jobs = await _claimed(world, postgres_fast, 1)
    await world.enqueue(new_job())
    kept = (await world.sql("SELECT id FROM hanbeon.incarnation"))[0][0]
    await world.script("UPDATE hanbeon.incarnation SET id = 'restored'")
    assert await _claim(world, postgres_fast) is None
    assert await _succeed(world, postgres_fast, jobs) is None
    await world.script(f"UPDATE hanbeon.incarnation SET id = '{kept}'")
    assert await world.count("event_batch") == 3


@pytest.mark.parametrize(
    "changed",
    [
        "SET fence = 2",
        "SET instance = 8",
        "SET stop_requested_at = 1",
        "SET locked_until = hanbeon.now()",
        "SET state = 'ready', locked_until = NULL",
    ],
)
async def test_success_of_all_or_of_none(world: World, fast: FastPath, changed: str) -> None:
    jobs = await _claimed(world, fast, 3)
    await world.script(f"UPDATE hanbeon.job {changed} WHERE seq = {jobs[1].seq}")
    before = await _rows(world)
    batches = await world.count("event_batch")
    assert await _succeed(world, fast, jobs) is None
    assert await _rows(world) == before
    assert await world.count("event_batch") == batches


async def test_success_waits_for_no_lock(postgres_world: World, postgres_fast: FastPath, somebody: Any) -> None:
    jobs = await _claimed(postgres_world, postgres_fast, 2)
    async with somebody.transaction():
        await somebody.execute("SELECT FROM hanbeon.job ORDER BY seq LIMIT 1 FOR SHARE")
        assert await _succeed(postgres_world, postgres_fast, jobs) is None


async def test_success_frees_dependents_by_the_general_path(postgres_world: World, postgres_fast: FastPath) -> None:
    world = postgres_world
    jobs = await _claimed(world, postgres_fast, 2)
    dependent = new_job(depends_on=(jobs[0].id,))
    await world.enqueue(dependent)
    assert await _succeed(world, postgres_fast, jobs) is None
    assert len(await world.store.complete(_reports(jobs))) == 2
    assert await world.state(dependent.id) is State.READY


async def test_success_frees_dependents_on_sqlite(sqlite_world: World) -> None:
    """Nobody else writes meanwhile: the batch counts down what waits for its jobs, and wakes workers."""
    world, fast = sqlite_world, _fast(sqlite_world)
    jobs = await _claimed(world, fast, 2)
    dependent, other = new_job(depends_on=(jobs[0].id,)), new_job(depends_on=(jobs[0].id, jobs[1].id))
    later = new_job(depends_on=(jobs[1].id,), delay_us=9_000_000)
    await world.enqueue(dependent, other, later)
    done = await _succeed(world, fast, jobs[:1])
    assert done is not None
    assert "job" in done.hints
    assert (await world.state(dependent.id), await world.state(other.id)) == (State.READY, State.PENDING)
    done = await _succeed(world, fast, jobs[1:])
    assert done is not None
    assert {"job", "later"} <= set(done.hints)
    assert (await world.state(other.id), await world.state(later.id)) == (State.READY, State.PENDING)
    assert [event.job_id for event in await world.events() if event.type == "promoted"] == [dependent.id, other.id]
    await world.check_tallies()
    await world.fold()
    await world.check_tallies()


async def test_success_on_sqlite_leaves_many_dependents(sqlite_world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than may be written unannounced: nothing of the batch stays, and the general path announces them."""
    world, fast = sqlite_world, _fast(sqlite_world)
    jobs = await _claimed(world, fast, 1)
    dependents = [new_job(depends_on=(jobs[0].id,)) for _ in range(3)]
    await world.enqueue(*dependents)
    monkeypatch.setattr("hanbeon.store.tx.LONG_SECONDS", 2 / JOBS_A_SECOND)
    assert await _succeed(world, fast, jobs) is None
    assert await world.state(jobs[0].id) is State.RUNNING
    assert len(await world.store.complete(_reports(jobs))) == 1
    assert [await world.state(each.id) for each in dependents] == [State.READY] * 3


async def test_success_sees_edges_committed_meanwhile(
    postgres_world: World, postgres_fast: FastPath, somebody: Any
) -> None:
    """The statement has begun, and waits before it locks its row, while a dependent is added and committed."""
    world = postgres_world
    (job,) = await _claimed(world, postgres_fast, 1)
    text = statement("succeed_batch", Postgres)
    text = text.replace("WITH free", "WITH held AS MATERIALIZED (SELECT pg_advisory_xact_lock(7)), free", 1)
    text = text.replace("WHERE k.seq", "WHERE (SELECT count(*) FROM held) = 1 AND k.seq", 1)
    incarnation = world.store.incarnation
    await somebody.execute("SELECT pg_advisory_lock(7)")
    assert isinstance(world.store.database, PostgresDatabase)
    other: Any = await asyncpg.connect(world.store.database.url)
    try:
        ending = asyncio.create_task(other.fetch(text, [job.seq], 1, INSTANCE, "null", None, "{}", incarnation))
        while not await somebody.fetchval(_WAITING):  # noqa: ASYNC110 - the server tells nobody
            await asyncio.sleep(0.01)
        await world.enqueue(new_job(depends_on=(job.id,)))
        await somebody.execute("SELECT pg_advisory_unlock(7)")
        assert await ending == []
    finally:
        await other.close()
    assert await world.state(job.id) is State.RUNNING


async def test_sqlite_batches_leave_long_arguments(world: World, fast: FastPath) -> None:
    """All of a batch is one value there, which must not become too large."""
    if isinstance(world.store.database, PostgresDatabase):
        pytest.skip("it has no such limit")
    long = new_job(args=msgspec.json.encode({"x": "y" * LONGEST_TEXT}).decode())
    await world.enqueue(new_job(), long)
    assert await _claim(world, fast) is None
    assert [job.args for job in await world.claim(2)][1] == long.args


async def test_refused_lanes_rest_for_a_while(postgres_world: World, postgres_fast: FastPath) -> None:
    """A lane of a graph would be refused each time, and every try costs a round trip."""
    world, fast = postgres_world, postgres_fast
    jobs = await _claimed(world, fast, 2)
    await world.enqueue(new_job(depends_on=(jobs[0].id,)))
    assert await _succeed(world, fast, jobs) is None
    assert await _succeed(world, fast, jobs[1:]) is None
    await world.clock.advance(1.5)
    assert await _succeed(world, fast, jobs[1:]) is not None


async def test_success_ends_no_job_twice(world: World, fast: FastPath) -> None:
    (job,) = await _claimed(world, fast, 1)
    assert await _succeed(world, fast, [job, job]) is None
    assert await _succeed(world, fast, [job]) is not None
    assert await _succeed(world, fast, [job]) is None


def test_deltas_of_event_groups_are_those_of_their_events() -> None:
    body = (
        '{"groups":[{"type":"claimed","queue":"a","task":"t","state":"running","details":{"instance":1},'
        '"jobs":[["x",1,5],["y",2,30]]},'
        '{"type":"succeeded","queue":"b","task":"t","state":"succeeded","jobs":[["z",1,7]]}]}'
    )
    events = decode_events(body, 20)
    assert [(event.job_id, event.attempt, event.took, event.at) for event in events] == [
        ("x", 1, 15, 20),
        ("y", 2, 0, 20),
        ("z", 1, 13, 20),
    ]
    assert events[0].was is State.READY
    assert events[0].details == {"instance": 1}
    assert deltas_of(body, 20) == tally(events)
    assert queues_of(body) == {"a", "b"}
    assert (deltas_of("[]", 20), queues_of("[]")) == ({}, set())
