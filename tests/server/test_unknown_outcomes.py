"""Requests whose COMMIT was not heard of: the repeat under the same key finds what was made, and makes it once."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hanbeon import App
from hanbeon.client import AsyncClient
from hanbeon.surfaces.registry import SURFACES
from hanbeon.surfaces.verify import verify
from tests.databases.faults import LossyApp, lossy
from tests.server.client import Client, Response, serving
from tests.surfaces.exports.export_kit import BOUNDARY, SAMPLE, SMALL, form, uploaded

_SECRET = "whsec_" + "A" * 32
_HOOK = {"url": "https://example.org/hook", "secret": _SECRET}
_MOST = 12
_WORK = 2
"""The commit of a request's work; the one before it begins the request under its key."""
_BATCH: Any = {"jobs": [{}, {}]}


class Creation(NamedTuple):
    """A request of a creating operation. The names of `_places` are filled in; `number` makes it unlike others."""

    path: str
    body: Callable[[int], Any]
    listing: str
    ids: Callable[[Any], list[Any]]
    listed: str = "id"
    content_type: str = "application/json"


def _id(body: Any) -> list[str]:
    return [body["id"]]


CREATIONS: dict[tuple[str, str], Creation] = {
    ("offices", "create"): Creation(
        "/api/offices", lambda number: {"name": f"Office {number}", "webhooks": [_HOOK]}, "/api/offices", _id
    ),
    ("offices", "create_jobs"): Creation(
        "/api/offices/{office}/jobs",
        lambda number: {"jobs": [{"key": "a"}, {"title": str(number), "depends_on": ["a"]}]},
        "/api/offices/{office}/jobs",
        lambda body: [each["id"] for each in body["jobs"]],
    ),
    ("offices", "test_webhook"): Creation(
        "/api/offices/{office}/webhooks/{webhook}/test",
        lambda number: None,
        "/api/offices/{office}/webhooks/{webhook}/deliveries",
        _id,
    ),
    ("engine", "enqueue"): Creation(
        "/api/engine/jobs", lambda number: {"task": f"task_{number}"}, "/api/engine/jobs", _id
    ),
    ("schedules", "run"): Creation(
        "/api/tasks/task_{number}/executions",
        lambda number: {"args": {}},
        "/api/executions",
        lambda body: [body["execution_id"]],
        "execution_id",
    ),
    ("schedules", "create"): Creation(
        "/api/schedules",
        lambda number: {"task_id": "task_0", "cron": "0 9 * * *", "name": f"schedule {number}"},
        "/api/schedules",
        _id,
    ),
    ("workflows", "create"): Creation(
        "/api/workflows",
        lambda number: {
            "name": f"workflow {number}",
            "steps": [{"type": "wait", "seconds": 0}],
            "schedule_config": {"mode": "delayed", "delay_minutes": 5},
            "status": "active",
        },
        "/api/workflows",
        _id,
    ),
    ("replays", "create"): Creation(
        "/api/replays",
        lambda number: form(SAMPLE.read_bytes(), name=f"{number}.jsonl"),
        "/api/replays",
        lambda body: [body["replayId"]],
        "replayId",
        f"multipart/form-data; boundary={BOUNDARY}",
    ),
    ("exports", "export_mp4"): Creation(
        "/api/replays/{replay}/exports/mp4",
        lambda number: SMALL | {"startMs": number},
        "/api/jobs",
        lambda body: [body["jobId"]],
        "jobId",
    ),
    ("exports", "export_thumbnail"): Creation(
        "/api/replays/{replay}/exports/thumbnail",
        lambda number: {"width": 160, "height": 90 + 2 * number},
        "/api/jobs",
        lambda body: [body["jobId"]],
        "jobId",
    ),
}


OF_CHAINS = {("chains", "create"), ("chains", "enqueue"), ("chains", "run")}
"""Their ids are numbers from the database, so that each has a unique id of its request beside it."""

OF_WORKFLOWS = {("workflows", "execute")}
"""It also runs what it creates: `test_workflows.py` repeats it."""

OF_TOKENS = {("engine", "create_token")}
"""A repeat is rejected, since the text of a token is stored nowhere: `test_idempotency.py` repeats it."""


def test_every_creating_operation_has_a_case() -> None:
    creating = {(each.name, it.call) for each in SURFACES for it in each.operations if it.creates}
    assert CREATIONS.keys() | OF_CHAINS | OF_WORKFLOWS | OF_TOKENS == creating


@pytest.fixture
async def lossy_app(database_url: str, tmp_path: Path) -> AsyncIterator[LossyApp]:
    """As everywhere, with files below the folder of the test."""
    folders: dict[str, Any] = {"jobs_export_path": str(tmp_path / "exports"), "replay_path": str(tmp_path / "replays")}
    async with lossy(database_url, shutdown_grace=0.2, lease=10, watch=0.05, **folders) as found:
        yield found


@pytest.mark.parametrize("when", [pytest.param("before", marks=pytest.mark.slow), "after"])
@pytest.mark.parametrize("operation", CREATIONS, ids="-".join)
async def test_repeat_finds_what_the_first_request_made(
    lossy_app: LossyApp, operation: tuple[str, str], when: str
) -> None:
    """Each commit of the request is lost in turn; at last none is left to be lost."""
    app, faults, _ = lossy_app
    creation = CREATIONS[operation]
    for number in range(_MOST):
        app.task(name=f"task_{number}")(_task)
    async with serving(app) as client:
        places = await _places(client, creation)
        made: list[str] = []
        struck, number = True, 0
        while struck:
            path, body = creation.path.format(number=number, **places), creation.body(number)
            getattr(faults, when)(number + 1)
            headers = {"Content_Type": creation.content_type, "Idempotency_Key": f"key-{number}"}
            first = await client.post(path, body, **headers)
            struck = faults.struck
            faults.heal()
            assert first.status in (201, 202, 503), first
            again = await client.post(path, body, **headers)
            assert again.status in (201, 202), (number, first, again)
            ids = creation.ids(again.json)
            if first.status != 503:
                assert creation.ids(first.json) == ids
            third = await client.post(path, body, **headers)
            assert (third.status, third.body) == (again.status, again.body)
            made += ids
            assert await _listed(client, creation, places) == set(made), f"commit {number + 1}"
            number += 1
        assert number > 3, "every request begins under its key, does its work and stores its response"
    report = await verify(app.store)
    assert report.sound, report.findings


@pytest.mark.parametrize("when", [pytest.param("before", marks=pytest.mark.slow), "after"])
async def test_repeat_finds_numbered_chains_and_runs(lossy_app: LossyApp, when: str) -> None:
    app, faults, _ = lossy_app
    async with serving(app) as client:

        async def twice(path: str, body: Any, nth: int) -> tuple[Any, bool]:
            getattr(faults, when)(nth)
            first = await client.post(path, body, Idempotency_Key=f"{path}-{nth}")
            struck = faults.struck
            faults.heal()
            assert first.status in (200, 201, 202, 503), first
            again = await client.post(path, body, Idempotency_Key=f"{path}-{nth}")
            assert again.status in (200, 201, 202), (nth, first, again)
            return again.json, struck

        struck, nth = True, 1
        while struck:
            chain, one = await twice("/api/chains", {}, nth)
            path = f"/api/chains/{chain['queue_id']}"
            job, two = await twice(f"{path}/jobs", {}, nth)
            _, three = await twice(f"{path}/run", {}, nth)
            assert len((await client.get("/api/chains")).json["items"]) == nth
            assert [each["job_id"] for each in (await client.get(path)).json["jobs"]] == [job["job_id"]]
            assert len((await client.get(f"{path}/runs")).json["items"]) == 1
            struck, nth = one or two or three, nth + 1
        assert nth > 4
    report = await verify(app.store)
    assert report.sound, report.findings


async def test_another_server_takes_over_at_once(lossy_app: LossyApp) -> None:
    app, faults, url = lossy_app
    async with serving(app) as client, App(url) as second, serving(second) as other:
        path = f"/api/offices/{(await _office(client))['office']}/jobs"
        faults.after(_WORK)
        assert (await client.post(path, _BATCH, Idempotency_Key="k")).status == 503
        again = await other.post(path, _BATCH, Idempotency_Key="k")
        assert again.status == 201
        assert (await client.post(path, _BATCH, Idempotency_Key="k")).body == again.body
        assert len((await client.get(path)).json["items"]) == 2


async def test_refused_repeat_does_not_free_the_key(lossy_app: LossyApp) -> None:
    """The first request may have had its effect, so its ids must not be forgotten when the second is refused."""
    app, faults, _ = lossy_app
    app.task(name="task_0")(_task)
    named = {"task_id": "task_0", "cron": "0 9 * * *", "name": "daily"}
    async with serving(app) as client:
        await client.post("/api/schedules", named | {"name": "other"})
        faults.before(_WORK)
        assert (await client.post("/api/schedules", named, Idempotency_Key="k")).status == 503
        taken = (await client.post("/api/schedules", named)).json["id"]
        assert (await client.post("/api/schedules", named, Idempotency_Key="k")).status == 409
        await client.ask("PATCH", f"/api/schedules/{taken}", {"name": "renamed"})
        other = await client.post("/api/schedules", named | {"name": "third"}, Idempotency_Key="k")
        assert (other.status, other.code) == (422, "key_already_used")
        assert (await client.post("/api/schedules", named, Idempotency_Key="k")).status == 201


async def test_repeat_finds_it_whatever_changed_meanwhile(lossy_app: LossyApp) -> None:
    """Made anew, it would be refused by now, or be something else; the first request counts."""
    app, faults, _ = lossy_app
    app.task(name="task_0")(_task)
    async with serving(app) as client:
        copied = (await client.post("/api/engine/jobs", {"task": "task_0", "priority": 1})).json["id"]
        assert (await client.post("/api/tasks/task_0/executions", {})).status == 201  # It is registered by this.
        await app.cancel_where()
        requests = [("/api/engine/jobs", {"copy_of": copied}), ("/api/tasks/task_0/executions", {})]
        for number, (path, body) in enumerate(requests):
            faults.after(_WORK)
            assert (await client.post(path, body, Idempotency_Key=f"k-{number}")).status == 503
            assert faults.struck
        await app.retry(copied)
        await app.reprioritise(copied, priority=5)
        await app.cancel_where()
        assert (await client.post("/api/tasks/task_0/executions", {})).status == 201
        for number, (path, body) in enumerate(requests):
            again = await client.post(path, body, Idempotency_Key=f"k-{number}")
            assert again.status == 201, again
        assert len(await app.jobs()) == 5


async def test_lost_start_leaves_the_key_usable(lossy_app: LossyApp) -> None:
    app, faults, _ = lossy_app
    async with serving(app) as client:
        path = f"/api/offices/{(await _office(client))['office']}/jobs"
        faults.after(1)
        assert (await client.post(path, {"jobs": [{"handler": "?"}]}, Idempotency_Key="k")).status == 503
        assert (await client.post(path, {"jobs": [{"handler": "?"}]}, Idempotency_Key="k")).status == 422
        assert (await client.post(path, _BATCH, Idempotency_Key="k")).status == 201


async def test_own_client_repeats_by_itself_and_makes_one(lossy_app: LossyApp) -> None:
    app, faults, _ = lossy_app
    async with serving(app) as server, AsyncClient(server.url) as client:
        office = (await _office(server))["office"]
        for number in range(1, 4):
            faults.after(number)
            made = await client.office(office).create_jobs([{}, {}])
            assert faults.struck
            assert len(made) == 2
        assert len((await server.get(f"/api/offices/{office}/jobs")).json["items"]) == 6


async def _listed(client: Client, creation: Creation, places: dict[str, str]) -> set[str]:
    response: Response = await client.get(creation.listing.format(**places))
    own = {places["office"]} if creation.listing == "/api/offices" else set()
    listed = [each[creation.listed] for each in response.json["items"]]
    assert len(listed) == len(set(listed))
    return set(listed) - own


async def _places(client: Client, creation: Creation) -> dict[str, str]:
    places = await _office(client)
    return places | {"replay": str(await uploaded(client))} if "{replay}" in creation.path else places


async def _office(client: Client) -> dict[str, str]:
    office = (await client.post("/api/offices", {"name": "Seoul", "webhooks": [_HOOK]})).json
    return {"office": office["id"], "webhook": office["webhooks"][0]["id"]}


async def _task() -> None: ...
