"""Moves by hand: what they change, who is told, and who made them and why."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from hanbeon import App, Context, State
from hanbeon.domain.actor import acting
from hanbeon.errors import InvalidInput, PayloadTooLarge, WrongState
from hanbeon.service.tokens import create_token
from hanbeon.store.operations.events import events_after
from hanbeon.surfaces.registry import SURFACES
from hanbeon.surfaces.verify import verify
from tests.server.client import Client, serving


def _tasks(app: App) -> None:
    @app.task(retries=0)
    async def explode(code: int = 0) -> None:
        raise ValueError(f"broken pipe {code}")

    @app.task
    async def follow() -> str:
        return "went on"


async def _failed(app: App, client: Client, *after: Any) -> str:
    job = await app.enqueue("explode", after=after)
    await job.wait(30)
    return job.id


async def test_a_job_is_marked_done_over_rest(app: App) -> None:
    _tasks(app)
    async with serving(app, work=True) as client:
        job_id = await _failed(app, client)
        waiting = await app.enqueue("follow", after=[app.job(job_id)])
        path = f"/api/engine/jobs/{job_id}"
        token = await create_token(app.store, "ada", "admin")
        ada, reader = client.of(token.text), client.of((await create_token(app.store, "bo", "read")).text)
        body = {"comment": "Sent it by hand.", "result": {"sent": 3}}
        assert (await reader.post(f"{path}/mark-done", body)).status == 403
        done = await ada.post(f"{path}/mark-done", body)
        assert (done.status, done.json["state"], done.json["result"]) == (200, "succeeded", {"sent": 3})
        assert (done.json["failure_type"], done.json["started_at"]) == (None, None)
        assert await waiting.result(30) == "went on"
        assert await app.job(job_id).result() == {"sent": 3}
        again = await ada.post(f"{path}/mark-done", body)
        assert (again.status, again.json["finished_at"]) == (200, done.json["finished_at"])
        other = await ada.post(f"{path}/mark-done", {"comment": "Another reason."})
        assert (other.status, other.code) == (409, "wrong_state")
        shown = (await ada.get(path)).json
        assert [each["status"] for each in shown["attempts"]] == ["failed"]
        (moment,) = [each for each in shown["timeline"] if each["type"] == "marked_done"]
        assert (moment["user"], moment["comment"]) == ("ada", "Sent it by hand.")
        assert moment["text"] == "marked as done by ada: Sent it by hand."
        (reason,) = (await ada.get(f"{path}/explain")).json["reasons"]
        assert (reason["marked_done_by"], reason["comment"]) == ("ada", "Sent it by hand.")
        acted = (await ada.get("/api/engine/actions")).json["items"]
        assert [(each["user"], each["target"]) for each in acted if each["action"] == "engine.mark_done"] == [
            ("ada", f"{path}/mark-done")
        ] * 2
    await app.store.number_events()
    events = [event for event in await app.store.read(lambda tx: events_after(tx, 0)) if event.type == "marked_done"]
    assert [event.details for event in events] == [{"user": "ada", "comment": "Sent it by hand."}]
    statistics = (await app.statistics())["default"]
    assert (statistics.failed, statistics.succeeded) == (1, 2)
    assert (await verify(app.store, SURFACES)).findings == ()


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "comment"),
        ({"comment": ""}, "comment"),
        ({"comment": "x" * 2_001}, "comment"),
        ({"comment": "a\x00b"}, "comment"),
        ({"comment": 3}, "comment"),
        ({"comment": "x", "results": 1}, "results"),
    ],
)
async def test_bad_requests_name_the_field(app: App, body: Any, field: str) -> None:
    _tasks(app)
    job = await app.enqueue("follow", delay=60)
    await job.cancel()
    async with serving(app) as client:
        refused = await client.post(f"/api/engine/jobs/{job.id}/mark-done", body)
        assert (refused.status, refused.json["field"]) == (422, field)
    assert await job.state() is State.CANCELLED


async def test_the_app_marks_a_job_as_done(app: App) -> None:
    _tasks(app)
    job = await app.enqueue("follow", delay=60)
    with pytest.raises(WrongState):
        await app.mark_done(job, "too early")
    await job.cancel()
    for comment in ("", 3, None, "x" * 2_001):
        with pytest.raises(InvalidInput, match="comment: must be"):
            await app.mark_done(job, comment)  # type: ignore[arg-type]
    with pytest.raises(PayloadTooLarge):
        await app.mark_done(job, "on paper", result="x" * 2_000_000)
    assert await job.state() is State.CANCELLED
    with acting("ada", "cli", "mark-done"):
        await app.mark_done(job, "on paper")
    assert await job.result() is None
    (reason,) = (await app.explain(job)).reasons
    assert reason.text.startswith("It has ended: succeeded. ada marked it as done")


async def test_attempts_read_the_comment_of_a_retry(app: App) -> None:
    """Also attempts that follow by themselves; a retry that says nothing ends it."""
    said: list[tuple[int, str, str | None]] = []

    @app.task(retries=1, retry_delay=0)
    async def build(ctx: Context, target: str = "all") -> None:
        said.append((ctx.attempt, target, ctx.comment))
        if ctx.comment != "skip the tests" or ctx.retry_count == 0:
            raise ValueError("red")

    async with serving(app, work=True) as client:
        job = await app.enqueue("build")
        await job.wait(30)
        path = f"/api/engine/jobs/{job.id}"
        await client.post(f"{path}/retry")
        await job.wait(30)
        for args in ({"target": 3}, {"goal": "docs"}):
            refused = await client.post(f"{path}/retry", {"comment": "x", "args": args})
            assert (refused.status, refused.code) == (422, "arguments_do_not_fit")
        assert (await job.record()).state is State.FAILED
        await client.post(f"{path}/retry", {"comment": "skip the tests", "args": {"target": "docs"}})
        await job.wait(30)
        shown = (await client.get(path)).json
        again = [each for each in shown["timeline"] if each["type"] == "requeued"]
        assert [(each["user"], each["comment"], each["changes"]) for each in again] == [
            ("local", None, None),
            ("local", "skip the tests", {"args": True}),
        ]
        assert again[1]["text"] == "retried by local with other arguments: skip the tests"
    before = [(number, "all", None) for number in (1, 2, 3, 4)]
    assert said == [*before, (5, "docs", "skip the tests"), (6, "docs", "skip the tests")]
    await app.store.number_events()
    events = [event for event in await app.store.read(lambda tx: events_after(tx, 0)) if event.type == "requeued"]
    assert [event.details for event in events] == [
        {"user": "local"},
        {"user": "local", "comment": "skip the tests", "changes": {"args": True}},
    ]
    assert (await verify(app.store, SURFACES)).findings == ()


async def test_a_command_reads_the_comment_of_its_retry(app: App) -> None:
    program = "import os, sys; print(os.environ['HANBEON_COMMENT'], sys.argv[1]); sys.exit(not sys.argv[1])"
    argv = [sys.executable, "-c", program, "{job.comment}"]
    app.command("agent", argv, retries=0, result="text")
    async with serving(app, work=True):
        job = await app.enqueue("agent")
        assert (await job.wait(30)).state is State.FAILED
        with pytest.raises(InvalidInput, match="comment: must be"):
            await app.retry(job, comment="")
        await app.retry(job, comment="use the other branch")
        assert str(await job.result(30)).strip() == "use the other branch use the other branch"
