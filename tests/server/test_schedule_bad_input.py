"""Schedules reject invalid input with the field, the reason and a remedy, before anything is written."""

import json
from typing import Any
from urllib.parse import quote

import pytest

from hanbeon import App
from tests.server.client import Client, Response

REJECTED: tuple[tuple[dict[str, Any], str, str], ...] = (
    ({"cron": "0 0 30 2 *"}, "cron", "never fires"),
    ({"task_id": "reprot"}, "task_id", "did you mean 'report'?"),
    ({"args": {"day": "x", "night": "y"}}, "args", "night"),
    ({"timezon": "UTC"}, "timezon", "did you mean 'timezone'?"),
    ({"misfire_limit": 0}, "misfire_limit", "must be an integer from 1 to"),
)
"""One of each kind; `tests/surfaces/schedules/test_schemas.py` has them all."""


@pytest.fixture
async def known(app: App, server: Client) -> Client:
    @app.task
    async def report(day: str = "") -> None: ...

    return server


def _refused(response: Response, field: str | None, words: str) -> None:
    assert (response.status, response.json["field"]) == (422, field), response
    assert response.code in ("invalid", "unknown_task", "arguments_do_not_fit")
    assert words in response.json["detail"], response.json["detail"]
    assert len(response.json["detail"]) < 1_000


async def test_rejected_schedules_write_nothing(known: Client) -> None:
    good = {"task_id": "report", "cron": "0 9 * * *"}
    for body, field, words in REJECTED:
        _refused(await known.post("/api/schedules", good | body), field, words)
    assert (await known.get("/api/schedules")).json["items"] == []
    made = await known.post("/api/schedules", good)
    for body, field, words in REJECTED:
        _refused(await known.ask("PATCH", made.headers["location"], {"cron": "0 8 * * *"} | body), field, words)
    assert (await known.get(made.headers["location"])).json == made.json


async def test_previews_reject_invalid_fields(known: Client) -> None:
    _refused(await known.post("/api/schedules/preview", {"cron": "@daily", "n": 0}), "n", "")
    _refused(await known.post("/api/schedules/preview", {}), "cron", "")


@pytest.mark.parametrize("body", [b"", b"[]", b"null", b'"x"', b"{", b"\xff\xfe", b"[" * 5_000])
def test_rejects_non_object_body(sqlite_server: Client, body: bytes) -> None:
    before = sqlite_server.ask_now("GET", "/api/schedules").json["items"]
    for path in ("/api/schedules", "/api/schedules/preview"):
        response = sqlite_server.ask_now("POST", path, body)
        assert (response.status, response.code) in ((422, "not_json"), (422, "invalid")), response
    assert sqlite_server.ask_now("GET", "/api/schedules").json["items"] == before


async def test_rejects_invalid_manual_run(known: Client) -> None:
    for body, field in (({"arg": {}}, "arg"), ({"args": 1}, "args"), ({"args": {"x": 1}}, "args")):
        _refused(await known.post("/api/tasks/report/executions", body), field, "")
    assert (await known.get("/api/executions")).json["items"] == []


@pytest.mark.parametrize("name", ["a b", "한번", "100%", "x" * 200, "?x=1#y", "..", "'; --"])
async def test_tasks_of_unusual_names_behave(app: App, server: Client, name: str) -> None:
    @app.task(name=name)
    async def unusual() -> None: ...

    made = await server.post("/api/schedules", {"task_id": name, "cron": "@daily"})
    assert (made.status, made.json["task_id"]) == (201, name)
    path = f"/api/tasks/{quote(name, safe='')}"
    assert (await server.get(path)).json["task_id"] == name
    run = await server.post(f"{path}/executions")
    assert (run.status, run.json["task_id"]) == (201, name)
    listed = await server.get(f"/api/executions?task_id={quote(name, safe='')}")
    assert len(listed.json["items"]) == 1


@pytest.mark.parametrize("unknown", ["x", "", "%00", "%ff", "1" * 5_000, "{}", "01890000-0000-7000-8000-00000000DEAD"])
def test_ids_that_are_none_are_not_found(sqlite_server: Client, unknown: str) -> None:
    for path in ("/api/schedules", "/api/executions"):
        response = sqlite_server.ask_now("GET", f"{path}/{unknown}")
        assert response.status == 404, response
        assert json.loads(response.body)["code"] in ("schedule_not_found", "execution_not_found", "no_such_path")
