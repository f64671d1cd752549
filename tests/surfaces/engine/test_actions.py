"""Every operation that acts is recorded: once, with its user, and only together with its effect."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from hanbeon import App, State
from hanbeon.domain.access import Need
from hanbeon.domain.actor import acting
from hanbeon.errors import DatabaseUnavailable
from hanbeon.server import auth
from hanbeon.service.tokens import create_token
from hanbeon.surfaces.registry import SURFACES
from tests.databases.faults import LossyApp
from tests.server.client import Client, Response, serving
from tests.storm.moments import until
from tests.surfaces.chains.chain_kit import LIBRARY
from tests.surfaces.exports.export_kit import BOUNDARY, SAMPLE, form

_HOOK = {"url": "https://example.org/hook", "secret": "whsec_" + "A" * 32}
_LATER: Any = {"mode": "delayed", "delay_minutes": 5}
_LOOKING = {"actions", "tokens", "deadletters", "deadletter", "settings", "monitor"}
_OF_REDIS = {"engine.republish_deadletter", "engine.drop_deadletter"}
"""They have a test of their own in `tests/engine/stream/test_operators.py`."""


class Story:
    """Requests one after the other, each checked for what it left in the record."""

    def __init__(self, app: App, client: Client) -> None:
        self._app, self._client, self._user = app, client, "local"
        self.acted: list[str] = []
        self._known = 0

    async def act(self, action: str, method: str, path: str, body: Any = None, **headers: str) -> Any:
        answer: Response = await self._client.ask(method, path, body, **headers)
        assert answer.status < 300, (action, answer)
        page = (await self._client.get("/api/engine/actions?limit=1000")).json["items"]
        new = [(each["action"], each["user"], each["via"], each["target"]) for each in page[: len(page) - self._known]]
        assert new == [(action, self._user, "rest", path.partition("?")[0])], action
        self._known = len(page)
        self.acted.append(action)
        return answer.json if answer.body else None

    async def log_in(self, user: str) -> None:
        self._client = self._client.of((await create_token(self._app.store, user, "admin")).text)
        self._user = user

    async def until(self, path: str, has: Callable[[Any], bool]) -> Any:
        async def ask() -> Any:
            found = (await self._client.get(path)).json
            return found if has(found) else None

        return await until(path, ask)


@pytest.fixture
async def story(database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Story]:
    monkeypatch.setattr(auth, "_KNOWN_FOR_SECONDS", -1.0)
    folders: dict[str, Any] = {"jobs_export_path": str(tmp_path / "exports"), "replay_path": str(tmp_path / "replays")}
    app = App(database_url, chain_libraries=LIBRARY, **folders)

    @app.task
    async def work() -> None: ...

    @app.task(retries=0)
    async def explode() -> None:
        raise ValueError("on purpose")

    async with app, serving(app, work=True) as client:
        yield Story(app, client)


async def test_every_acting_operation_is_recorded_once(story: Story) -> None:
    for part in (_jobs, _offices, _schedules, _chains, _workflows, _exports, _installation):
        await part(story)
    acting = {
        f"{surface.name}.{operation.call}"
        for surface in SURFACES
        for operation in surface.operations
        if operation.need not in (Need.NOTHING, Need.READ) and operation.call not in _LOOKING
    }
    assert set(story.acted) == acting - _OF_REDIS


async def _jobs(story: Story) -> None:
    job = (await story.act("engine.enqueue", "POST", "/api/engine/jobs", {"task": "work", "delay": 3_600}))["id"]
    await story.act("engine.reprioritise", "PATCH", f"/api/engine/jobs/{job}/priority", {"priority": 5})
    await story.act("engine.cancel", "POST", f"/api/engine/jobs/{job}/cancel")
    await story.act("engine.retry", "POST", f"/api/engine/jobs/{job}/retry")
    job = (await story.act("engine.enqueue", "POST", "/api/engine/jobs", {"task": "work", "delay": 3_600}))["id"]
    await story.act("engine.cancel", "POST", f"/api/engine/jobs/{job}/cancel")
    await story.act("engine.mark_done", "POST", f"/api/engine/jobs/{job}/mark-done", {"comment": "on paper"})
    await story.act("engine.enqueue", "POST", "/api/engine/jobs", {"task": "work", "delay": 3_600}, Idempotency_Key="k")
    await story.act("engine.bulk", "POST", "/api/engine/jobs/bulk", {"action": "cancel", "filter": {"task": "work"}})


async def _offices(story: Story) -> None:
    body = {"name": "Seoul", "webhooks": [_HOOK]}
    office = await story.act("offices.create", "POST", "/api/offices", body)
    path = f"/api/offices/{office['id']}"
    await story.act("offices.change", "PATCH", path, {"name": "Busan"})
    await story.act("offices.change_config", "PATCH", f"{path}/scheduler/config", {"maxRetries": 1})
    made = await story.act("offices.create_jobs", "POST", f"{path}/jobs", {"jobs": [{}, {}]}, Idempotency_Key="jobs")
    job = f"{path}/jobs/{made['jobs'][0]['id']}"
    await story.act("offices.reprioritise", "PATCH", f"{job}/priority", {"urgent": True})
    await story.act("offices.cancel", "POST", f"{job}/cancel")
    await story.act("offices.retry", "POST", f"{job}/retry")
    await story.act("offices.cancel", "POST", f"{job}/cancel")
    await story.act("offices.mark_done", "POST", f"{job}/mark-done", {"comment": "on paper"})
    await story.act("offices.cancel_all", "POST", f"{path}/jobs/cancel-all", {})
    await story.act("offices.process", "POST", f"{path}/scheduler/process")
    hook = f"{path}/webhooks/{office['webhooks'][0]['id']}"
    await story.act("offices.enable_webhook", "POST", f"{hook}/enable")
    await story.act("offices.test_webhook", "POST", f"{hook}/test")
    await story.act("offices.delete", "DELETE", f"{path}?cancel=true")


async def _schedules(story: Story) -> None:
    schedule = {"task_id": "explode", "cron": "0 9 1 1 *", "name": "yearly"}
    path = f"/api/schedules/{(await story.act('schedules.create', 'POST', '/api/schedules', schedule))['id']}"
    await story.act("schedules.change", "PATCH", path, {"cron": "0 8 1 1 *"})
    await story.act("schedules.pause", "POST", f"{path}/pause")
    await story.act("schedules.resume", "POST", f"{path}/resume")
    await story.act("engine.change_queue", "PATCH", "/api/engine/queues/default", {"paused": True})
    run = await story.act("schedules.run", "POST", "/api/tasks/work/executions", {})
    await story.act("schedules.cancel", "POST", f"/api/executions/{run['execution_id']}/cancel")
    await story.act("engine.change_queue", "PATCH", "/api/engine/queues/default", {"paused": False})
    await story.act("schedules.delete", "DELETE", path)


async def _chains(story: Story) -> None:
    failing = {"forward_operation": "fail", "backward_operation": "fail"}
    going = {"forward_operation": "do", "backward_operation": "fail"}
    blocked = {"queue_library": LIBRARY, "jobs": [going], "on_backward_failure": "stop"}
    for move in ("resume", "skip"):
        chain = (await story.act("chains.create", "POST", "/api/chains", blocked))["queue_id"]
        path = f"/api/chains/{chain}"
        await story.act("chains.enqueue", "POST", f"{path}/jobs", failing)
        await story.act("chains.run", "POST", f"{path}/run", {})
        await story.until(path, lambda found: found["state"] == "BLOCKED")
        await story.act(f"chains.{move}", "POST", f"{path}/{move}")
    path = f"/api/chains/{(await story.act('chains.create', 'POST', '/api/chains', {}))['queue_id']}"
    await story.act("chains.delete", "DELETE", path)
    waiting = {"queue_library": LIBRARY, "jobs": [{"forward_operation": "do"}]}
    path = f"/api/chains/{(await story.act('chains.create', 'POST', '/api/chains', waiting))['queue_id']}"
    await story.act("engine.change_queue", "PATCH", "/api/engine/queues/chains", {"paused": True})
    await story.act("chains.run", "POST", f"{path}/run", {})
    await story.act("chains.abort", "POST", f"{path}/abort")


async def _workflows(story: Story) -> None:
    steps = [{"type": "task", "task_id": "explode", "retries": 0}]
    body = {"name": "w", "steps": steps, "schedule_config": _LATER}
    workflow = (await story.act("workflows.create", "POST", "/api/workflows", body))["id"]
    path = f"/api/workflows/{workflow}"
    await story.act("workflows.change", "PATCH", path, {"name": "v"})
    await story.act("workflows.activate", "POST", f"{path}/activate")
    await story.act("workflows.pause", "POST", f"{path}/pause")
    await story.act("workflows.activate", "POST", f"{path}/activate")
    for method in ("GET", "POST"):
        await story.act("workflows.cron", method, "/api/scheduler/cron")
    (run,) = (await story.until(f"{path}/runs", lambda found: bool(found["items"])))["items"]
    await story.act("workflows.cancel", "POST", f"{path}/runs/{run['run_id']}/cancel")
    await story.act("workflows.execute", "POST", "/api/workflow/execute", {"workflow_id": workflow})
    found = await story.until(f"{path}/runs", lambda found: len(found["items"]) == 2)
    failed = next(each["run_id"] for each in found["items"] if each["run_id"] != run["run_id"])
    await story.act("workflows.retry", "POST", f"{path}/runs/{failed}/retry")
    await story.act("workflows.execute_due", "GET", "/api/scheduler/execute")
    await story.until(f"{path}/runs", lambda found: all(each["ended_at"] is not None for each in found["items"]))
    await story.act("workflows.delete", "DELETE", path)


async def _exports(story: Story) -> None:
    upload = {"Content_Type": f"multipart/form-data; boundary={BOUNDARY}"}
    made = await story.act("replays.create", "POST", "/api/replays", form(SAMPLE.read_bytes()), **upload)
    path = f"/api/replays/{made['replayId']}"
    job = (await story.act("exports.export_thumbnail", "POST", f"{path}/exports/thumbnail", {}))["jobId"]
    await story.until(f"/api/jobs/{job}", lambda found: found["status"] == "SUCCEEDED")
    await story.act("engine.change_queue", "PATCH", "/api/engine/queues/exports", {"paused": True})
    job = (await story.act("exports.export_mp4", "POST", f"{path}/exports/mp4", {}))["jobId"]
    await story.act("exports.cancel", "POST", f"/api/jobs/{job}/cancel")
    await story.act("replays.delete", "DELETE", path)


async def _installation(story: Story) -> None:
    # `scheduler/execute` has run a worker of its own, which has stopped.
    found = await story.until("/api/engine/instances", lambda found: bool(found["items"]))
    worker = next(each for each in found["items"] if each["alive"])
    for move in ("drain", "resume"):
        await story.act(f"engine.{move}", "POST", f"/api/engine/instances/{worker['id']}/{move}")
    # The first token turns authentication on, so that there must be one to ask with.
    await story.log_in("ada")
    token = await story.act("engine.create_token", "POST", "/api/engine/tokens", {"user": "bob", "scope": "read"})
    await story.act("engine.revoke_token", "DELETE", f"/api/engine/tokens/{token['id']}")


async def test_an_action_is_written_if_and_only_if_its_effect_is(lossy_app: LossyApp) -> None:
    app, faults, _ = lossy_app

    @app.task(name="work")
    async def work() -> None: ...

    async def cancelled_by(lose: Callable[[], None]) -> tuple[State, list[str]]:
        lose()
        with acting("ada", "rest", "cancel"), pytest.raises(DatabaseUnavailable):
            await app.store.cancel(job.id)
        return (await app.store.job(job.id)).state, [each.user for each in (await app.engine.actions()).items]

    job = await app.enqueue("work", {})
    assert await cancelled_by(faults.before) == (State.READY, [])
    assert await cancelled_by(faults.after) == (State.CANCELLED, ["ada"])
