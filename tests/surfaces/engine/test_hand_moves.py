"""Moves by hand: what they change, who is told, and who made them and why."""

from __future__ import annotations

from typing import Any

import pytest

from hanbeon import App, State
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
