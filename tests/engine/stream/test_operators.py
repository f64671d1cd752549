"""Stream tasks for operators: waiting jobs, dead letters."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hanbeon import App, State
from hanbeon.domain.actor import acting
from hanbeon.errors import DatabaseUnavailable, NotFound, RedisUnavailable
from tests.databases.faults import lossy
from tests.databases.valkey import ValkeyServer
from tests.engine.stream.kit import RESULTS, connected, working
from tests.storm.moments import until


async def _reason(app: App, job_id: str, code: str) -> str | None:
    (reason,) = (await app.explain(job_id)).reasons
    return reason.text if reason.code == code else None


async def test_job_says_that_no_worker_is_there(streaming: App, valkey: ValkeyServer) -> None:
    async with streaming.worker():
        job = await streaming.enqueue("thumb", {})
        text = await until("the reason", lambda: _reason(streaming, job.id, "no_stream_worker"))
        assert "no worker reads" in text
        detail = await streaming.engine.job(job.id)
        assert (detail.state, detail.waiting) == (State.READY, text)
        assert [moment.type for moment in detail.timeline] == ["created", "dispatched"]
        async with working(valkey.url):
            await job.wait(60)
        assert (await streaming.engine.job(job.id)).waiting is None
        valkey.kill()
        other = await streaming.enqueue("thumb", {})
        await until("the reason", lambda: _reason(streaming, other.id, "redis_unavailable"))


async def test_dead_letters_are_put_back_and_dropped(streaming_here: App, valkey: ValkeyServer) -> None:
    app = streaming_here

    async def letters() -> list[Any] | None:
        found = (await app.engine.deadletters()).items
        return found if len(found) == 3 else None

    async with app.worker(), connected(valkey.url) as redis:
        job = await app.enqueue("thumb", {})
        await until("the request", lambda: _sent(redis))
        for n in range(2):
            await redis.xadd(RESULTS, {"jobId": job.id, "status": "DONE", "errorMessage": f"한번 {n}"})
        # A message that a later release understands, or that an operator mended.
        letter = {"stream": RESULTS, "id": "1-1", "reason": "by hand"}
        payload = json.dumps({"jobId": job.id, "status": "SUCCEEDED", "resultUri": "out/1"})
        await redis.xadd("thumbs.deadletter", {**letter, "payload": payload})
        found = await until("three letters", letters)
        page = await app.engine.deadletters(limit=2)
        assert [each.id for each in page.items] == [each.id for each in found[:2]]
        rest = await app.engine.deadletters(cursor=page.next_cursor, limit=2)
        assert [each.id for each in rest.items] == [found[2].id]
        (mended,) = [each for each in found if each.reason == "by hand"]
        broken = [each for each in found if each is not mended]
        assert all("status must be one of" in each.reason and each.payload["jobId"] == job.id for each in broken)
        assert (await app.engine.republish_deadletter(mended.id)).id == mended.id
        assert (await job.wait(60)).state is State.SUCCEEDED
        assert await app.engine.drop_deadletter(broken[0].id) == broken[0]
        assert [each.id for each in (await app.engine.deadletters()).items] == [broken[1].id]
        for gone in (mended.id, "thumbs:0-0", "nothing", "x:1-1", "thumbs:one-two", "job:1-1"):
            with pytest.raises(NotFound):
                await app.engine.republish_deadletter(gone)
        valkey.kill()
        with pytest.raises(RedisUnavailable):
            await app.engine.deadletters()


async def test_dead_letter_is_moved_only_with_its_record(sqlite_url: str, valkey: ValkeyServer) -> None:
    async with lossy(sqlite_url, redis_url=valkey.url) as (app, faults, _), connected(valkey.url) as redis:
        app.stream("thumb", "thumbs")
        async with app.worker():
            await app.enqueue("thumb", {})
            await until("the request", lambda: _sent(redis))
            # Letters are looked for in the streams that a worker has noted, which it does after its first request.
            early = await redis.xadd("thumbs.deadletter", {"stream": RESULTS, "id": "1-1", "payload": "{}"})
            await until("the stream is known", lambda: _listed(app))
            await redis.xdel("thumbs.deadletter", early)
        for move in (app.engine.republish_deadletter, app.engine.drop_deadletter):
            payload = json.dumps({"jobId": "x", "status": "SUCCEEDED"})
            await redis.xadd("thumbs.deadletter", {"stream": RESULTS, "id": "1-1", "payload": payload})
            (letter,) = (await app.engine.deadletters()).items
            with acting("ada", "rest", move.__name__):
                faults.before()
                with pytest.raises(DatabaseUnavailable):
                    await move(letter.id)
                assert (await app.engine.deadletters()).items == [letter]
                await move(letter.id)
                with pytest.raises(NotFound):
                    await move(letter.id)
        assert (await app.engine.deadletters()).items == []
        recorded = [(each.user, each.action) for each in (await app.engine.actions()).items]
        assert recorded == [("ada", "drop_deadletter"), ("ada", "republish_deadletter")]


async def _listed(app: App) -> bool | None:
    return bool((await app.engine.deadletters()).items) or None


async def _sent(redis: Any) -> bool | None:
    return bool(await redis.xlen("thumbs.requests")) or None


async def test_without_redis_there_are_no_dead_letters(app: App) -> None:
    assert (await app.engine.deadletters()).items == []
    with pytest.raises(NotFound):
        await app.engine.drop_deadletter("thumbs:1-1")
