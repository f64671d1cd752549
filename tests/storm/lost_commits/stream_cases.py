"""Cases of stream tasks: sent to workers, heard of, stopped and cleared away. Redis is not part of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from hanbeon.domain.job import Claimed
from hanbeon.domain.lifecycle import State
from hanbeon.domain.outcome import Raised, Returned
from hanbeon.job import Job
from hanbeon.store.operations import dispatches
from hanbeon.store.operations.claim import ClaimRequest
from hanbeon.store.operations.stream import Reply, StreamProgress, apply_replies, dispatch, end_silent
from hanbeon.store.tx import Tx
from hanbeon.stream_worker import Request
from hanbeon.tasks.stream_call import StreamCall
from tests.storm.lost_commits.scene import LEASE_US, Scene

_INSTANCE = 920_000


class _Picky(StreamCall, frozen=True):
    """Cannot describe the jobs of one task."""

    def request(self, job: Claimed) -> Request:
        if job.task == "broken":
            raise ValueError("there is no such file")
        return super().request(job)


_CALLS = dict.fromkeys(("quick", "flaky", "broken"), _Picky(name="thumbs"))
_CLAIM = ClaimRequest(_INSTANCE, sorted(_CALLS), 10, LEASE_US)


async def stream_dispatch(scene: Scene) -> None:
    """A job is sent once, ends once, and leaves no request behind."""
    store, queue = scene.store, scene.named("stream")
    tasks = ("quick", "quick", "flaky", "broken")
    done, stopped, again, bad = [await scene.app.enqueue(task, queue=queue) for task in tasks]

    async def surely(operation: Callable[[Tx], Awaitable[Any]]) -> Any:
        return await scene.surely(lambda: store.write(operation))

    async def hear(*replies: Reply) -> None:
        await surely(lambda tx: apply_replies(tx, store.lanes, replies, dict.fromkeys(_CALLS), _INSTANCE))

    with scene.losing():
        await surely(lambda tx: dispatch(tx, store.lanes, _CLAIM, _CALLS))
        sent = await _unsent(scene)
        assert sorted(sent.values()) == sorted([(done.id, 1), (stopped.id, 1), (again.id, 1)])
        await surely(lambda tx: dispatches.mark_sent(tx, list(sent), "one"))
        assert await _unsent(scene) == {}
        await surely(lambda tx: dispatches.send_again(tx, "two"))
        assert await _unsent(scene) == sent, "another Redis gets them all"
        await surely(lambda tx: dispatches.mark_sent(tx, list(sent), "two"))
        await hear(*(Reply(job.id, 1, StreamProgress(40)) for job in (done, stopped, again)))
        await hear(Reply(done.id, 1, outcome=Returned("7")), Reply(again.id, 1, outcome=Raised("the first time")))
        await scene.surely(stopped.cancel)
        closing = await _closing(scene)
        (asked,) = [row for row in closing if row.stop]
        await surely(lambda tx: dispatches.put_off(tx, {asked.n: asked.now}))
        await surely(lambda tx: end_silent(tx, store.lanes, [asked.job]))
        await surely(lambda tx: dispatches.drop_dispatches(tx, [row.n for row in closing]))
        await surely(lambda tx: dispatches.write_status(tx, "thumbs", 3, 1))
        await surely(lambda tx: dispatches.note_failure(tx, "thumbs", "refused"))
    assert [await job.state() for job in (done, stopped, bad)] == [State.SUCCEEDED, State.CANCELLED, State.FAILED]
    assert [await _types(scene, job) for job in (done, stopped, bad)] == [
        ["enqueued", "dispatched", "claimed", "succeeded"],
        ["enqueued", "dispatched", "claimed", "stop_requested", "stopped"],
        ["enqueued", "dispatched", "claimed", "failed"],
    ]
    assert [len(await job.attempts()) for job in (done, stopped, again, bad)] == [1, 1, 1, 1]
    assert (await again.record()).retry_count == 1
    assert await _closing(scene) == []
    (status,) = await store.read(dispatches.statuses)
    assert (status.name, status.workers, status.deadletters, status.error) == ("thumbs", 3, 1, "refused")


async def _unsent(scene: Scene) -> dict[int, tuple[str, int]]:
    """The requests to send: job and fence by number."""
    return {row.n: (row.wire_id, row.fence) for row in await scene.store.read(lambda tx: dispatches.unsent(tx, 100))}


async def _closing(scene: Scene) -> list[dispatches.Closing]:
    return await scene.store.read(lambda tx: dispatches.closing(tx, 100))


async def _types(scene: Scene, job: Job[Any]) -> list[str]:
    return [event.type for event in await scene.events() if event.job_id == job.id]


CASES = [stream_dispatch]
