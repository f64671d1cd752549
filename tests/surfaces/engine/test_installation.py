"""Operators see queues, workers, statistics, failures, tokens and settings, and who did what."""

from __future__ import annotations

import asyncio
import getpass
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest

from hanbeon import App
from hanbeon.client import AsyncClient
from hanbeon.domain.access import ALLOWED, Need, Scope
from hanbeon.domain.actor import acting
from hanbeon.domain.failures import Failure, grouped
from hanbeon.domain.job import NewJob
from hanbeon.domain.lifecycle import State
from hanbeon.errors import LimitsSetElsewhere
from hanbeon.server import auth
from hanbeon.service.tokens import create_token
from hanbeon.setting_fields import SECRET
from hanbeon.settings import Settings
from hanbeon.store.operations.queues import declare_queues
from hanbeon.store.operations.tasks import register_tasks
from hanbeon.surfaces.engine.operations import OPERATIONS
from hanbeon.tasks.task import settings_of
from hanbeon.testing import TestKit
from tests.cli.hanbeon import call
from tests.server.client import Client, serving
from tests.server.websocket_client import dial, hear, hear_any
from tests.store.world import new_id
from tests.storm.moments import until


@pytest.fixture
async def engine(app: App) -> AsyncIterator[Client]:
    @app.task(retries=0)
    async def explode(code: int = 0) -> None:
        raise ValueError(f"no host 10.0.0.{code}")

    @app.task
    async def work() -> int:
        return 1

    async with serving(app) as client:
        yield client


async def test_queues_are_shown_and_changed(app: App, engine: Client) -> None:
    await app.enqueue("work", queue="a")
    (queue,) = (await engine.get("/api/engine/queues")).json["items"]
    assert (queue["name"], queue["paused"], queue["states"]["ready"], queue["enqueued"]) == ("a", False, 1, 1)
    changed = await engine.ask("PATCH", "/api/engine/queues/a", {"max_concurrent": 2, "paused": True})
    assert (changed.json["max_concurrent"], changed.json["paused"]) == (2, True)
    assert (await engine.ask("PATCH", "/api/engine/queues/b", {"paused": True})).status == 404
    refused = await engine.ask("PATCH", "/api/engine/queues/a", {"max_concurrent": -1})
    assert (refused.status, refused.json["field"]) == (422, "max_concurrent")


async def test_queues_that_await_jobs_can_be_changed(app: App, engine: Client) -> None:
    """Limits are set before the first job; a mistyped name is still not found."""
    for name in ("default", "workflows", "workflow-tasks", "chains", "exports"):
        changed = await engine.ask("PATCH", f"/api/engine/queues/{name}", {"max_concurrent": 2})
        assert (changed.status, changed.json["max_concurrent"]) == (200, 2), name
    queues = (await engine.get("/api/engine/queues")).json["items"]
    assert {each["name"]: each["max_concurrent"] for each in queues}["workflows"] == 2
    elsewhere = msgspec.structs.replace(settings_of(app.tasks.get("work").options), queue="mail")
    await app.store.write(lambda tx: register_tasks(tx, {"send": elsewhere}, "a worker"))
    assert (await engine.ask("PATCH", "/api/engine/queues/mail", {"paused": True})).status == 200
    assert (await engine.ask("PATCH", "/api/engine/queues/defualt", {"paused": True})).status == 404


async def test_queues_are_found_by_a_part_of_their_name(app: App, engine: Client) -> None:
    for queue in ("mail", "shop.Orders", "shop.orders.late", "50%", "50x"):
        await app.enqueue("work", queue=queue)

    async def found(query: str) -> list[str]:
        return [each["name"] for each in (await engine.get(f"/api/engine/queues?{query}")).json["items"]]

    assert await found("name=ORDERS") == ["shop.Orders", "shop.orders.late"]
    assert await found("name=0%25") == ["50%"]
    assert await found("name=none") == []
    first = (await engine.get("/api/engine/queues?name=orders&limit=1")).json
    assert await found(f"name=orders&cursor={first['next_cursor']}") == ["shop.orders.late"]
    async with AsyncClient(engine.url) as client:
        assert [each.name async for each in client.engine.queues(name="late")] == ["shop.orders.late"]


async def test_limits_of_an_office_are_changed_by_its_config(app: App, engine: Client) -> None:
    office = await app.offices.create(name="Seoul")
    queue = f"office:{office.id}"
    refused = await engine.ask("PATCH", f"/api/engine/queues/{queue}", {"max_concurrent": 9})
    assert (refused.status, refused.code) == (409, "limits_set_elsewhere")
    path = f"/api/offices/{office.id}/scheduler/config"
    assert refused.json["path"] == path
    assert path in refused.json["detail"]
    with pytest.raises(LimitsSetElsewhere):
        await app.configure_queue(queue, roles={"FE": 9})
    with pytest.raises(LimitsSetElsewhere):
        await app.store.write(lambda tx: declare_queues(tx, {queue: {"max_concurrent": 9}}))
    assert (await engine.ask("PATCH", f"/api/engine/queues/{queue}", {"max_per_key": 2, "paused": True})).status == 200
    assert (await engine.ask("PATCH", path, {"maxConcurrentJobs": 9})).status == 200
    (shown,) = [each for each in await app.queues() if each.name == queue]
    assert (shown.limits.max_concurrent, shown.limits.max_per_key, shown.paused) == (9, 2, True)


async def test_queues_come_in_pages(app: App, engine: Client) -> None:
    names = [f"q{n}" for n in range(5)]
    for name in reversed(names):
        await app.enqueue("work", queue=name)
    first = (await engine.get("/api/engine/queues?limit=2")).json
    assert ([each["name"] for each in first["items"]], first["next_cursor"]) == (["q0", "q1"], "q1")
    last = (await engine.get("/api/engine/queues?limit=3&cursor=q1")).json
    assert ([each["name"] for each in last["items"]], last["next_cursor"]) == (["q2", "q3", "q4"], None)
    async with AsyncClient(engine.url) as client:
        assert [each.name async for each in client.engine.queues(limit=2)] == names
    refused = await engine.get("/api/engine/queues?limit=0")
    assert (refused.status, refused.json["field"]) == (422, "limit")


async def test_overview_shows_the_whole_installation(kit: TestKit) -> None:
    @kit.app.task(name="work")
    async def work() -> None: ...

    await kit.app.enqueue("work", queue="slow")
    await kit.app.enqueue("work", queue="paused")
    await kit.app.pause("paused")
    await kit.advance(90)
    await kit.app.enqueue("work", queue="new")
    found = await kit.app.engine.overview()
    assert (found.states[State.READY], found.queues, found.oldest_ready) == (3, 3, 90)
    assert [(each.name, each.oldest_ready) for each in found.late] == [("slow", 90)]
    assert found.late_queues == 1
    # One that is paused is named at once, and is not late.
    assert [(each.name, each.oldest_ready) for each in found.paused] == [("paused", 90)]
    assert found.paused_queues == 1


async def test_workers_statistics_and_failures_are_shown(app: App, engine: Client) -> None:
    jobs = [await app.enqueue("explode", {"code": code}) for code in range(3)] + [await app.enqueue("work")]
    async with app.worker(name="w1"):
        for job in jobs:
            await job.wait(60)
        (worker,) = (await engine.get("/api/engine/instances")).json["items"]
        assert (worker["name"], worker["alive"], worker["jobs"]) == ("w1", True, [])
        overview = (await engine.get("/api/engine/overview")).json
        assert (overview["workers"], overview["slots"]) == (1, worker["capacity"])
        assert (overview["states"]["succeeded"], overview["states"]["failed"], overview["late"]) == (1, 3, [])
    found = (await engine.get("/api/engine/statistics?step=300")).json
    assert sum(step["failed"] for step in found["items"]) == 3
    assert sum(step["succeeded"] for step in found["items"]) == 1
    assert found["states"]["failed"] == 3
    assert any(step["run"] and step["run"]["count"] for step in found["items"])
    assert sum(step["failures"].get("error", 0) for step in found["items"]) == 3
    minutes = (await engine.get("/api/engine/statistics")).json
    assert minutes["step"] == 60
    assert 60 <= len(minutes["items"]) <= 61
    for query, field in (
        ("step=61", "step"),
        ("from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z", "from"),
        ("from=2020-01-01T00:00:00Z", "step"),
        ("queue=none", "queue"),
        ("to=0001-01-01T00:00:00Z", "to"),
        ("from=0001-01-01T00:00:00Z&to=0001-01-01T00:01:00Z", "to"),
    ):
        refused = await engine.get(f"/api/engine/statistics?{query}")
        assert (refused.status, refused.json["field"]) == (422, field), query
    (group,) = (await engine.get("/api/engine/failures")).json["items"]
    assert (group["task"], group["count"], group["failure_type"]) == ("explode", 3, "error")
    assert group["last_id"] == jobs[2].id


async def test_drained_worker_claims_nothing_more(app: App, engine: Client) -> None:
    async with app.worker() as worker:
        place = f"/api/engine/instances/{worker.instance}"
        assert (await engine.post(f"{place}/drain")).json["draining"] is True
        assert (await engine.post(f"{place}/drain")).json["draining"] is True

        async def draining() -> bool | None:
            return worker.main.claimer.draining or None

        await until("the worker is drained", draining)
        job = await app.enqueue("work")
        await worker.main.claimer.run_once()
        assert (await job.record()).state == "ready"
        assert (await engine.post(f"{place}/resume")).json["draining"] is False
        assert await job.result(60) == 1
    assert (await engine.post(f"{place}/drain")).status == 404
    assert (await engine.post("/api/engine/instances/x/drain")).status == 404


def test_failures_that_differ_in_numbers_are_one_group() -> None:
    found = grouped(
        [
            Failure("1", "a", "error", "row 17 of 0xff00aa\nsecond line", 10),
            Failure("2", "a", "error", "row 18 of 0xff00ab", 20),
            Failure("3", "b", "error", "row 18 of 0xff00ab", 30),
            Failure("4", "a", "timeout", "row 18 of 0xff00ab", 40),
        ]
    )
    assert [(group.task, group.count, group.last_id) for group in found] == [
        ("a", 2, "2"),
        ("a", 1, "4"),
        ("b", 1, "3"),
    ]


async def test_actions_say_who_did_what(app: App, engine: Client) -> None:
    made = await engine.post("/api/engine/jobs", {"task": "work"})
    await engine.post(f"/api/engine/jobs/{made.json['id']}/cancel")
    await engine.post("/api/engine/jobs", {"task": "unknown"})
    office = (await engine.post("/api/offices", {"name": "Seoul", "sessions": {"default": "work"}})).json
    await engine.post(f"/api/offices/{office['id']}/jobs", {"jobs": [{}, {}]})
    await engine.post(f"/api/offices/{office['id']}/jobs", {"jobs": [{}]})
    await engine.post("/api/engine/jobs/bulk", {"action": "cancel", "filter": {}})
    found = (await engine.get("/api/engine/actions")).json["items"]
    assert [(each["action"], each["user"], each["via"], each["count"]) for each in reversed(found)] == [
        ("engine.enqueue", "local", "rest", 1),
        ("engine.cancel", "local", "rest", 1),
        ("offices.create", "local", "rest", 0),
        ("offices.create_jobs", "local", "rest", 2),
        ("offices.create_jobs", "local", "rest", 1),
        ("engine.bulk", "local", "rest", 3),
    ]
    assert found[-2]["target"] == f"/api/engine/jobs/{made.json['id']}/cancel"
    page = (await engine.get("/api/engine/actions?limit=4")).json
    rest = (await engine.get(f"/api/engine/actions?limit=4&cursor={page['next_cursor']}")).json
    assert page["items"] + rest["items"] == found
    assert (await engine.get("/api/engine/actions?user=nobody")).json["items"] == []
    # The engine itself, and programs that use it as a library, are not recorded.
    await app.enqueue("work")
    assert len((await engine.get("/api/engine/actions")).json["items"]) == len(found)


async def test_moves_of_all_jobs_are_streamed(app: App, engine: Client) -> None:
    async with dial(engine, "/ws/engine/events") as listener:
        job = await app.enqueue("work", queue="a")
        other = await app.enqueue("work", queue="b")
        await app.cancel(other)
        moves = [await hear(listener) for _ in range(3)]
    assert [(each["type"], each["queue"], each["job_id"], each["state"]) for each in moves] == [
        ("enqueued", "a", job.id, "ready"),
        ("enqueued", "b", other.id, "ready"),
        ("cancelled", "b", other.id, "cancelled"),
    ]
    page = await app.engine.events(after=moves[0]["id"])
    assert [event.job_id for event in page.items] == [other.id, other.id]
    async with AsyncClient(engine.url) as client:
        async for event in client.engine.events(after=moves[1]["id"]):
            assert (event.id, event.type.value) == (moves[2]["id"], "cancelled")
            break


async def _enqueue_for_ever(app: App) -> None:
    while True:
        await app.enqueue("work", queue="a")
        await asyncio.sleep(0.1)


async def test_changes_are_hinted_at(app: App, engine: Client) -> None:
    async with dial(engine, "/ws/engine/changes") as listener, AsyncClient(engine.url) as client:
        assert (await hear_any(listener))["type"] == "opened"
        await app.enqueue("work", queue="a")
        change = await hear(listener)
        assert (set(change), change["type"]) == ({"id", "type", "timestamp"}, "changed")
        working = asyncio.create_task(_enqueue_for_ever(app))
        async for hint in client.engine.changes():
            assert hint.id > change["id"]
            break
        working.cancel()


async def test_tokens_and_settings_keep_their_secrets(
    app: App, engine: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auth, "_KNOWN_FOR_SECONDS", -1.0)
    made = await engine.post("/api/engine/tokens", {"user": "ada", "scope": "admin"})
    assert made.status == 201
    ada = engine.of(made.json["token"])
    settings = {each["name"]: each for each in (await ada.get("/api/engine/settings")).json["items"]}
    assert settings["lease"]["value"] == app.settings.lease
    assert "jwt_secret" in settings
    listed = await ada.get("/api/engine/tokens")
    assert made.json["token"] not in listed.body.decode()
    assert [token["user"] for token in listed.json["items"]] == ["ada"]
    other = await ada.post("/api/engine/tokens", {"user": "bob", "scope": "read"})
    assert (await ada.ask("DELETE", f"/api/engine/tokens/{other.json['id']}")).json["revoked_at"]
    assert (await ada.ask("DELETE", "/api/engine/tokens/99")).status == 404
    assert (await ada.ask("DELETE", "/api/engine/tokens/x")).status == 404
    actions = (await ada.get("/api/engine/actions")).body.decode()
    assert made.json["token"] not in actions
    assert "engine.create_token" in actions


async def test_each_operation_takes_the_scopes_it_says(
    app: App, engine: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auth, "_KNOWN_FOR_SECONDS", -1.0)
    clients = {scope: engine.of((await create_token(app.store, "ada", scope)).text) for scope in Scope}
    for operation in OPERATIONS:
        assert operation.need in (Need.READ, Need.ADMIN), operation.path
        path = operation.path.replace("{jobId}", "x").replace("{name}", "x").replace("{number}", "x")
        for scope, client in clients.items():
            body: Any = {} if not operation.in_query and operation.request is not None else None
            answer = await client.ask(operation.method, path, body)
            assert (answer.status == 403) == (scope not in ALLOWED[operation.need]), (operation.path, scope)


async def test_commands_are_recorded_with_their_user(app: App, engine: Client) -> None:
    job = await app.enqueue("work")
    url = app.settings.database_url
    assert (await call("cancel", job.id, "--database", url)).code == 0
    assert (await call("office", "create", "Seoul", "--database", url)).code == 0
    assert (await call("jobs", "--database", url)).code == 0
    # Options may come first, and are not recorded.
    assert (await call("office", "cancel-all", "--yes", "--role", "FE", "--database", url, "Seoul")).code == 0
    assert (await call("office", "delete", "--yes", f"--database={url}", "--", "Seoul")).code == 0
    found = (await engine.get("/api/engine/actions")).json["items"]
    assert [(each["action"], each["via"], each["user"], each["target"]) for each in reversed(found)] == [
        ("hanbeon cancel", "cli", getpass.getuser(), job.id),
        ("hanbeon office create", "cli", getpass.getuser(), "Seoul"),
        ("hanbeon office delete", "cli", getpass.getuser(), "Seoul"),
    ]


async def test_record_takes_names_that_are_no_text(app: App) -> None:
    """The environment and the command line are bytes, some of which no database stores."""
    with acting("ada\udcff\x00", "cli", "hanbeon\x1b[2J", "b" * 1_000 + "\ud800"):
        await app.offices.create(name="Seoul")
    (found,) = (await app.engine.actions()).items
    assert (found.user, found.action, found.target) == (r"ada\udcff\x00", r"hanbeon\x1b[2J", "b" * 500)


async def test_no_setting_shows_a_secret(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "s3cret-text"
    hidden = {
        name: f"postgresql://ada:{secret}@host/jobs?sslpassword={secret}" if name.endswith("_url") else secret
        for name in Settings.model_fields
        if name.endswith(SECRET)
    }
    monkeypatch.setattr(app, "settings", app.settings.model_copy(update=hidden))
    shown = {each.name: each.value for each in (await app.engine.settings()).items}
    assert {name for name in hidden if shown[name] is not None} == hidden.keys()
    assert secret not in repr(shown)


async def test_arguments_of_built_in_tasks_are_hidden(app: App, engine: Client) -> None:
    """A search by text does not find them either: it would tell them letter by letter."""
    secret = NewJob(id=new_id(), task="hanbeon.webhook", queue="mail", args='{"secret": "whsec_abc"}')
    plain = NewJob(id=new_id(), task="work", queue="mail", args='{"secret": "whsec_abc"}')
    await app.store.enqueue([secret, plain])
    detail = await engine.get(f"/api/engine/jobs/{secret.id}")
    assert "whsec" not in detail.body.decode()
    for query in ("text=whsec", "text=whsec&queue=mail", f"text=whsec&id={secret.id[:5]}", "text=whsec&state=ready"):
        found = (await engine.get(f"/api/engine/jobs?{query}")).json["items"]
        assert [job["id"] for job in found] == [plain.id], query
    body = {"action": "cancel", "filter": {"text": "whsec"}, "dry_run": True}
    assert (await engine.post("/api/engine/jobs/bulk", body)).json["matched"] == 1


async def test_own_jobs_are_those_of_tasks_of_users(app: App, engine: Client) -> None:
    built_in = NewJob(id=new_id(), task="hanbeon.webhook", queue="mail", args="{}")
    plain = NewJob(id=new_id(), task="work", queue="mail", args="{}")
    await app.store.enqueue([built_in, plain])

    async def found(query: str) -> list[str]:
        return [job["id"] for job in (await engine.get(f"/api/engine/jobs?{query}")).json["items"]]

    for query in ("own=true", "own=true&queue=mail", f"own=true&id={plain.id[:5]}", "own=true&state=ready"):
        assert await found(query) == [plain.id], query
    assert set(await found("own=false")) == {built_in.id, plain.id}
    body = {"action": "cancel", "filter": {"own": True}}
    assert (await engine.post("/api/engine/jobs/bulk", body)).json["ids"] == [plain.id]
