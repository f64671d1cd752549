"""Stream tasks in-process, where no Redis is configured."""

from __future__ import annotations

import asyncio
import json

import pytest

from hanbeon import App, State
from hanbeon.errors import TaskDefinitionError
from hanbeon.stream_worker import Reporter, Request, Result, WorkCancelled, WorkFailed
from tests.storm.moments import until_state


async def work(request: Request, report: Reporter) -> Result:
    await report.progress(60, "drawing", "half of it")
    await report.progress(40, "behind")
    match request.args.get("end"):
        case "fail":
            raise WorkFailed("NO_SPACE", "the disk is full")
        case "cancel":
            raise WorkCancelled
        case "wait":
            await asyncio.sleep(3600)
        case _:
            pass
    return {"resultUri": f"out/{request.fence}", "checksum": "00"}


async def test_worker_function_runs_in_process(app: App) -> None:
    thumb = app.stream("thumb", "thumbs", work=work, retries=0)
    async with app.worker():
        done = await (await app.enqueue(thumb.call(end="well"))).wait(60)
        assert done.state is State.SUCCEEDED
        assert json.loads(done.result or "") == {"resultUri": "out/1", "checksum": "00"}
        assert json.loads(done.progress or "")["progress"] == 60, "progress only grows"
        failed = await (await app.enqueue(thumb.call(end="fail"))).wait(60)
        assert (failed.state, failed.failure_type) == (State.FAILED, "NO_SPACE")
        assert failed.error_message == "the disk is full"
        assert (await (await app.enqueue(thumb.call(end="cancel"))).wait(60)).state is State.CANCELLED
        waiting = await app.enqueue(thumb.call(end="wait"))
        await until_state(app, waiting.id, State.RUNNING)
        await app.cancel(waiting)
        assert (await waiting.wait(60)).state is State.CANCELLED


@pytest.mark.parametrize("stream", ["", "a.b", "a b", "x" * 65])
def test_rejects_invalid_stream_name(stream: str) -> None:
    with pytest.raises(TaskDefinitionError, match=r"stream\.name: must be 1 to 64 letters"):
        App().stream("thumb", stream)
