"""Offices over HTTP: the paths, names and statuses that clients rely on."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from hanbeon import App, Context
from tests.server.client import Client, Response, serving

JOB_FIELDS = {
    *("id", "key", "office_id", "task_id", "role", "title", "status", "priority", "urgent", "depends_on"),
    *("blocked_by", "retry_count", "timeout_ms", "progress", "result", "error_message", "failure_type"),
    *("created_at", "started_at", "completed_at", "cancelled_at"),
}


async def _office(client: Client, **more: Any) -> str:
    made = await client.post("/api/offices", {"name": "Seoul", **more})
    assert made.status == 201, made
    assert made.headers["location"] == f"/api/offices/{made.json['id']}"
    return str(made.headers["location"])


async def _jobs(client: Client, office: str, *jobs: dict[str, Any]) -> list[dict[str, Any]]:
    made = await client.post(f"{office}/jobs", {"jobs": list(jobs)})
    assert made.status == 201, made
    found: list[dict[str, Any]] = made.json["jobs"]
    return found


def _problem(response: Response, status: int, code: str, field: str | None = None) -> None:
    assert (response.status, response.code, response.json["field"]) == (status, code, field), response


@pytest.fixture
async def working(app: App) -> AsyncIterator[Client]:
    """A client of a server with a worker, which has tasks that end, fail and wait."""

    @app.task(roles=["FE"])
    async def build(target: str = "all") -> str:
        print("building")
        return target

    @app.task(retries=0)
    async def fail() -> None:
        raise ValueError("broken")

    @app.task
    async def wait(ctx: Context) -> None:
        ctx.log("waiting")
        await asyncio.Event().wait()

    async with serving(app, work=True) as client:
        yield client


async def _status(client: Client, office: str, job: dict[str, Any], wanted: str) -> Response:
    async with asyncio.timeout(20):
        while (found := await client.get(f"{office}/jobs/{job['id']}")).json["status"] != wanted:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    return found


async def test_an_office_is_made_shown_changed_and_deleted(server: Client) -> None:
    office = await _office(server, config={"maxConcurrentJobs": 5})
    shown = await server.get(office)
    assert shown.json["config"]["maxConcurrentJobs"] == 5
    assert shown.json["config"]["maxConcurrentByRole"] == {"FE": 1, "BE": 1, "QA": 1, "DevOps": 1}
    changed = await server.ask("PATCH", office, {"name": "Busan"}, If_Match=shown.headers["etag"])
    assert (changed.status, changed.json["name"]) == (200, "Busan")
    _problem(await server.ask("PATCH", office, {"name": "Jeju"}, If_Match=shown.headers["etag"]), 412, "changed")
    listed = await server.get("/api/offices?limit=10")
    assert [each["name"] for each in listed.json["items"]] == ["Busan"]
    assert listed.json["next_cursor"] is None
    gone = await server.ask("DELETE", office)
    assert (gone.status, gone.body) == (204, b"")
    for method, path in (("GET", office), ("DELETE", office), ("GET", f"{office}/jobs"), ("GET", f"{office}/events")):
        _problem(await server.ask(method, path), 404, "office_not_found")


async def test_the_config_is_merged_and_guarded_by_its_version(server: Client) -> None:
    path = f"{await _office(server)}/scheduler/config"
    first = await server.get(path)
    assert first.json == {
        "maxConcurrentJobs": 3,
        "maxConcurrentByRole": {"FE": 1, "BE": 1, "QA": 1, "DevOps": 1},
        "defaultTimeout": 1_800_000,
        "maxRetries": 2,
        "retryBackoff": "exponential",
        "retryBaseDelay": 60_000,
    }
    etag = first.headers["etag"]
    changed = await server.ask("PATCH", path, {"maxConcurrentByRole": {"FE": 2, "QA": None}}, If_Match=etag)
    assert changed.json["maxConcurrentByRole"] == {"FE": 2, "BE": 1, "DevOps": 1}
    assert changed.headers["etag"] != etag
    for stale in (etag, '"x"', "nonsense"):
        _problem(await server.ask("PATCH", path, {"maxRetries": 1}, If_Match=stale), 412, "changed")
    assert (await server.ask("PATCH", path, {"maxRetries": 1}, If_Match="*")).json["maxRetries"] == 1
    _problem(await server.ask("PATCH", path, {"maxRetries": -1}), 422, "invalid", "maxRetries")
    refused = await server.ask("PATCH", path, {"maxRetrys": 1})
    _problem(refused, 422, "invalid", "maxRetrys")
    assert "did you mean 'maxRetries'?" in refused.json["detail"]
    assert (await server.get(path)).json["maxRetries"] == 1


async def test_jobs_run_and_are_shown_as_the_contract_says(working: Client) -> None:
    office = await _office(working, sessions={"default": "build"})
    first, second = await _jobs(
        working,
        office,
        {"key": "a", "role": "FE", "title": "Build", "args": {"target": "web"}, "task_id": "T-1"},
        {"key": "b", "role": "FE", "depends_on": ["a"], "task_id": "T-1"},
    )
    assert first.keys() == second.keys() == JOB_FIELDS
    assert (first["status"], second["status"], second["depends_on"]) == ("ready", "pending", [first["id"]])
    assert (await _status(working, office, second, "done")).json["executions"][0]["status"] == "completed"
    shown = (await working.get(f"{office}/jobs/{first['id']}")).json
    assert (shown["status"], shown["result"], shown["title"]) == ("done", "web", "Build")
    assert (await working.get(f"{office}/scheduler/stats")).json["done"] == 2
    page = (await working.get(f"{office}/jobs?status=done,failed&task_id=T-1&role=FE&limit=1")).json
    assert [each["id"] for each in page["items"]] == [first["id"]]
    rest = (await working.get(f"{office}/jobs?cursor={page['next_cursor']}")).json
    assert ([each["id"] for each in rest["items"]], rest["next_cursor"]) == ([second["id"]], None)
    graph = (await working.get(f"{office}/graph")).json
    assert graph["edges"] == [{"from": first["id"], "to": second["id"]}]
    assert [node["key"] for node in graph["nodes"]] == ["a", "b"]


async def test_cancelling_is_done_at_once_or_later_or_refused(working: Client) -> None:
    office = await _office(working, sessions={"default": "wait"})
    running, waiting = await _jobs(working, office, {"key": "a"}, {"depends_on": ["a"]})
    await _status(working, office, running, "processing")
    stopping = await working.post(f"{office}/jobs/{running['id']}/cancel")
    # It ends as soon as it is cancelled, which may be before the response is made.
    assert (stopping.status, stopping.json["status"]) in ((202, "processing"), (200, "cancelled"))
    await _status(working, office, running, "cancelled")
    assert (await working.post(f"{office}/jobs/{running['id']}/cancel")).status == 200
    at_once = await working.post(f"{office}/jobs/{waiting['id']}/cancel")
    assert (at_once.status, at_once.json["status"]) == (200, "cancelled")
    (failing,) = await _jobs(working, office, {"handler": "fail"})
    await _status(working, office, failing, "failed")
    _problem(await working.post(f"{office}/jobs/{failing['id']}/cancel"), 409, "wrong_state")


async def test_retry_priority_cancel_all_log_and_explain(working: Client) -> None:
    office = await _office(working, sessions={"default": "fail", "QA": "wait"})
    (failing,) = await _jobs(working, office, {"max_retries": 0})
    failed = (await _status(working, office, failing, "failed")).json
    assert (failed["failure_type"], failed["error_message"]) == ("error", "ValueError: broken")
    (reason,) = (await working.get(f"{office}/jobs/{failing['id']}/explain")).json["reasons"]
    assert (reason["failure_type"], reason["error_message"]) == ("error", "ValueError: broken")
    assert (reason["attempt"], reason["finished_at"]) == (1, failed["completed_at"])
    _problem(await working.ask("PATCH", f"{office}/jobs/{failing['id']}/priority", {"priority": 1}), 409, "wrong_state")
    assert (await working.post(f"{office}/jobs/{failing['id']}/retry")).json["retry_count"] == 0
    await _status(working, office, failing, "failed")
    first, second = await _jobs(working, office, {"role": "QA", "task_id": "T"}, {"role": "QA", "task_id": "T"})
    await _status(working, office, first, "processing")
    _problem(await working.post(f"{office}/jobs/{first['id']}/retry"), 409, "wrong_state")
    moved = await working.ask("PATCH", f"{office}/jobs/{second['id']}/priority", {"priority": -5, "urgent": True})
    assert (moved.status, moved.json["priority"], moved.json["urgent"]) == (200, -5, True)
    why = (await working.get(f"{office}/jobs/{second['id']}/explain")).json
    assert why["runnable"] is False
    assert all({"code", "text"} <= reason.keys() for reason in why["reasons"])
    async with asyncio.timeout(20):
        while not (log := (await working.get(f"{office}/jobs/{first['id']}/log?limit=10")).json)["entries"]:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    assert log["entries"][0]["text"] == "waiting"
    answer = await working.post(f"{office}/jobs/cancel-all", {"task_id": "T", "statuses": ["ready", "processing"]})
    assert answer.json == {"cancelled": [first["id"], second["id"]], "more": False}
    await _status(working, office, first, "cancelled")


async def test_a_cycle_starts_what_may_start(app: App, working: Client) -> None:
    office = await _office(working, sessions={"default": "wait"}, config={"maxConcurrentJobs": 2})
    await _jobs(working, office, {}, {}, {})
    async with asyncio.timeout(20):
        while (await working.get(f"{office}/scheduler/stats")).json["processing"] < 2:
            await working.post(f"{office}/scheduler/process")
    done = (await working.post(f"{office}/scheduler/process")).json
    assert done == {"activated": 0, "started": 0, "available_slots": 0}


async def test_without_a_worker_a_cycle_starts_nothing(server: Client) -> None:
    office = await _office(server)
    assert (await server.post(f"{office}/scheduler/process")).json["started"] == 0


async def test_a_job_is_found_in_its_own_office_only(server: Client) -> None:
    one, other = await _office(server), await _office(server)
    (job,) = await _jobs(server, one, {})
    for method, path in (("GET", ""), ("GET", "/log"), ("GET", "/explain"), ("POST", "/retry"), ("POST", "/cancel")):
        _problem(await server.ask(method, f"{other}/jobs/{job['id']}{path}"), 404, "job_not_found")


async def test_a_cycle_of_jobs_is_refused_with_its_members(server: Client) -> None:
    office = await _office(server)
    jobs = [{"key": "a", "depends_on": ["b"]}, {"key": "b", "depends_on": ["a"]}]
    refused = await server.post(f"{office}/jobs", {"jobs": jobs})
    _problem(refused, 422, "dependency_cycle", "depends_on")
    assert sorted(refused.json["ids"]) == ["a", "b"]
    assert (await server.get(f"{office}/jobs")).json["items"] == []


async def test_repeated_id_is_the_same_job_or_a_conflict(server: Client) -> None:
    office = await _office(server)
    job = {"id": "01890000-0000-7000-8000-000000000001", "title": "one"}
    (first,), (second,) = await _jobs(server, office, job), await _jobs(server, office, job)
    assert first == second
    _problem(await server.post(f"{office}/jobs", {"jobs": [{**job, "title": "two"}]}), 409, "id_already_used")
