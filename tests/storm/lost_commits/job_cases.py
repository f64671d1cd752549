"""Cases of jobs: created, run, moved and forgotten."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from functools import partial
from typing import Any

from hanbeon.domain.actor import acting
from hanbeon.domain.lifecycle import UNFINISHED, Reason, State
from hanbeon.domain.log import LogStream
from hanbeon.domain.log_buffer import LogBuffer
from hanbeon.domain.outcome import HandedBack
from hanbeon.domain.trace_context import of_span, working_for
from hanbeon.errors import WrongState
from hanbeon.job import Job
from hanbeon.store.operations import complete
from hanbeon.store.operations import instances as instance_rows
from hanbeon.store.operations.actions import actions
from hanbeon.store.operations.complete import CompletionReport
from hanbeon.store.operations.expire import expire
from hanbeon.store.operations.lease import Lease, grant_time, note_overdue, renew
from hanbeon.store.operations.logs import LogWrite
from hanbeon.store.operations.queues import declare_queues
from hanbeon.store.operations.traces import keep_traces, traces_of
from hanbeon.tasks.request import JobRequest
from tests.service.raw_sql import run_sql
from tests.storm.lost_commits.scene import LEASE, LEASE_US, Scene
from tests.storm.lost_commits.tasks import EFFECTS

_MOST_TICKS = 12


def _call(scene: Scene, task: str, queue: str, **options: Any) -> JobRequest[object]:
    return scene.app.tasks.get(task).call().set(queue=queue, **options)


async def enqueue_one(scene: Scene) -> None:
    """Alone in a known lane, a job is created by one statement. Nobody but the App knows its id."""
    queue = scene.named("one")
    await scene.app.enqueue("quick", queue=queue)
    with scene.losing():
        await scene.app.enqueue("quick", queue=queue)
    assert len(await scene.jobs(queue)) == 2


async def enqueue_graph(scene: Scene) -> None:
    queue, key = scene.named("graph"), scene.named("key")
    held = await scene.app.enqueue("quick", queue=queue, unique_key=key)
    first = _call(scene, "quick", queue)
    batch = [
        first,
        _call(scene, "quick", queue, after=[first]),
        _call(scene, "quick", queue, unique_key=key, on_conflict="replace_pending"),
    ]
    with scene.losing():
        await scene.surely(lambda: scene.app.enqueue_many(batch))
    assert {job.id for job in await scene.jobs(queue)} == {held.id, *(each.id for each in batch)}
    assert await held.state() is State.CANCELLED


async def enqueue_bulk(scene: Scene) -> None:
    queue = scene.named("bulk")
    batch = [_call(scene, "quick", queue) for _ in range(60)]
    with scene.losing():
        await scene.surely(lambda: scene.app.enqueue_many(batch))
    assert {job.id for job in await scene.jobs(queue)} == {each.id for each in batch}


async def run(scene: Scene) -> None:
    """A worker from its registration to the last of its jobs; none runs twice, and none is taken for lost."""
    queue = scene.named("run")
    first, hopeless = _call(scene, "quick", queue), _call(scene, "broken", queue)
    batch = [
        first,
        _call(scene, "quick", queue, after=[first]),
        hopeless,
        _call(scene, "quick", queue, after=[hopeless], on_dependency_failure="fail"),
        _call(scene, "flaky", queue),
        _call(scene, "parent", queue),
    ]
    await scene.app.enqueue_many(batch)
    await _work(scene, queue)
    states = {job.id: job.state for job in await scene.jobs(queue)}
    assert len(states) == len(batch) + 1, "one child of one parent"
    failed = {job_id for job_id, state in states.items() if state is State.FAILED}
    assert failed == {batch[2].id, batch[3].id}
    assert scene.ran.pop(batch[4].id) == 2
    assert set(scene.ran.values()) == {1}
    assert scene.ran.keys() == states.keys() - {batch[3].id, batch[4].id}


async def run_limited(scene: Scene) -> None:
    queue = scene.named("limited")
    await scene.app.configure_queue(queue, max_concurrent=2)
    await scene.app.enqueue_many([_call(scene, "quick", queue) for _ in range(3)])
    await _work(scene, queue)
    assert set(scene.ran.values()) == {1}


async def run_with_effects(scene: Scene) -> None:
    queue = scene.named("effects")
    async with scene.app.transaction() as tx:
        await tx.execute(EFFECTS)
    job = await scene.app.enqueue("writes", queue=queue)
    await _work(scene, queue)
    assert await job.state() is State.SUCCEEDED
    async with scene.app.transaction() as tx:
        written = [row[0] for row in await tx.fetch("SELECT job_id FROM effects")]
    assert written.count(job.id) == 1


async def run_with_output(scene: Scene) -> None:
    queue = scene.named("output")
    job = await scene.app.enqueue("talks", queue=queue)
    await _work(scene, queue)
    assert await job.state() is State.SUCCEEDED
    last = (await job.attempts())[-1].attempt
    assert await _lines(job, last) == ["hello", "goodbye"]


async def lease_writes(scene: Scene) -> None:
    """The writes of an instance about a job that it holds."""
    job = await scene.app.enqueue("quick", queue=scene.named("lease"))
    (claimed,) = await scene.claim()
    held = Lease(claimed.seq, claimed.fence)
    buffer = LogBuffer(10_000)
    buffer.add(LogStream.STDOUT, b"a line\n", scene.clock.now_us())
    offer = buffer.offer()
    assert offer is not None
    with scene.losing():
        facts = await scene.surely(lambda: scene.store.write(lambda tx: renew(tx, [held], LEASE_US)))
        assert (facts or [set()])[0] == {held.seq}
        assert await scene.surely(lambda: scene.store.write_progress(held, "0.5"))
        assert await scene.surely(lambda: scene.store.write_logs([LogWrite(held, offer)])) == {held}
        assert await scene.surely(lambda: scene.store.write(lambda tx: note_overdue(tx, scene.store.lanes, held)))
        assert await scene.surely(lambda: scene.store.note_begin(held, begun=False))
        assert await scene.surely(lambda: scene.store.note_begin(held, begun=True))
        await scene.surely(lambda: scene.store.write(lambda tx: grant_time(tx, 2 * LEASE_US)))
    assert await _lines(job, claimed.fence) == ["a line"]


async def hand_back(scene: Scene) -> None:
    job = await scene.app.enqueue("quick", queue=scene.named("back"))
    instance = 910_000 + scene.number
    await scene.claim(instance=instance)
    with scene.losing():
        await scene.surely(
            lambda: scene.store.write(lambda tx: complete.hand_back(tx, scene.store.lanes, instance, ["quick"], ()))
        )
    record = await job.record()
    assert (record.state, record.retry_count) == (State.READY, 0)


async def moves(scene: Scene) -> None:
    queue = scene.named("moves")
    batch = [_call(scene, "broken", queue, priority=5), *(_call(scene, "quick", queue) for _ in range(4))]
    stopped, again, *rest = await scene.app.enqueue_many(batch)
    await again.cancel()
    assert [each.id for each in await scene.claim("broken")] == [stopped.id]
    with scene.losing(), acting(scene.named("ada"), "cli", "moves"):
        await scene.surely(stopped.cancel)
        await scene.surely(lambda: scene.app.retry(again), WrongState)
        await scene.surely(lambda: scene.app.reprioritise(again, priority=3))
        await scene.surely(rest[0].cancel)
        await scene.surely(lambda: scene.app.cancel_where(queue=queue, states=["ready"]))
    done = await scene.store.read(lambda tx: actions(tx, None, scene.named("ada"), 10))
    (action,) = done
    assert action.count in (8, 9), "a change of priority that is repeated is another one"
    assert (await stopped.record()).stop_requested_at is not None
    assert (await again.record()).priority == 3
    assert {await each.state() for each in (again, *rest)} == {State.CANCELLED}


async def marked_done(scene: Scene) -> None:
    """Said twice because the answer was lost, it is done once."""
    queue = scene.named("done")
    hopeless = _call(scene, "broken", queue)
    then = _call(scene, "quick", queue, after=[hopeless])
    await scene.app.enqueue_many([hopeless, then])
    await scene.app.cancel(hopeless.id)
    with scene.losing():
        await scene.surely(lambda: scene.app.mark_done(hopeless.id, "found it on paper", result={"pages": 2}))
    assert await scene.app.job(hopeless.id).result() == {"pages": 2}
    assert await scene.app.job(then.id).state() is State.READY
    marked = [event for event in await scene.events() if event.type == Reason.MARKED_DONE]
    assert [event.job_id for event in marked].count(hopeless.id) == 1


async def bulk_retry(scene: Scene) -> None:
    """Many at once, and those with dependencies one by one; a repeat finds none that is left to be moved."""
    queue = scene.named("again")
    first = _call(scene, "quick", queue)
    made = await scene.app.enqueue_many([first, *(_call(scene, "quick", queue, after=[first]) for _ in range(2))])
    await scene.app.cancel_where(queue=queue)
    await scene.clock.advance(1)
    with scene.losing():
        await scene.surely(lambda: scene.app.engine.bulk(action="retry", filter={"queue": queue}))
    states = [await each.state() for each in made]
    assert states == [State.READY, State.PENDING, State.PENDING], states
    requeued = Counter(event.job_id for event in await scene.events() if event.type == Reason.REQUEUED)
    assert [requeued[each.id] for each in made] == [1, 1, 1]


async def traced(scene: Scene) -> None:
    """Contexts are written with their jobs, or later for those that have none: the first one stays."""
    queue = scene.named("traced")
    plain = await (await scene.app.enqueue("quick", queue=queue)).record()
    first, later = (of_span(scene.number, number, 1) for number in (1, 2))
    assert first is not None
    assert later is not None
    with scene.tracing(), scene.losing(), working_for(first):
        one = await scene.app.enqueue("quick", queue=queue)
        batch = [_call(scene, "quick", queue) for _ in range(60)]
        many = await scene.surely(lambda: scene.app.enqueue_many(batch))
        for context in (first, later):
            await scene.surely(partial(scene.store.write, partial(keep_traces, contexts={plain.seq: context.text})))
    seqs = [plain.seq, *[(await each.record()).seq for each in (one, *(many or []))]]
    found = await scene.store.read(lambda tx: traces_of(tx, seqs))
    assert len(found) == len(seqs) == 62
    assert len({found[seq] for seq in seqs[2:]}) == 1, "a batch has one cause"
    assert found[plain.seq] == first.text


async def time_passes(scene: Scene) -> None:
    """Delayed jobs become due, leases of the dead expire, and counts of a caller's transaction are corrected."""
    queue = scene.named("time")
    lost = await scene.app.enqueue("quick", queue=queue)
    await scene.claim()
    delayed = await scene.app.enqueue("quick", queue=queue, delay=LEASE)
    async with scene.app.transaction() as tx:
        await scene.app.enqueue(_call(scene, "quick", queue, after=[delayed]), transaction=tx)
    await scene.clock.advance(LEASE + 1)
    worker = scene.app.worker()
    with scene.losing():
        await scene.surely(worker.recover.run_once)
        await scene.surely(worker.promote.run_once)
        await scene.surely(worker.promote.run_once)
    assert [await each.state() for each in (lost, delayed)] == [State.FAILED, State.READY]


async def upkeep(scene: Scene) -> None:
    queue = scene.named("upkeep")
    await scene.app.enqueue("quick", queue=queue)
    worker = scene.app.worker()
    await worker.tick()
    for _ in range(14):  # A jump would be believed only after a day.
        await scene.clock.advance(2 * 86_400)
        await worker.prune.run_once()
    await scene.clock.advance(3 * 86_400)
    await worker.beat.run_once()
    with scene.losing():
        for _ in range(2):
            await scene.surely(scene.store.number_events)
            await scene.surely(scene.store.fold)
            await scene.surely(worker.prune.run_once)
        await scene.surely(lambda: scene.store.write(lambda tx: instance_rows.drain(tx, worker.instance, on=True)))
        await scene.surely(lambda: scene.store.write(lambda tx: instance_rows.leave(tx, worker.instance)))
        await scene.surely(scene.store.probe_write)
    assert await scene.jobs(queue) == []
    await worker.stop()


async def expiry(scene: Scene) -> None:
    """Jobs that wait and one that runs expire once, whatever is lost; the last one ends when its work has stopped."""
    queue, past = scene.named("expiry"), dt.datetime(2000, 1, 1, tzinfo=dt.UTC)
    running = await scene.app.enqueue("quick", queue=queue)
    (claimed,) = await scene.claim()
    with scene.losing():
        await scene.surely(lambda: scene.app.enqueue(_call(scene, "quick", queue, expires=past, delay=3600)))
    await run_sql(scene.store, "INSERT INTO hanbeon.expiry (job, at) VALUES ($1, 1)", claimed.seq)
    with scene.losing():
        await scene.surely(lambda: scene.store.write(lambda tx: expire(tx, scene.store.lanes, 100)))
    report = CompletionReport(claimed.seq, claimed.fence, HandedBack())
    with scene.losing():
        await scene.surely(lambda: scene.store.complete([report]))
    jobs = await scene.jobs(queue)
    assert {(job.state, job.failure_type) for job in jobs} == {(State.FAILED, "expired")}
    assert (await running.record()).expired_fence == claimed.fence


async def queues(scene: Scene) -> None:
    queue = scene.named("queue")
    with scene.losing():
        await scene.surely(lambda: scene.app.configure_queue(queue, max_concurrent=3))
        await scene.surely(lambda: scene.app.pause(queue))
        await scene.surely(lambda: scene.store.write(lambda tx: declare_queues(tx, {queue: {"max_per_key": 1}})))
    (found,) = [each for each in await scene.app.queues() if each.name == queue]
    assert (found.paused, found.limits.max_concurrent, found.limits.max_per_key) == (True, 3, 1)


async def _lines(job: Job[Any], attempt: int) -> list[str]:
    return [getattr(entry, "text", "…") for entry in (await job.log(attempt=attempt)).entries]


async def _work(scene: Scene, queue: str) -> None:
    """Let a new worker do all there is to do in the queue."""
    worker = scene.app.worker()
    with scene.losing():
        for _ in range(_MOST_TICKS):
            await scene.surely(worker.tick)
            if not [job for job in await scene.jobs(queue) if job.state in UNFINISHED]:
                break
    await worker.stop()
    assert not [job for job in await scene.jobs(queue) if job.state in UNFINISHED]


CASES = [
    *(enqueue_one, enqueue_graph, enqueue_bulk, run, run_limited, run_with_effects, run_with_output),
    *(lease_writes, hand_back, moves, marked_done, bulk_retry, traced, time_passes, upkeep, expiry, queues),
]
