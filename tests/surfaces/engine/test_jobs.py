"""Operators find, show and move every job over REST, on both stores."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from hanbeon import App
from hanbeon.domain.job import JobRecord
from hanbeon.store.operations import job_search
from hanbeon.surfaces.surface import JobPlace, load
from hanbeon.surfaces.verify import verify
from tests.server.client import Client, serving


@pytest.fixture
async def engine(app: App) -> AsyncIterator[Client]:
    @app.task(queue="mail", role="BE", priority=3, retries=1)
    async def send(to: str) -> str:
        return f"sent to {to}"

    @app.task(retries=0)
    async def explode(code: int = 0) -> None:
        raise ValueError(f"broken pipe {code}")

    async with serving(app) as client:
        yield client


async def _ids(engine: Client, query: str) -> list[str]:
    page = (await engine.get(f"/api/engine/jobs?{query}")).json
    return [job["id"] for job in page["items"]]


async def test_jobs_are_found_by_every_filter(app: App, engine: Client) -> None:
    first = await app.enqueue("send", {"to": "Ada@Example.org"}, unique_key="ada", concurrency_key="mx1")
    second = await app.enqueue("explode", queue="other", idempotency_key="key-2")
    third = await app.enqueue("send", {"to": "bob"}, queue="other", role="FE")
    await app.cancel(third)
    newest = [third.id, second.id, first.id]
    assert await _ids(engine, "") == newest
    for query, found in {
        "state=ready": [second.id, first.id],
        "state=ready,cancelled": newest,
        "state=cancelled": [third.id],
        "queue=mail": [first.id],
        "queue=other&state=ready": [second.id],
        "task=send": [third.id, first.id],
        "role=FE": [third.id],
        "key=mx1": [first.id],
        "key=ada": [first.id],
        "key=key-2": [second.id],
        f"id={first.id}": [first.id],
        f"id={first.id[:8]}&task=explode": [second.id] if second.id[:8] == first.id[:8] else [],
        "id=ffffffff": [],
        "id=0193-": [],
        "text=ada@example": [first.id],
        "failure_type=error": [],
        "created_after=2020-01-01T00:00:00Z": newest,
        "created_before=2020-01-01T00:00:00Z": [],
        "created_after=2999-01-01T00:00:00Z": [],
    }.items():
        assert await _ids(engine, query) == found, query
    page = (await engine.get("/api/engine/jobs?limit=2")).json
    rest = (await engine.get(f"/api/engine/jobs?limit=2&cursor={page['next_cursor']}")).json
    assert [job["id"] for job in page["items"] + rest["items"]] == newest
    assert rest["next_cursor"] is None


async def test_own_moment_is_a_filter_even_unescaped(app: App, engine: Client) -> None:
    """Its `+` is a space in a query, and nobody escapes what the API itself has written."""
    job = await app.enqueue("send", {"to": "Ada"})
    created_at = (await engine.get(f"/api/engine/jobs/{job.id}")).json["created_at"]
    assert "+09:00" in created_at
    assert await _ids(engine, f"created_before={created_at}") == []
    assert await _ids(engine, f"created_after={created_at}") == [job.id]


async def test_page_looks_at_a_bounded_number_of_jobs(
    app: App, engine: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_search, "LOOKED_AT_MOST", 3)
    wanted = await app.enqueue("send", {"to": "Ada"})
    await app.enqueue_many([app.tasks.get("send").call(to=str(number)) for number in range(7)])
    cursor, pages, found = "", 0, []
    while True:
        page = (await engine.get(f"/api/engine/jobs?text=ada{cursor}")).json
        found += [job["id"] for job in page["items"]]
        pages += 1
        if page["next_cursor"] is None:
            break
        cursor = f"&cursor={page['next_cursor']}"
    assert found == [wanted.id]
    assert pages == 3, "three, three and two jobs"


async def test_beginning_of_many_ids_is_searched_page_by_page(
    app: App, engine: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ids begin with the time: those of one week have the same beginning."""
    monkeypatch.setattr(job_search, "LOOKED_AT_MOST", 3)
    jobs = await app.enqueue_many([app.tasks.get("send").call(to=str(number)) for number in range(8)])
    beginning, found = jobs[0].id[:6], []
    query = f"id={beginning}"
    while query:
        page = (await engine.get(f"/api/engine/jobs?{query}")).json
        found += [job["id"] for job in page["items"]]
        query = page["next_cursor"] and f"id={beginning}&cursor={page['next_cursor']}"
    assert found == [job.id for job in reversed(jobs) if job.id.startswith(beginning)]
    for wrong in (f"id={beginning}&cursor=3", f"cursor={jobs[0].id}"):
        refused = await engine.get(f"/api/engine/jobs?{wrong}")
        assert (refused.status, refused.json["field"]) == (422, "cursor"), wrong


async def test_pages_are_bounded_in_bytes(app: App, engine: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hanbeon.store.operations.pages.PAGE_BYTES", 2_500)
    large = [await app.enqueue("send", {"to": "x" * 1_000}) for _ in range(5)]
    page = (await engine.get("/api/engine/jobs")).json
    assert [job["id"] for job in page["items"]] == [large[4].id, large[3].id]
    rest = (await engine.get(f"/api/engine/jobs?cursor={page['next_cursor']}")).json
    assert [job["id"] for job in rest["items"]] == [large[2].id, large[1].id]


async def test_job_is_shown_whole(app: App, engine: Client) -> None:
    first = await app.enqueue("explode", {"code": 7})
    behind = await app.enqueue("send", {"to": "x"}, queue="default", depends_on=[first.id])
    async with app.worker():
        await first.wait(60)
    shown = (await engine.get(f"/api/engine/jobs/{first.id}")).json
    assert (shown["state"], shown["failure_type"], shown["args"]) == ("failed", "error", {"code": 7})
    (attempt,) = shown["attempts"]
    assert (attempt["attempt"], attempt["status"]) == (1, "failed")
    assert attempt["instance"]
    assert [moment["type"] for moment in shown["timeline"]] == ["created", "started", "failed", "failed"]
    assert shown["dependents"] == [{"id": behind.id, "task": "send", "state": "pending"}]
    assert (await engine.get(f"/api/engine/jobs/{behind.id}")).json["depends_on"][0]["id"] == first.id
    reasons = (await engine.get(f"/api/engine/jobs/{behind.id}/explain")).json["reasons"]
    assert reasons[0]["code"] == "blocked"
    assert (await engine.get(f"/api/engine/jobs/{first.id}/log")).json["entries"] == []
    assert (await engine.get(f"/api/engine/jobs/{'0' * 8}-0000-0000-0000-{'0' * 12}")).status == 404


async def test_jobs_are_moved(app: App, engine: Client) -> None:
    job = await app.enqueue("send", {"to": "a"})
    changed = await engine.ask("PATCH", f"/api/engine/jobs/{job.id}/priority", {"priority": -5, "urgent": True})
    assert (changed.json["priority"], changed.json["urgent"]) == (-5, True)
    cancelled = await engine.post(f"/api/engine/jobs/{job.id}/cancel")
    assert (cancelled.status, cancelled.json["state"]) == (200, "cancelled")
    again = await engine.post(f"/api/engine/jobs/{job.id}/retry")
    assert (again.status, again.json["state"]) == (200, "ready")
    wrong = await engine.post(f"/api/engine/jobs/{job.id}/retry")
    assert (wrong.status, wrong.code) == (409, "wrong_state")


async def test_surface_may_refuse_a_move(app: App, engine: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def place(job: JobRecord) -> JobPlace:
        return JobPlace(f"/api/chains/{job.priority}", moves=False)

    other = next(each for each in App.surfaces if each.job_place is not None)
    monkeypatch.setattr(str(other.job_place).replace(":", "."), place)
    job = await app.enqueue("send", {"to": "a"})
    shown = (await engine.get(f"/api/engine/jobs/{job.id}")).json
    assert (shown["surface"], shown["path"]) == (other.name, "/api/chains/3")
    for method, path, body in (
        ("POST", "cancel", None),
        ("POST", "retry", None),
        ("POST", "mark-done", {"comment": "on paper"}),
        ("PATCH", "priority", {"priority": 1}),
    ):
        refused = await engine.ask(method, f"/api/engine/jobs/{job.id}/{path}", body)
        assert (refused.status, refused.code) == (409, "moved_elsewhere")
        assert (refused.json["job_id"], refused.json["path"]) == (job.id, "/api/chains/3")
        assert "/api/chains/3" in refused.json["detail"]
    filter = {"action": "cancel", "filter": {}}
    assert (await engine.post("/api/engine/jobs/bulk", filter)).json["done"] == 0
    assert (await app.job(job.id).record()).state == "ready"


async def test_task_is_not_enqueued_for_a_role_it_does_not_serve(app: App, engine: Client) -> None:
    @app.task(roles=["FE", "BE"])
    async def build() -> None: ...

    refused = await engine.post("/api/engine/jobs", {"task": "build", "role": "QA"})
    assert (refused.status, refused.code, refused.json["field"]) == (422, "invalid", "role")
    made = await engine.post("/api/engine/jobs", {"task": "build", "role": "FE"})
    assert (made.status, made.json["role"]) == (201, "FE")
    copied = await engine.post("/api/engine/jobs", {"copy_of": made.json["id"], "role": "QA"})
    assert (copied.status, copied.json["field"]) == (422, "role")


def _reserved(owner_id: str) -> list[str]:
    """One queue of each kind that the surfaces reserve."""
    found = [load(reference) for surface in App.surfaces for reference in surface.queues]
    assert found
    return [each if isinstance(each, str) else each(owner_id) for each in found]


async def test_registered_tasks_are_enqueued(app: App, engine: Client) -> None:
    made = await engine.post("/api/engine/jobs", {"task": "send", "args": {"to": "a"}}, Idempotency_Key="k")
    assert (made.status, made.json["queue"], made.json["role"], made.json["priority"]) == (201, "mail", "BE", 3)
    assert made.json["max_retries"] == 1
    repeat = await engine.post("/api/engine/jobs", {"task": "send", "args": {"to": "a"}}, Idempotency_Key="k")
    assert repeat.json == made.json
    copy = await engine.post(
        "/api/engine/jobs", {"copy_of": made.json["id"], "args": {"to": "b"}, "queue": "other", "delay": 3600}
    )
    assert (copy.json["args"], copy.json["queue"], copy.json["role"]) == ({"to": "b"}, "other", "BE")
    assert copy.json["state"] == "pending"
    for body, field in (
        ({"task": "send", "args": {"too": "a"}}, "args"),
        ({"task": "sned"}, "task"),
        ({"task": "nothing"}, "task"),
        ({}, "task"),
        ({"task": "hanbeon.webhook"}, "task"),
        ({"copy_of": made.json["id"], "task": "explode"}, "task"),
        *(({"task": "send", "args": {"to": "a"}, "queue": queue}, "queue") for queue in _reserved(made.json["id"])),
    ):
        refused = await engine.post("/api/engine/jobs", body)
        assert refused.status == 422, body
        assert field in str(refused.json["field"]), refused.json
    assert len(await app.jobs()) == 2


async def test_bulk_moves_what_matches(app: App, engine: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hanbeon.surfaces.engine.schemas.BULK_MOST", 4)
    sent = await app.enqueue_many([app.tasks.get("send").call(to=str(number)) for number in range(10)])
    kept = await app.enqueue("explode")
    body: dict[str, Any] = {"action": "cancel", "filter": {"task": "send"}, "dry_run": True}
    dry = await engine.post("/api/engine/jobs/bulk", body)
    assert (dry.json["matched"], dry.json["done"], dry.json["more"]) == (4, 0, True)
    body["dry_run"] = False
    answers = [(await engine.post("/api/engine/jobs/bulk", body)).json for _ in range(3)]
    assert [(each["done"], each["more"]) for each in answers] == [(4, True), (4, True), (2, False)]
    assert sorted(job_id for each in answers for job_id in each["ids"]) == sorted(job.id for job in sent)
    assert {record.state.value for record in await app.jobs(task="send")} == {"cancelled"}
    assert (await kept.record()).state == "ready"
    retried = await engine.post("/api/engine/jobs/bulk", {"action": "retry", "filter": {"text": '"to":"3"'}})
    assert retried.json == {"matched": 1, "done": 1, "more": False, "next_cursor": None, "ids": [sent[3].id]}
    await app.cancel_where(task="send")
    held = [await app.enqueue("explode", unique_key=f"key-{number}") for number in range(4)]
    await app.cancel_where(task="explode", states=["ready"])
    for number in range(4):
        await app.enqueue("send", {"to": "holder"}, unique_key=f"key-{number}")
    body = {"action": "retry", "filter": {"state": ["cancelled"]}}
    rest: list[Any] = []
    while not rest or rest[-1]["more"]:
        rest.append((await engine.post("/api/engine/jobs/bulk", body)).json)
        assert len(rest) < 10, "those that cannot be retried keep the others from their turn"
    assert sum(each["done"] for each in rest) == 11
    assert {(await each.record()).state for each in held} == {"cancelled"}
    wrong = await engine.post("/api/engine/jobs/bulk", {"action": "retry", "filter": {"state": ["ready"]}})
    assert (wrong.status, wrong.json["field"]) == (422, "filter.state")


async def test_filter_takes_one_state_or_several(app: App, engine: Client) -> None:
    ready, cancelled = [await app.enqueue("send", {"to": each}) for each in "ab"]
    await cancelled.cancel()
    for state in ("cancelled", ["cancelled"], ["cancelled", "failed"]):
        body = {"action": "retry", "filter": {"state": state}, "dry_run": True}
        assert (await engine.post("/api/engine/jobs/bulk", body)).json["matched"] == 1, state
        assert [each.id for each in (await app.engine.jobs(state=state)).items] == [cancelled.id]
    assert [each["id"] for each in (await engine.get("/api/engine/jobs?state=ready")).json["items"]] == [ready.id]
    for wrong in ("done", "cancelled,failed", 1):
        refused = await engine.post("/api/engine/jobs/bulk", {"action": "retry", "filter": {"state": wrong}})
        assert (refused.status, refused.json["field"]) == (422, "filter.state"), refused.json


async def test_bulk_retry_moves_each_job_once(app: App, engine: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those that fail again at once, and if every request is sent twice, as after a lost answer."""
    monkeypatch.setattr("hanbeon.surfaces.engine.schemas.BULK_MOST", 7)
    explode = app.tasks.get("explode")
    jobs = await app.enqueue_many([explode.call(code=number) for number in range(20)])
    behind = await app.enqueue_many(
        [explode.call(code=n).set(depends_on=[job.id], on_dependency_failure="fail") for n, job in enumerate(jobs[:5])]
    )
    body: dict[str, Any] = {"action": "retry", "filter": {"task": "explode"}}
    done = 0
    async with app.worker():
        await _all_ended(app)
        while True:
            answers = []
            for _ in range(2 if "cursor" in body else 1):
                answers.append((await engine.post("/api/engine/jobs/bulk", body)).json)
                done += answers[-1]["done"]
                await _all_ended(app, "ready", "running")  # Others may wait for one whose turn comes later.
            if not answers[-1]["more"]:
                break
            body["cursor"] = answers[0]["next_cursor"]
        await _all_ended(app)
    assert done == 25
    details = [(await engine.get(f"/api/engine/jobs/{job.id}")).json for job in (*jobs, *behind)]
    assert [len(job["attempts"]) for job in details] == [2] * 20 + [0] * 5
    assert {job["state"] for job in details} == {"failed"}
    assert (await verify(app.store)).findings == ()


async def _all_ended(app: App, *states: str) -> None:
    for _ in range(1_200):
        if not await app.jobs(states=states or ("pending", "ready", "running"), limit=1):
            return
        await asyncio.sleep(0.05)
    pytest.fail("some jobs did not end")
