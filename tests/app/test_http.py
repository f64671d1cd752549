"""HTTP tasks with the engine: what it makes of answers, and what the server sees of jobs."""

import asyncio

import pytest

from hanbeon import App, State
from hanbeon.domain.lifecycle import AttemptStatus
from hanbeon.domain.log import LogLine
from hanbeon.testing import TestKit
from tests.outbound.web import Web, begun, endless, job_headers, json_reply, reply, silence


async def test_an_answer_is_the_result_of_the_job(kit: TestKit) -> None:
    async with Web(json_reply('{"n": 7}')) as web:
        ping = kit.app.http("ping", f"{web.url}/{{args.place}}", allow_private=True, params={"place": "string"})
        job = await kit.app.enqueue(ping.call(place="here"))
        by_name = await kit.app.enqueue("ping", {"place": "there"})
        assert await kit.tick() == 2
        assert [await job.result(20), await by_name.result(20)] == [{"n": 7}] * 2
        assert sorted(seen.target for seen in web.seen) == ["/here", "/there"]
        record = await job.record()
        assert (record.state, record.timeout_us) == (State.SUCCEEDED, 60_000_000)


async def test_the_next_attempt_comes_when_the_server_asked_for_it(kit: TestKit) -> None:
    replies = [
        reply(429, "slow down", {"Retry-After": "300"}),
        reply(503, headers={"Retry-After": "1"}),
        json_reply("1"),
    ]
    async with Web(*replies) as web:
        ping = kit.app.http("ping", web.url, allow_private=True, retries=3, retry_delay=10)
        job = await kit.app.enqueue(ping)
        began = kit.clock.now_us()
        assert await kit.tick() == 1
        record = await job.record()
        assert (record.state, record.retry_count) == (State.PENDING, 1), "it burns a retry as any failure"
        assert record.run_at == began + 300_000_000, "not the 10 s of the task"
        await kit.advance(299)
        assert await kit.tick() == 0
        await kit.advance(1)
        assert await kit.tick() == 1
        assert (await job.record()).run_at == began + 320_000_000, (
            "the 20 s of the task are later than the second asked for"
        )
        await kit.run_all()
        assert await job.result(20) == 1
    attempts = await job.attempts()
    assert [(each.status, each.failure_type) for each in attempts] == [
        (AttemptStatus.FAILED, "temporary"),
        (AttemptStatus.FAILED, "temporary"),
        (AttemptStatus.COMPLETED, None),
    ]
    assert attempts[0].message == f"POST {web.url}/ answered 429 Too Many Requests: slow down"
    facts = [job_headers(seen) for seen in web.seen]
    assert {each["idempotency-key"] for each in facts} == {job.id}
    assert [each["hanbeon-fence"] for each in facts] == ["1", "2", "3"]
    assert len({each["hanbeon-session-id"] for each in facts}) == 3


async def test_nobody_can_put_a_job_off_for_ever(kit: TestKit) -> None:
    async with Web(reply(503, headers={"Retry-After": "99999999"})) as web:
        job = await kit.app.enqueue(kit.app.http("ping", web.url, allow_private=True))
        began = kit.clock.now_us()
        await kit.tick()
        assert (await job.record()).run_at == began + 3_600_000_000


async def test_the_log_of_a_job_has_what_the_server_said_and_the_way_there(
    kit: TestKit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOOK_TOKEN", "t0k3n")
    said = "line 1\nline 2 for t0k3n\n" + "x" * 20_000
    async with Web(reply(307, headers={"Location": "/b"}), reply(500, said), json_reply("1")) as web:
        own = {"X-Token": "${HOOK_TOKEN}"}
        job = await kit.app.enqueue(kit.app.http("ping", web.url, headers=own, allow_private=True, retries=1))
        await kit.run_all()
        assert await job.result(20) == 1
    lines = [entry for entry in (await job.log()).entries if isinstance(entry, LogLine)]
    assert [(line.attempt, line.stream.value, line.text[:40]) for line in lines] == [
        (1, "engine", f"POST {web.url}/ answered 307 Temporary Redirect; sent on to {web.url}"[:40]),
        (1, "engine", f"POST {web.url}/ answered 500 Internal Server Error:"[:40]),
        (1, "engine", "line 1"),
        (1, "engine", "line 2 for ***"),
        (1, "engine", "x" * 40),
    ]
    assert len(lines[-1].text) < 8_192


async def test_what_is_wrong_for_good_is_not_tried_again(kit: TestKit) -> None:
    async with Web(reply(422, "no such thing", {"Retry-After": "1"})) as web:
        job = await kit.app.enqueue(kit.app.http("ping", web.url, allow_private=True, retries=5))
        assert await kit.run_all() == 1
        record = await job.record()
        assert (record.state, record.failure_type) == (State.FAILED, "invalid")


async def test_a_private_address_fails_the_job_and_nothing_else(kit: TestKit) -> None:
    async with Web(json_reply("1")) as web:
        refused = await kit.app.enqueue(kit.app.http("outside", web.url))
        allowed = await kit.app.enqueue(kit.app.http("inside", web.url, allow_private=True))
        assert await kit.run_all() == 2
        record = await refused.record()
        assert (record.state, record.failure_type) == (State.FAILED, "permission_error")
        assert record.error_message == (
            "127.0.0.1 is refused: a loopback address; if the task may reach it, "
            "say allow_private = true in its http table"
        )
        assert await allowed.result(20) == 1
        assert len(web.peers) == 1


async def test_an_answer_without_end_fails_its_job_and_nothing_else(kit: TestKit) -> None:
    async with Web(endless(), json_reply("1")) as web:
        ping = kit.app.http("ping", web.url, allow_private=True, retries=3)
        flooded = await kit.app.enqueue(ping)
        assert await kit.tick() == 1
        following = await kit.app.enqueue(ping)
        assert await kit.tick() == 1
        record = await flooded.record()
        assert (record.state, record.failure_type) == (State.FAILED, "invalid")
        assert await following.result(20) == 1


async def test_a_timeout_closes_the_connection(kit: TestKit) -> None:
    async with Web(silence) as web:
        job = await kit.app.enqueue(kit.app.http("ping", web.url, allow_private=True, timeout="30s", retries=0))
        await kit.start_ready()
        await web.asked.wait()
        await kit.advance(29)
        assert not web.left.is_set()
        await kit.advance(1)
        async with asyncio.timeout(5):
            await web.left.wait()
        await kit.settle()
        record = await job.record()
        assert (record.state, record.failure_type) == (State.FAILED, "timeout")


async def test_a_cancel_from_outside_closes_the_connection(app: App) -> None:
    said = begun(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n[1")
    async with Web(said) as web, app.worker():
        job = await app.enqueue(app.http("ping", web.url, allow_private=True))
        async with asyncio.timeout(10):
            await web.asked.wait()
            async with App(app.settings.database_url) as elsewhere:
                assert await elsewhere.cancel(job.id) is State.RUNNING
            await web.left.wait()
            assert (await job.wait(10)).state is State.CANCELLED


async def test_a_shutdown_hands_the_job_back(app: App) -> None:
    async with Web(silence, json_reply("1")) as web:
        job = await app.enqueue(app.http("ping", web.url, allow_private=True, retries=0))
        async with app.worker():
            await web.asked.wait()
        async with asyncio.timeout(5):
            await web.left.wait()
        assert [attempt.status for attempt in await job.attempts()] == [AttemptStatus.RELEASED]
        async with app.worker():
            assert await job.result(10) == 1


async def test_more_calls_at_once_than_usual(app: App) -> None:
    async with Web(json_reply("1")) as web:
        ping = app.http("ping", web.url, allow_private=True)
        jobs = await app.enqueue_many([ping.call() for _ in range(100)])
        async with app.worker(concurrency=50):
            assert [await job.result(20) for job in jobs] == [1] * 100
        assert len({job_headers(seen)["idempotency-key"] for seen in web.seen}) == 100
        assert len(web.peers) <= 50
