"""What schedules refuse: with the field, the reason and what would fit, and before anything is written."""

import json
from typing import Any
from urllib.parse import quote

import pytest

from hanbeon import App
from tests.server.client import Client, Said

BAD: dict[str, tuple[dict[str, Any], str, str]] = {
    "never fires": ({"cron": "0 0 30 2 *"}, "cron", "never fires"),
    "never fires, with seconds": ({"cron": "0 0 0 31 4 *"}, "cron", "for example 0 9 L 2 *"),
    "not a minute": ({"cron": "61 * * * *"}, "cron", "minute"),
    "too few fields": ({"cron": "* * *"}, "cron", "for example 0 9 * * MON-FRI"),
    "too many fields": ({"cron": "* * * * * * *"}, "cron", "no field for years"),
    "empty": ({"cron": ""}, "cron", "for example 0 9 * * MON-FRI"),
    "under a second": ({"cron": "*/0.5 * * * * *"}, "cron", ""),
    "every": ({"cron": "@every 100ms"}, "cron", "one is the shortest interval"),
    "a step of nothing": ({"cron": "*/0 * * * *"}, "cron", ""),
    "unknown word": ({"cron": "@sometimes"}, "cron", "@daily"),
    "neither": ({"cron": None}, "cron", "for example"),
    "both": ({"cron": "@daily", "run_at": "2099-01-01T00:00:00Z"}, "run_at", "leave one of them out"),
    "past": ({"cron": None, "run_at": "2020-01-01T00:00:00+09:00"}, "run_at", "choose a later instant, for example 20"),
    "impossible date": ({"cron": None, "run_at": "2027-02-30T09:00:00+09:00"}, "run_at", "like 2027-01-31T09:00:00"),
    "only a date": ({"cron": None, "run_at": "2027-02-20"}, "run_at", "use ISO-8601"),
    "not a date": ({"cron": None, "run_at": "tomorrow"}, "run_at", "use ISO-8601"),
    "a number": ({"cron": None, "run_at": 1_900_000_000}, "run_at", "use ISO-8601"),
    "unknown zone": ({"timezone": "Asia/Soul"}, "timezone", "did you mean Asia/Seoul"),
    "offset as a zone": ({"timezone": "+09:00"}, "timezone", "use a place like Asia/Seoul"),
    "zone by path": ({"timezone": "../../etc/passwd"}, "timezone", "must be an IANA time zone"),
    "unknown task": ({"task_id": "reprot"}, "task_id", "did you mean 'report'?"),
    "no task": ({"task_id": None}, "task_id", "name the task"),
    "task of a wrong type": ({"task_id": 7}, "task_id", ""),
    "unknown field": ({"timezon": "UTC"}, "timezon", "did you mean 'timezone'?"),
    "cron of a wrong type": ({"cron": ["* * * * *"]}, "cron", "use text like"),
    "args of a wrong type": ({"args": [1]}, "args", "use an object"),
    "args that do not fit": ({"args": {"day": "x", "night": "y"}}, "args", "night"),
    "overlap": ({"overlap": "maybe"}, "overlap", "queue_one"),
    "misfire": ({"misfire": "catch"}, "misfire", "coalesce"),
    "limit": ({"misfire_limit": 0}, "misfire_limit", "1 to"),
    "limit as text": ({"misfire_limit": "10"}, "misfire_limit", "whole number"),
    "jitter": ({"jitter": -1}, "jitter", "like 30 or '5m'"),
    "a long jitter": ({"jitter": "2d"}, "jitter", "0 to a day"),
    "jitter as a truth": ({"jitter": True}, "jitter", "like 30"),
    "gap": ({"dst_gap": "later"}, "dst_gap", "fire"),
    "gap of an instant": ({"cron": None, "run_at": "2099-01-01T00:00:00Z", "dst_gap": "skip"}, "dst_gap", "cron"),
    "paused": ({"paused": "yes"}, "paused", ""),
    "ends before it starts": (
        {"starts_at": "2099-02-01T00:00:00Z", "ends_at": "2099-01-01T00:00:00Z"},
        "ends_at",
        "choose a later end",
    ),
    "ended": ({"ends_at": "2020-01-01T00:00:00Z"}, "ends_at", "does not fire any more"),
    "an empty name": ({"name": ""}, "name", "empty"),
    "a long name": ({"name": "x" * 201}, "name", "at most 200"),
    "a name with NUL": ({"name": "a\0b"}, "name", "NUL"),
    "a giant cron": ({"cron": "* " * 100_000}, "cron", "more than 500"),
    "a hostile cron": ({"cron": "'; DROP TABLE hanbeon.schedule; --"}, "cron", "for example"),
    "full-width digits": ({"cron": "１ * * * *"}, "cron", "has no meaning"),
}


@pytest.fixture
async def known(app: App, server: Client) -> Client:
    @app.task
    async def report(day: str = "") -> None: ...

    return server


def _refused(said: Said, field: str | None, words: str) -> None:
    assert (said.status, said.json["field"]) == (422, field), said
    assert said.code in ("invalid", "unknown_task", "arguments_do_not_fit")
    assert words in said.json["detail"], said.json["detail"]
    assert len(said.json["detail"]) < 1_000


@pytest.mark.parametrize("name", BAD)
async def test_what_cannot_be_is_refused_and_nothing_is_written(known: Client, name: str) -> None:
    body, field, words = BAD[name]
    good = {"task_id": "report", "cron": "0 9 * * *"}
    _refused(await known.post("/api/schedules", good | body), field, words)
    assert (await known.get("/api/schedules")).json["items"] == []
    made = await known.post("/api/schedules", good)
    _refused(await known.ask("PATCH", made.headers["location"], {"cron": "0 8 * * *"} | body), field, words)
    assert (await known.get(made.headers["location"])).json == made.json


async def test_previews_refuse_the_same(known: Client) -> None:
    for body, field in (
        ({"cron": "0 0 30 2 *"}, "cron"),
        ({"cron": "@daily", "timezone": "Mars"}, "timezone"),
        ({"cron": "@daily", "n": 0}, "n"),
        ({"cron": "@daily", "n": 1_000_000}, "n"),
        ({"cron": "@daily", "from": "now"}, "from"),
        ({"cron": "@daily", "task_id": "report"}, "task_id"),
        ({}, "cron"),
    ):
        _refused(await known.post("/api/schedules/preview", body), field, "")


@pytest.mark.parametrize("body", [b"", b"[]", b"null", b'"x"', b"{", b"\xff\xfe", b"[" * 5_000])
async def test_what_is_no_object_is_refused(known: Client, body: bytes) -> None:
    for path in ("/api/schedules", "/api/schedules/preview"):
        said = await known.post(path, body)
        assert (said.status, said.code) in ((422, "not_json"), (422, "invalid")), said
    assert (await known.get("/api/schedules")).json["items"] == []


async def test_a_manual_run_refuses_what_does_not_fit(known: Client) -> None:
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


@pytest.mark.parametrize("told", ["x", "", "%00", "%ff", "1" * 5_000, "{}", "01890000-0000-7000-8000-00000000DEAD"])
async def test_ids_that_are_none_are_not_found(server: Client, told: str) -> None:
    for path in ("/api/schedules", "/api/executions"):
        said = await server.get(f"{path}/{told}")
        assert said.status == 404, said
        assert json.loads(said.body)["code"] in ("schedule_not_found", "execution_not_found", "no_such_path")
