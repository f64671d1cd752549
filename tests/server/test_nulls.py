"""Null in the body of a POST: an optional field is left out, a required one is invalid, and data stays data."""

from typing import Any

import pytest

from hanbeon import App
from hanbeon.surfaces.registry import SURFACES
from hanbeon.surfaces.schema import PostBody
from hanbeon.surfaces.validation import structs_in
from tests.server.client import Client, serving

_STEP = {"type": "wait", "seconds": 1}
_WORKFLOW = {"name": "Report", "steps": [_STEP], "schedule_config": {"mode": "immediate"}}
_OPTIONS = ("name", "retries", "retry_delay", "timeout", "on_error", "target", "title", "body", "recipients", "method")
_STEP_OF_NULLS = {**dict.fromkeys([*_OPTIONS, "url", "headers", "minutes", "until", "task_id", "args"]), **_STEP}
_POSTS = [
    operation
    for surface in SURFACES
    for operation in surface.operations
    if operation.method == "POST" and operation.request is not None
]


@pytest.mark.parametrize("operation", _POSTS, ids=lambda operation: operation.path)
def test_every_post_has_the_rule_in_all_its_objects(operation: Any) -> None:
    for kind in structs_in([operation.request]):
        assert issubclass(kind, PostBody) or kind.__name__ == "JobFilter", kind


def test_no_change_has_the_rule_in_its_own_fields() -> None:
    changes = [each for surface in SURFACES for each in surface.operations if each.method == "PATCH"]
    for operation in changes:
        assert operation.request is not None
        assert not issubclass(operation.request, PostBody), operation.path


async def test_description_allows_null_in_optional_fields(sqlite_server: Client) -> None:
    document = (await sqlite_server.get("/openapi.json")).json
    schemas = document["components"]["schemas"]
    seen = 0
    for path, methods in document["paths"].items():
        body = (
            methods.get("post", {}).get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
        )
        if body is None:
            continue
        schema = schemas[body["$ref"].rpartition("/")[2]]
        required = set(schema.get("required", ()))
        for name, described in schema.get("properties", {}).items():
            allowed = not described or {"type": "null"} in described.get("anyOf", ())
            assert allowed == (name not in required), (path, name, described)
            seen += 1
    assert seen > 50


async def _shown(client: Client, path: str, body: Any) -> dict[str, Any]:
    answer = await client.post(path, body)
    assert answer.status == 201, answer
    own = {"id", "queue_id", "seq", "path", "run_at", "created_at", "changed_at", "updated_at"}
    return {name: value for name, value in answer.json.items() if name not in own}


async def test_null_leaves_an_optional_field_out(app: App) -> None:
    @app.task
    async def build(target: str = "all") -> None: ...

    async with serving(app) as client:
        chain = dict.fromkeys(("queue_library", "jobs", "retries", "on_unknown", "on_backward_failure"))
        assert await _shown(client, "/api/chains", chain) == await _shown(client, "/api/chains", {})
        job = dict.fromkeys(("forward_operation", "backward_operation", "operation_library", "expired_time"))
        made = (await client.post("/api/chains", {"jobs": [job, {}]})).json["jobs"]
        for field in (*job, "state", "arguments"):
            assert made[0][field] == made[1][field], field

        workflow = dict.fromkeys(("variables", "timezone", "status", "notifications"))
        config = {"mode": "immediate", "delay_minutes": None, "scheduled_time": None, "recurrence": None}
        nulls = {**_WORKFLOW, **workflow, "steps": [_STEP_OF_NULLS], "schedule_config": config}
        assert await _shown(client, "/api/workflows", nulls) == await _shown(client, "/api/workflows", _WORKFLOW)

        options = ("args", "copy_of", "queue", "role", "priority", "urgent", "delay", "timeout_ms", "max_retries")
        enqueued = [{"task": "build", **dict.fromkeys(options)}, {"task": "build"}]
        first, second = [await _shown(client, "/api/engine/jobs", each) for each in enqueued]
        assert first == second

        names = ("maxConcurrentJobs", "maxConcurrentByRole", "defaultTimeout", "maxRetries", "retryBackoff")
        office = {"name": "Seoul", "config": dict.fromkeys((*names, "retryBaseDelay"))}
        assert await _shown(client, "/api/offices", office) == await _shown(client, "/api/offices", {"name": "Seoul"})


async def test_null_is_invalid_in_a_required_field(sqlite_server: Client) -> None:
    for path, body, field in (
        ("/api/workflows", {**_WORKFLOW, "steps": None}, "steps"),
        ("/api/workflows", {**_WORKFLOW, "steps": [{"type": None, "title": None}]}, "steps[0].type"),
        ("/api/workflows", {**_WORKFLOW, "schedule_config": {"mode": None}}, "schedule_config.mode"),
        ("/api/offices", {"name": None, "config": None}, "name"),
        ("/api/workflow/execute", {"workflow_id": None, "variables": None}, "workflow_id"),
        ("/api/engine/jobs/bulk", {"action": None, "filter": {}, "dry_run": None}, "action"),
        ("/api/chains", {"jobs": [None]}, "jobs[0]"),
        ("/api/chains", {"retries": -1, "on_unknown": None}, "retries"),
        ("/api/chains", {"jobs": None, "retires": None}, "retires"),
    ):
        refused = await sqlite_server.post(path, body)
        assert (refused.status, refused.json["field"]) == (422, field), (path, body, refused)


async def test_null_keeps_its_meaning_in_a_change(sqlite_server: Client) -> None:
    workflow = f"/api/workflows/{(await sqlite_server.post('/api/workflows', _WORKFLOW)).json['id']}"
    office = f"/api/offices/{(await sqlite_server.post('/api/offices', {'name': 'Seoul'})).json['id']}"
    for path, body, field in (
        (workflow, {"name": None}, "name"),
        (workflow, {"variables": None}, "variables"),
        (office, {"config": None}, "config"),
        (f"{office}/scheduler/config", {"maxConcurrentJobs": None}, "maxConcurrentJobs"),
    ):
        refused = await sqlite_server.ask("PATCH", path, body)
        assert (refused.status, refused.json["field"]) == (422, field), (path, body, refused)
    assert (await sqlite_server.ask("PATCH", workflow, {"timezone": None})).json["timezone"] == "Asia/Seoul"


async def test_null_in_data_is_data(sqlite_server: Client) -> None:
    chain = await sqlite_server.post("/api/chains", {"retries": None, "jobs": [{"arguments": None}, {}]})
    assert [job["arguments"] for job in chain.json["jobs"]] == [None, "EMPTY_ARGS"]
    workflow = {**_WORKFLOW, "status": None, "variables": {"who": None}}
    assert (await sqlite_server.post("/api/workflows", workflow)).json["variables"] == {"who": None}
    config = {"maxRetries": None, "maxConcurrentByRole": {"FE": None, "PO": 2}}
    office = await sqlite_server.post("/api/offices", {"name": "Seoul", "config": config})
    assert office.json["config"]["maxConcurrentByRole"] == {"BE": 1, "QA": 1, "DevOps": 1, "PO": 2}


async def test_none_leaves_an_optional_keyword_out(app: App) -> None:
    chain = await app.chains.create(queue_library=None, retries=None, jobs=[{"expired_time": None}])
    assert (chain.queue_library, chain.retries, chain.jobs[0].expired_time) == ("UNINIT", 0, 30)
