"""Workflows over HTTP: the routes of the seed, and those around them."""

from __future__ import annotations

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


async def test_get_that_acts_refuses_head_and_other_sites(sqlite_url: str) -> None:
    async with App(sqlite_url) as app, serving(app) as client:
        await app.workflows.create(**DRAFT, status="active")
        for path in ("/api/scheduler/cron", "/api/scheduler/execute"):
            assert (await client.ask("HEAD", path)).status == 405
            for headers in ({"Sec_Fetch_Site": "cross-site"}, {"Origin": "https://evil.example"}):
                assert (await client.get(path, **headers)).code == "foreign_origin"
            assert (await client.get(path, Sec_Fetch_Site="none")).status == 200
        assert (await client.get("/api/scheduler/monitor")).json["completed"] == 1
