"""Schedules over HTTP: the paths, names and statuses that clients rely on."""

import asyncio
import datetime as dt
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import quote

import pytest

from hanbeon import App
from tests.server.client import Client, Response, serving

SCHEDULE = {
    *(
        "id",
        "name",
        "task_id",
        "cron",
        "every",
        "run_at",
        "timezone",
        "args",
        "overlap",
        "misfire",
        "misfire_limit",
        "jitter",
    ),
    *(
        "starts_at",
        "ends_at",
        "dst_gap",
        "dst_fold",
        "paused",
        "next_fire_at",
        "last_fire_at",
        "last_status",
        "last_execution_id",
        "waiting",
        "declared",
    ),
    "overridden",
    *("version", "created_by", "created_at", "changed_at"),
}
EXECUTION = {
    *("execution_id", "task_id", "type", "status", "scheduled_at", "started_at", "ended_at", "retry_count", "instance"),
    *("locked_until", "error_code", "error_message", "result", "schedule_id", "created_at", "progress"),
    "requested_by",
}
NOBODY = "01890000-0000-7000-8000-00000000dead"


def _add_tasks(app: App) -> None:
    @app.task
    async def report(day: str = "") -> str:
        return day

    @app.task
    async def wait() -> None:
        await asyncio.Event().wait()

    @app.task(retries=0)
    async def fail() -> None:
        raise ValueError("broken")


@pytest.fixture
async def known(app: App, server: Client) -> Client:
    """A client of a server without a worker, where tasks are known."""
    _add_tasks(app)
    return server


@pytest.fixture
async def working(app: App) -> AsyncIterator[Client]:
    _add_tasks(app)
    async with serving(app, work=True) as client:
        yield client


def _problem(response: Response, status: int, code: str, field: str | None = None) -> str:
    assert (response.status, response.code, response.json["field"]) == (status, code, field), response
    return str(response.json["detail"])


async def _make(client: Client, **body: Any) -> Response:
    made = await client.post("/api/schedules", {"task_id": "report", "cron": "0 9 * * MON-FRI"} | body)
    assert made.status == 201, made
    return made


async def _ended(client: Client, execution: dict[str, Any], status: str) -> dict[str, Any]:
    async with asyncio.timeout(30):
        while (found := (await client.get(f"/api/executions/{execution['execution_id']}")).json)["status"] != status:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    return dict(found)


async def test_schedule_create_read_update_pause_resume_delete(known: Client) -> None:
    made = await _make(known, name="daily", args={"day": "monday"}, timezone="Europe/Berlin")
    path = made.headers["location"]
    assert made.json.keys() == SCHEDULE
    assert (path, made.headers["etag"]) == (f"/api/schedules/{made.json['id']}", '"1"')
    assert (await known.get(path)).json == made.json
    assert (made.json["overlap"], made.json["misfire"], made.json["created_by"]) == ("skip", "coalesce", "local")
    changed = await known.ask("PATCH", path, {"cron": "*/5 * * * *"}, If_Match='"1"')
    assert (changed.status, changed.json["cron"], changed.headers["etag"]) == (200, "*/5 * * * *", '"2"')
    assert changed.json["args"] == {"day": "monday"}
    _problem(await known.ask("PATCH", path, {"cron": "* * * * *"}, If_Match='"1"'), 412, "changed")
    paused = await known.post(f"{path}/pause")
    assert (paused.status, paused.json["paused"], paused.json["next_fire_at"]) == (200, True, None)
    resumed = await known.post(f"{path}/resume")
    assert (resumed.status, resumed.json["paused"], resumed.json["next_fire_at"] is None) == (200, False, False)
    _problem(await known.ask("DELETE", path, If_Match='"1"'), 412, "changed")
    gone = await known.ask("DELETE", path, If_Match=resumed.headers["etag"])
    assert (gone.status, gone.body) == (204, b"")
    for method, at in (("GET", ""), ("PATCH", ""), ("DELETE", ""), ("POST", "/pause"), ("GET", "/fires")):
        body: dict[str, Any] | None = {} if method == "PATCH" else None
        _problem(await known.ask(method, path + at, body), 404, "schedule_not_found")


async def test_schedules_are_listed_by_page_task_name_and_pause(known: Client) -> None:
    ids = [(await _make(known, name=f"s{n}", paused=n == 1)).json["id"] for n in range(3)]
    ids.append((await _make(known, task_id="wait")).json["id"])
    page = (await known.get("/api/schedules?limit=3")).json
    assert [each["id"] for each in page["items"]] == ids[:3]
    rest = (await known.get(f"/api/schedules?limit=3&cursor={page['next_cursor']}")).json
    assert ([each["id"] for each in rest["items"]], rest["next_cursor"]) == (ids[3:], None)
    for query, found in (("task_id=wait", ids[3:]), ("name=s1", ids[1:2]), ("paused=true", ids[1:2]), ("name=x", [])):
        assert [each["id"] for each in (await known.get(f"/api/schedules?{query}")).json["items"]] == found, query
    assert len((await known.get("/api/schedules?paused=false")).json["items"]) == 3
    assert (await known.get("/api/schedules?task_id=wait&paused=true")).json["items"] == []
    _problem(
        await known.post("/api/schedules", {"task_id": "wait", "cron": "@daily", "name": "s1"}),
        409,
        "schedule_name_taken",
    )


async def test_previews_say_when_and_what_the_clocks_do(known: Client) -> None:
    asked = {"cron": "30 2 * * *", "timezone": "Europe/Berlin", "from": "2027-03-27T00:00:00+01:00", "n": 2}
    fires = (await known.post("/api/schedules/preview", asked)).json["fires"]
    assert fires[0] == {"at": "2027-03-27T02:30:00.000+01:00"}
    assert fires[1]["at"] == "2027-03-28T03:00:00.000+02:00"
    assert "does not exist" in fires[1]["note"]
    path = (await _make(known, cron="0 9 * * *")).headers["location"]
    fires = (await known.get(f"{path}/preview?n=3")).json["fires"]
    assert [fire["at"][10:] for fire in fires] == ["T09:00:00.000+09:00"] * 3
    assert (await known.get("/api/schedules")).json["items"][0]["id"] in path


async def test_instant_fires_once_and_is_in_the_history(working: Client) -> None:
    assert (await working.get("/healthz")).status == 200  # It has begun, and the instant is still to come.
    soon = (dt.datetime.now(dt.UTC) + dt.timedelta(seconds=5)).isoformat()
    path = (await _make(working, cron=None, run_at=soon, args={"day": "today"})).headers["location"]
    async with asyncio.timeout(30):
        while not (fires := (await working.get(f"{path}/fires")).json["items"]):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    (fire,) = fires
    assert (fire["outcome"], fire["reason"], fire["more"]) == ("created", None, 0)
    done = await _ended(working, fire, "SUCCESS")
    assert (done["type"], done["result"], done["scheduled_at"]) == ("SCHEDULE", "today", fire["fire_at"])
    assert (await working.get(f"{path}/fires?outcome=skipped")).json == {"items": [], "next_cursor": None}
    assert (await working.get(path)).json["next_fire_at"] is None
    listed = (await working.get(f"/api/executions?schedule_id={path.rpartition('/')[2]}")).json["items"]
    assert [each["execution_id"] for each in listed] == [fire["execution_id"]]


async def test_tasks_are_shown_with_who_registered_them(working: Client) -> None:
    async with asyncio.timeout(30):
        while sum(task["live"] for task in (await working.get("/api/tasks")).json["items"]) < 3:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    tasks = (await working.get("/api/tasks")).json["items"]
    assert [(task["task_id"], task["live"]) for task in tasks] == [("fail", 1), ("report", 1), ("wait", 1)]
    shown = (await working.get("/api/tasks/report")).json
    assert (shown["max_retries"], shown["registered_by"] != "") == (3, True)
    page = (await working.get("/api/tasks?limit=2")).json
    assert page["next_cursor"] == "report"
    assert [task["task_id"] for task in (await working.get("/api/tasks?cursor=report")).json["items"]] == ["wait"]
    _problem(await working.get("/api/tasks/nobody"), 404, "task_not_found")


async def test_a_task_is_run_by_hand_once_at_a_time(working: Client) -> None:
    made = await working.post("/api/tasks/wait/executions")
    assert made.status == 201
    assert made.json.keys() == EXECUTION
    assert (made.json["type"], made.json["status"], made.json["schedule_id"]) == ("MANUAL", "PENDING", None)
    assert made.headers["location"] == f"/api/executions/{made.json['execution_id']}"
    running = await _ended(working, made.json, "RUNNING")
    assert running["instance"]
    assert running["locked_until"]
    refused = await working.post("/api/tasks/wait/executions", {})
    assert made.json["execution_id"] in _problem(refused, 409, "execution_unfinished")
    cancelled = await working.post(f"{made.headers['location']}/cancel")
    assert cancelled.status in (200, 202)
    ended = await _ended(working, made.json, "FAILED")
    assert (ended["error_code"], ended["locked_until"]) == ("CANCELLED", None)
    assert (await working.post(f"{made.headers['location']}/cancel")).status == 200
    again = await working.post("/api/tasks/wait/executions")
    assert (again.status, again.json["execution_id"] != made.json["execution_id"]) == (201, True)
    explained = (await working.get(f"{made.headers['location']}/explain")).json
    assert explained["reasons"][0]["status"] == "FAILED"
    assert explained["reasons"][0]["text"].startswith("It has ended: FAILED. It was cancelled while attempt 1 ran")
    _problem(await working.post("/api/tasks/nobody/executions"), 404, "task_not_found")
    _problem(await working.get(f"/api/executions/{NOBODY}"), 404, "execution_not_found")
    _problem(await working.post(f"/api/executions/{NOBODY}/cancel"), 404, "execution_not_found")


async def test_executions_are_listed_by_task_status_type_and_page(working: Client) -> None:
    first = (await working.post("/api/tasks/report/executions", {"args": {"day": "one"}})).json
    await _ended(working, first, "SUCCESS")
    failed = (await working.post("/api/tasks/fail/executions")).json
    assert (await _ended(working, failed, "FAILED"))["error_code"] == "ERROR"
    waiting = (await working.post("/api/tasks/wait/executions")).json
    await _ended(working, waiting, "RUNNING")
    newest = [each["execution_id"] for each in (waiting, failed, first)]

    async def listed(query: str) -> list[str]:
        return [each["execution_id"] for each in (await working.get(f"/api/executions?{query}")).json["items"]]

    assert await listed("") == newest
    assert await listed("status=FAILED") == newest[1:2]
    assert await listed("status=RUNNING&status=SUCCESS") == [newest[0], newest[2]]
    assert await listed("task_id=report&status=SUCCESS") == newest[2:]
    assert await listed("task_id=report&status=FAILED") == []
    assert await listed("type=MANUAL&task_id=wait") == newest[:1]
    assert await listed("type=MANUAL&status=SUCCESS") == newest[2:]
    assert await listed("type=SCHEDULE") == await listed("task_id=nobody") == []
    page = (await working.get("/api/executions?limit=2")).json
    assert await listed(f"cursor={page['next_cursor']}") == newest[2:]
    latest = (await working.post("/api/tasks/fail/executions")).json
    await _ended(working, latest, "FAILED")
    assert await listed("status=FAILED&status=RUNNING&limit=1") == [latest["execution_id"]]
    for query, field in (("status=DONE", "status"), ("type=X", "type"), ("schedule_id=x", "schedule_id")):
        _problem(await working.get(f"/api/executions?{query}"), 422, "invalid", field)


async def test_a_request_that_comes_again_under_its_key_makes_one(known: Client) -> None:
    asked: dict[str, Any] = {"Idempotency_Key": "run-1"}
    first = await known.post("/api/tasks/report/executions", {"args": {"day": "one"}}, **asked)
    again = await known.post("/api/tasks/report/executions", {"args": {"day": "one"}}, **asked)
    assert (first.status, again.status, again.json) == (201, 201, first.json)
    assert len((await known.get("/api/executions")).json["items"]) == 1
    _problem(
        await known.post("/api/tasks/report/executions", {"args": {"day": "two"}}, **asked), 422, "key_already_used"
    )
    body = {"task_id": "report", "cron": "@daily"}
    made = [await known.post("/api/schedules", body, Idempotency_Key="make-1") for _ in range(2)]
    assert made[0].json == made[1].json
    assert len((await known.get("/api/schedules")).json["items"]) == 1


async def test_an_execution_that_no_worker_can_run_says_so(known: Client) -> None:
    made = (await known.post("/api/tasks/report/executions")).json
    explained = (await known.get(f"/api/executions/{made['execution_id']}/explain")).json
    assert explained["runnable"] is False
    (reason,) = explained["reasons"]
    assert reason["code"] == "no_worker"
    assert "report" in reason["text"]


@pytest.mark.parametrize("name", ["reports/daily", "a/executions", "100%", "%2F", "50%25/월요일", "../x"])
async def test_task_name_with_a_slash_works_in_every_route(app: App, name: str) -> None:
    app.task(name=name)(_same)
    async with serving(app, work=True) as client:
        path = f"/api/tasks/{quote(name, safe='')}"
        async with asyncio.timeout(30):
            while (shown := await client.get(path)).status == 404:
                pass  # The worker is about to register it.
        assert shown.json["task_id"] == name
        ran = await client.post(f"{path}/executions", {"args": {"day": "monday"}})
        assert (ran.status, ran.json["task_id"]) == (201, name)
        assert (await _ended(client, ran.json, "SUCCESS"))["result"] == "monday"
        listed = (await client.get(f"/api/executions?task_id={quote(name, safe='')}")).json["items"]
        assert [each["execution_id"] for each in listed] == [ran.json["execution_id"]]
        made = await _make(client, task_id=name)
        assert (await client.get(made.headers["location"])).json["task_id"] == name
        found = (await client.get(f"/api/schedules?task_id={quote(name, safe='')}")).json["items"]
        assert [each["id"] for each in found] == [made.json["id"]]
        wrong = await client.get(f"{path}/executions")
        assert (wrong.status, wrong.code, wrong.headers["allow"]) == (405, "wrong_method", "POST")
        _problem(await client.get(f"{path}%2Fexecutions"), 404, "task_not_found", None)
        _problem(await client.get("/api/tasks/reports/daily/x"), 404, "no_such_path", None)


async def _same(day: str = "") -> str:
    return day
