"""Stream tasks in the database: dispatch, and what the replies of their workers do."""

from __future__ import annotations

import json

import pytest

from hanbeon.clock import MICROS
from hanbeon.domain.job import Claimed, OnConflict
from hanbeon.domain.lifecycle import AttemptStatus, State
from hanbeon.domain.limits import check_limits
from hanbeon.domain.outcome import Cancelled, Raised, Returned
from hanbeon.domain.retry import RetryPolicy
from hanbeon.store.operations.dispatches import closing, drop_dispatches, mark_sent, send_again, unsent
from hanbeon.store.operations.queries import attempts_of
from hanbeon.store.operations.stream import Verdict, end_silent
from hanbeon.stream_worker import Request
from hanbeon.tasks.stream_call import StreamCall
from tests.store.stream_words import hear, progress, result, send
from tests.store.world import World, new_id

APPLIED, IGNORED, UNKNOWN = Verdict.APPLIED, Verdict.IGNORED, Verdict.UNKNOWN


async def test_dispatched_job_is_ready_and_not_claimed(world: World) -> None:
    job_id = await world.make(args='{"a":1}')
    (sent,) = await send(world)
    assert (sent.id, sent.fence) == (job_id, 1)
    job = await world.job(job_id)
    assert (job.state, job.fence, job.locked_until, job.started_at) == (State.READY, 1, None, None)
    assert job.dispatched_at is not None
    assert await world.claim(10) == [] == await send(world)
    (row,) = await world.store.read(lambda tx: unsent(tx, 10))
    fields = json.loads(row.body)
    assert (row.stream, row.wire_id, row.fence) == ("thumbs", job_id, 1)
    assert (fields["jobId"], fields["jobType"]) == (job_id, "t")
    assert json.loads(fields["options"]) == {"args": {"a": 1}, "fence": 1}
    assert await world.reasons(job_id) == ["enqueued", "dispatched"]


async def test_dispatched_jobs_take_the_slots_of_their_queue(world: World) -> None:
    ids = [await world.make() for _ in range(4)]
    await world.store.change_queue("default", check_limits({"max_concurrent": 2}))
    assert [job.id for job in await send(world)] == ids[:2]
    assert await send(world) == [] == await world.claim(10)
    assert await hear(world, progress(ids[0], 5)) == [APPLIED]
    assert await send(world) == [], "a running one keeps its slot"
    assert await hear(world, result(ids[0], Returned())) == [APPLIED]
    await world.store.cancel(ids[1])
    assert [job.id for job in await send(world)] == ids[2:]


async def test_first_progress_claims_and_progress_only_grows(world: World) -> None:
    job_id = await world.make(timeout_us=100 * MICROS)
    await send(world)
    assert await hear(world, progress(job_id, 40), progress(job_id, 30), progress(job_id, 40)) == [
        APPLIED,
        IGNORED,
        APPLIED,
    ]
    job = await world.job(job_id)
    assert job.state is State.RUNNING
    assert json.loads(job.progress or "")["progress"] == 40
    assert job.locked_until == job.deadline_at, "the lease defaults to the timeout"
    await world.clock.advance(60)
    assert await hear(world, progress(job_id, 40), lease_us=10 * MICROS) == [APPLIED]
    assert (await world.job(job_id)).locked_until == await now(world) + 10 * MICROS
    await world.clock.advance(9)
    assert await hear(world, progress(job_id, 50), lease_us=90 * MICROS) == [APPLIED]
    assert (await world.job(job_id)).locked_until == job.deadline_at, "and never lasts beyond the deadline"
    assert await world.reasons(job_id) == ["enqueued", "dispatched", "claimed"]


async def test_result_alone_claims_and_completes(world: World) -> None:
    job_id = await world.make()
    await send(world)
    assert await hear(world, result(job_id, Returned("7")), result(job_id, Returned("8"))) == [APPLIED, IGNORED]
    job = await world.job(job_id)
    assert (job.state, job.result, json.loads(job.progress or "")["progress"]) == (State.SUCCEEDED, "7", 100)
    assert [attempt.status for attempt in await world.store.read(lambda tx: attempts_of(tx, job_id))] == [
        AttemptStatus.COMPLETED
    ]
    assert await world.reasons(job_id) == ["enqueued", "dispatched", "claimed", "succeeded"]
    late = [progress(job_id, 99), result(job_id, Raised("late")), result(job_id, Cancelled())]
    assert await hear(world, *late) == [IGNORED] * 3
    assert await world.job(job_id) == job


async def test_stale_and_unmarked_replies_do_not_count(world: World) -> None:
    job_id = await world.make(policy=RetryPolicy(max_retries=1, base_us=0))
    await send(world)
    assert await hear(world, result(job_id, Raised("boom"), fence=1)) == [APPLIED]
    (again,) = await send(world)
    assert again.fence == 2
    stale = [result(job_id, Returned(), fence=1), progress(job_id, 50, fence=1), progress(job_id, 50, fence=3)]
    assert await hear(world, *stale, result(job_id, Returned())) == [IGNORED] * 4, "two attempts were sent"
    assert (await world.job(job_id)).state is State.READY
    assert await hear(world, result(job_id, Returned(), fence=2)) == [APPLIED]
    assert (await world.job(job_id)).state is State.SUCCEEDED


async def test_replies_about_other_jobs_are_unknown(world: World) -> None:
    other = await world.make(task="other")
    held = await world.make()
    (claimed,) = await world.claim(1)
    replies = [result(job_id, Returned()) for job_id in (new_id(), other, held)]
    assert await hear(world, *replies) == [UNKNOWN, UNKNOWN, IGNORED], "a job that runs here is not a worker's"
    assert await world.settle(claimed) is not None


async def test_worker_may_cancel_by_itself(world: World) -> None:
    job_id = await world.make()
    await send(world)
    assert await hear(world, result(job_id, Cancelled())) == [APPLIED]
    assert (await world.job(job_id)).state is State.CANCELLED


async def test_cancel_is_told_and_final_without_an_answer(world: World) -> None:
    waiting, running = await world.make(), await world.make()
    await send(world)
    await hear(world, progress(running, 10))
    assert await world.store.cancel(waiting) is State.CANCELLED
    assert await world.store.cancel(running) is State.RUNNING
    rows = {row.wire_id: row for row in await world.store.read(lambda tx: closing(tx, 10))}
    assert {(each.stop, each.running) for each in rows.values()} == {(True, False), (True, True)}
    assert await world.store.read(lambda tx: unsent(tx, 10)) == [], "what is cancelled is not sent any more"
    await world.store.write(lambda tx: end_silent(tx, world.store.lanes, [rows[running].job]))
    assert (await world.job(running)).state is State.CANCELLED
    assert await hear(world, result(running, Returned()), result(waiting, Returned())) == [IGNORED] * 2
    await world.store.write(lambda tx: drop_dispatches(tx, [row.n for row in rows.values()]))
    assert await world.count("dispatch") == 0


async def test_replaced_job_is_told_to_stop(world: World) -> None:
    await world.make(unique_key="k")
    await send(world)
    await world.make(unique_key="k", on_conflict=OnConflict.REPLACE_PENDING)
    assert [row.stop for row in await world.store.read(lambda tx: closing(tx, 10))] == [True]


async def test_silent_worker_loses_the_attempt_to_the_next(world: World) -> None:
    job_id = await world.make()
    await send(world)
    await hear(world, progress(job_id, 10), lease_us=20 * MICROS)
    await world.clock.advance(21)
    await world.recover(10)
    assert [row.stop for row in await world.store.read(lambda tx: closing(tx, 10))] == [True]
    assert [job.fence for job in await send(world)] == [2], "the first loss is retried, even if no retries are allowed"
    assert await hear(world, result(job_id, Returned(), fence=1)) == [IGNORED]


async def test_reply_after_the_deadline_does_not_count(world: World) -> None:
    job_id = await world.make(timeout_us=20 * MICROS)
    await send(world)
    await hear(world, progress(job_id, 10))
    await world.clock.advance(21)
    assert await hear(world, progress(job_id, 20), result(job_id, Returned())) == [IGNORED] * 2
    await world.recover(10)
    assert (await world.job(job_id)).failure_type == "timeout"


async def test_requests_are_offered_again_in_another_epoch(world: World) -> None:
    ids = [await world.make() for _ in range(3)]
    await send(world)
    rows = await world.store.read(lambda tx: unsent(tx, 10))
    await world.store.write(lambda tx: mark_sent(tx, [row.n for row in rows], "one"))
    await world.store.write(lambda tx: send_again(tx, "one"))
    assert await world.store.read(lambda tx: unsent(tx, 10)) == []
    await hear(world, result(ids[0], Returned()), progress(ids[1], 5))
    await world.store.write(lambda tx: send_again(tx, "two"))
    assert [row.wire_id for row in await world.store.read(lambda tx: unsent(tx, 10))] == ids[1:]


async def test_job_without_a_request_fails_alone(world: World) -> None:
    class Picky(StreamCall, frozen=True):
        def request(self, job: Claimed) -> Request:
            if job.args == '{"bad":1}':
                raise ValueError("there is no such file")
            return super().request(job)

    bad, good = await world.make(args='{"bad":1}'), await world.make()
    assert [job.id for job in await send(world, calls={"t": Picky(name="thumbs")})] == [good]
    job = await world.job(bad)
    assert (job.state, job.failure_type) == (State.FAILED, "invalid")
    assert job.error_message == "ValueError: there is no such file"


@pytest.mark.parametrize("state", [State.FAILED, State.CANCELLED])
async def test_retried_by_hand_it_is_dispatched_again(world: World, state: State) -> None:
    job_id = await world.make()
    await send(world)
    await hear(world, result(job_id, Cancelled() if state is State.CANCELLED else Raised("boom", permanent=True)))
    assert await world.requeue(job_id) is State.READY
    assert [job.fence for job in await send(world)] == [2]


async def now(world: World) -> int:
    return int((await world.sql("SELECT hanbeon.now()"))[0][0])
