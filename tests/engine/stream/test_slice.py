"""A stream task from its creation to its end, over a real Valkey and a real worker."""

from __future__ import annotations

import json

from hanbeon import App, State
from tests.databases.valkey import ValkeyServer
from tests.engine.stream.kit import working


async def test_stream_task_is_done_by_a_worker(streaming: App, valkey: ValkeyServer) -> None:
    thumb = streaming.tasks.get("thumb")
    async with streaming.worker(), working(valkey.url, concurrency=5):
        jobs = [await streaming.enqueue(thumb.call(n=n, fail=n == 3)) for n in range(5)]
        records = [await job.wait(60) for job in jobs]
    ends = [State.SUCCEEDED] * 3 + [State.FAILED, State.SUCCEEDED]
    assert [record.state for record in records] == ends
    assert json.loads(records[1].result or "") == {"n": 1, "fail": False}
    assert json.loads(records[1].progress or "")["progress"] == 100
    assert (records[3].failure_type, records[3].error_message) == ("NO_SPACE", "the disk is full")
    assert all(record.fence == 1 and record.dispatched_at and record.started_at for record in records)
    assert [event.type for event in await streaming.events_after() if event.job_id == jobs[0].id] == [
        "enqueued",
        "dispatched",
        "claimed",
        "succeeded",
    ]
