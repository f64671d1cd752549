"""Workflows over HTTP: the routes of the seed, and those around them."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import pytest

from hanbeon import App
from hanbeon.server import auth
from hanbeon.service.tokens import create_token
from tests.outbound.web import Web, reply
from tests.server.client import serving

WAIT = {"type": "wait", "seconds": 0}
DRAFT: dict[str, Any] = {"name": "알림", "steps": [WAIT], "schedule_config": {"mode": "immediate"}}


@pytest.fixture
async def app(database_url: str) -> AsyncIterator[App]:
    async with App(database_url, outbound_allow_private=True) as app:
        yield app


async def test_workflow_is_saved_run_and_read(app: App) -> None:
    """Without any worker: saving an active workflow and waiting runs it in the process that is asked."""
    async with serving(app) as client, Web(reply(200)) as web:
        steps = [{"type": "http", "name": "ping", "url": f"{web.url}/ping"}, WAIT]
        made = await client.post("/api/workflows", DRAFT | {"steps": steps})
        path = made.headers["location"]
        assert (made.status, made.json["status"], made.json["next_run_at"]) == (201, "draft", None)
        assert (await client.get(f"{path}/runs")).json["items"] == []
        ran = await client.post(f"{path}/activate?wait=60")
        run = ran.json["run"]
        assert (run["status"], [step["status"] for step in run["steps"]]) == ("completed", ["completed"] * 2), run
        assert (await client.get(f"{path}/runs")).json["items"] == [run]
        assert (await client.get(f"{path}/runs/{run['run_id']}")).json == run
        assert len(web.seen) == 1
        done = await client.post("/api/workflow/execute", {"workflow_id": made.json["id"]})
        assert (done.status, done.json["status"], len(done.json["steps"])) == (200, "completed", 2)
        again = [await client.post("/api/workflow/execute", {"workflow_id": made.json["id"]}, Idempotency_Key="k")]
        again += [await client.post("/api/workflow/execute", {"workflow_id": made.json["id"]}, Idempotency_Key="k")]
        assert again[0].body == again[1].body
        paused = (await client.post(f"{path}/pause")).json
        assert (paused["status"], paused["next_run_at"]) == ("paused", None)
        monitor = (await client.get("/api/scheduler/monitor")).json
        assert [monitor[name] for name in ("pending", "running", "completed", "failed")] == [0, 0, 3, 0]
        assert (await client.ask("DELETE", path)).status == 204
        assert (await client.get(path)).code == "workflow_not_found"


async def test_cron_and_execute_drive_without_a_worker(app: App) -> None:
    async with serving(app) as client:
        made = (await client.post("/api/workflows", DRAFT | {"status": "active"})).json
        assert (await client.post("/api/scheduler/cron")).json == {
            "created": 0,
            "updated": 0,
            "unchanged": 1,
            "removed": 0,
        }
        done = await client.get("/api/scheduler/execute")
        assert (done.json["executed"], done.json["results"][0]["run_id"]) == (1, made["run_id"])
        assert (done.json["results"][0]["status"], done.headers["cache-control"]) == ("completed", "no-store")
        assert (await client.get("/api/scheduler/execute")).json == {"executed": 0, "results": []}
        assert (await client.get("/api/scheduler/cron")).json["unchanged"] == 0


async def test_scopes_of_the_scheduler_are_those_of_cron(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auth, "_KNOWN_FOR_SECONDS", -1.0)
    async with App(sqlite_url) as app, serving(app) as client:
        tokens = {
            scope: client.of((await create_token(app.store, "ada", scope)).text)
            for scope in ("admin", "user", "cron", "read")
        }
        made = (await tokens["user"].post("/api/workflows", DRAFT)).json
        body = {"workflow_id": made["id"]}
        asked: list[tuple[str, str, Any, set[str]]] = [
            ("POST", "/api/scheduler/cron", None, {"cron", "admin"}),
            ("GET", "/api/scheduler/cron", None, {"cron", "admin"}),
            ("GET", "/api/scheduler/execute", None, {"cron", "admin"}),
            ("GET", "/api/scheduler/monitor", None, {"read", "user", "admin", "cron"}),
            ("POST", "/api/workflow/execute", body, {"user", "admin", "cron"}),
            ("GET", "/api/workflows", None, {"read", "user", "admin"}),
            ("POST", "/api/workflows", DRAFT, {"user", "admin"}),
        ]
        for method, path, sent, allowed in asked:
            for scope, token in tokens.items():
                status = (await token.ask(method, path, sent)).status
                assert (status < 300) == (scope in allowed), (method, path, scope, status)


async def test_cron_secret_is_a_token_of_scope_cron(sqlite_url: str) -> None:
    """Like any token it turns authentication on."""
    async with App(sqlite_url, cron_secret="a-long-enough-secret") as app, serving(app) as client:
        assert (await client.get("/api/workflows")).code == "not_authenticated"
        cron = client.of("a-long-enough-secret")
        assert (await cron.get("/api/scheduler/cron")).status == 200
        assert (await cron.get("/api/workflows")).code == "not_allowed"
        assert (await client.of("a-long-enough-secreT").get("/api/scheduler/cron")).code == "not_authenticated"


async def test_twenty_callers_register_and_execute_once(database_url: str) -> None:
    """Ten callers each on two instances of one database: each run is registered once and done once."""
    async with (
        App(database_url, outbound_allow_private=True) as one,
        App(database_url, outbound_allow_private=True) as two,
        serving(one) as first,
        serving(two) as second,
        Web(reply(200)) as web,
    ):
        due, later = [], []
        for number in range(3):
            step = {"type": "http", "url": f"{web.url}/{number}"}
            due.append(await one.workflows.create(**DRAFT | {"steps": [step]}, status="active"))
            times = {"mode": "recurring", "recurrence": {"frequency": "daily", "time": "09:00"}}
            later.append(await one.workflows.create(**DRAFT | {"schedule_config": times}, status="active"))
        async with one.transaction() as tx:
            # As if nobody had registered them: the callers find it out all at once.
            table = "hanbeon.workflow" if database_url.startswith("postgres") else "hanbeon_workflow"
            ids = ", ".join(f"'{each.id}'" for each in later)
            await tx.execute(f"UPDATE {table} SET run_id = NULL, next_time = NULL, activation = 7 WHERE id IN ({ids})")
        asked = [client.get(f"/api/scheduler/{call}") for call in ("cron", "execute") for client in (first, second) * 5]
        answers = await asyncio.gather(*asked)
        assert {answer.status for answer in answers} == {200}
        created = sum(answer.json.get("created", 0) for answer in answers)
        assert created == len(later)
        assert Counter(seen.target for seen in web.seen) == {f"/{number}": 1 for number in range(3)}
        for each in due:
            assert [run.status for run in (await one.workflows.runs(each)).items] == ["completed"]


async def test_get_that_acts_refuses_head_and_other_sites(sqlite_url: str) -> None:
    async with App(sqlite_url) as app, serving(app) as client:
        await app.workflows.create(**DRAFT, status="active")
        for path in ("/api/scheduler/cron", "/api/scheduler/execute"):
            assert (await client.ask("HEAD", path)).status == 405
            for headers in ({"Sec_Fetch_Site": "cross-site"}, {"Origin": "https://evil.example"}):
                assert (await client.get(path, **headers)).code == "foreign_origin"
            assert (await client.get(path, Sec_Fetch_Site="none")).status == 200
        assert (await client.get("/api/scheduler/monitor")).json["completed"] == 1
