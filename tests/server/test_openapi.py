"""The OpenAPI document holds for every request: unknown ids, invalid input, links.

Scopes are in `test_scopes.py`; the client of the tests checks that no other statuses occur.
"""

import json
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from hanbeon import App
from hanbeon.server import docs_pages
from tests.server.client import Client, serving

_NOBODY = "01890000-0000-7000-8000-000000000001"


@pytest.fixture
async def narrow(app: App) -> AsyncIterator[Client]:
    """A client of a server that takes small bodies only."""
    app.settings = app.settings.model_copy(update={"max_request_bytes": 2_000})
    async with serving(app) as client:
        yield client


async def _operations(client: Client) -> list[tuple[str, str, dict[str, Any]]]:
    paths: dict[str, Any] = (await client.get("/openapi.json")).json["paths"]
    return [
        (method.upper(), path, operation) for path, methods in paths.items() for method, operation in methods.items()
    ]


def _with_ids(path: str) -> str:
    return re.sub(r"\{\w+\}", _NOBODY, path)


_BODIES: dict[tuple[str, str], Any] = {
    ("POST", "/api/offices/{id}/jobs"): {"jobs": [{}]},
    ("POST", "/api/engine/jobs/{jobId}/mark-done"): {"comment": "on paper"},
    ("POST", "/api/offices/{id}/jobs/{jobId}/mark-done"): {"comment": "on paper"},
}
"""Valid bodies, where an empty object is none: a request is validated before anything is looked up."""


_WITHOUT_ID = {"/api/workflow/execute", *(f"/dashboard/{name}" for name in ("app.js", "app.css", "icon.svg"))}
"""The id is in the body; or the dashboard was not built."""


async def test_every_path_returns_404_for_an_unknown_id(narrow: Client) -> None:
    for method, path, operation in await _operations(narrow):
        if "{" not in path:
            assert path in _WITHOUT_ID or "404" not in operation["responses"], path
            continue
        body = _BODIES.get((method, path), {}) if "requestBody" in operation else None
        answer = await narrow.ask(method, _with_ids(path), body)
        assert answer.status == 404, (method, path, answer)


async def test_every_request_rejects_invalid_parameters_and_bodies(narrow: Client) -> None:
    for method, path, operation in await _operations(narrow):
        answer = await narrow.ask(method, f"{_with_ids(path)}?no_such_thing=1")
        assert (answer.status, answer.code, answer.json["field"]) == (422, "invalid", "no_such_thing"), path
        if "multipart/form-data" in operation.get("requestBody", {}).get("content", ()):
            assert (await narrow.ask(method, _with_ids(path), b"{")).code == "not_multipart"
        elif "requestBody" in operation:
            assert (await narrow.ask(method, _with_ids(path), b"{")).code == "not_json"
            assert (await narrow.ask(method, _with_ids(path), b" " * 2_001)).code == "request_too_large"
        else:
            # With an Idempotency-Key the body is compared with the first one, so it is read even if none is taken.
            keyed = any(each["name"] == "Idempotency-Key" for each in operation.get("parameters", ()))
            assert ("413" in operation["responses"]) == keyed, path


async def test_every_change_is_refused_to_pages_of_other_sites(narrow: Client) -> None:
    for method, path, operation in await _operations(narrow):
        if method != "GET" and "security" in operation:
            answer = await narrow.ask(method, _with_ids(path), Origin="https://evil.example")
            assert (answer.status, answer.code) == (403, "foreign_origin"), path


async def test_operation_ids_are_unique_and_links_lead_to_results(narrow: Client) -> None:
    operations = await _operations(narrow)
    by_name = {operation["operationId"]: (method, path) for method, path, operation in operations}
    assert len(by_name) == len(operations)
    links = {(method, path): dict(_links(operation)) for method, path, operation in operations}
    of_office, of_jobs = links["POST", "/api/offices"], links["POST", "/api/offices/{id}/jobs"]
    assert all(each == {"id": "$response.body#/id"} for each in of_office.values())
    below = {
        operation["operationId"] for _, path, operation in operations if re.fullmatch(r"/api/offices/\{id\}[^{]*", path)
    }
    assert of_office.keys() == below
    with_job = {operation["operationId"] for _, path, operation in operations if "offices/{id}/jobs/{jobId}" in path}
    assert of_jobs.keys() == with_job
    assert all(set(each) == {"id", "jobId"} for each in of_jobs.values())


def _links(operation: dict[str, Any]) -> Iterator[tuple[str, dict[str, str]]]:
    for answer in operation["responses"].values():
        for link in answer.get("links", {}).values():
            yield link["operationId"], link["parameters"]


async def test_every_reference_resolves_and_response_has_a_schema(narrow: Client) -> None:
    document = (await narrow.get("/openapi.json")).json
    text = json.dumps(document)
    for name in re.findall(r'"\$ref": "#/components/schemas/(\w+)"', text):
        assert name in document["components"]["schemas"]
    for method, path, operation in await _operations(narrow):
        for status, answer in operation["responses"].items():
            assert "content" in answer or status in ("204", "304", "307"), (method, path, status)
            for media, content in answer.get("content", {}).items():
                assert media != "application/json" or "schema" in content or path == "/openapi.json", (path, status)


async def test_conflicts_that_are_described_can_be_met(narrow: Client) -> None:
    office = f"/api/offices/{(await narrow.post('/api/offices', {'name': 'Seoul'})).json['id']}"
    job = {"id": _NOBODY, "title": "one"}
    assert (await narrow.post(f"{office}/jobs", {"jobs": [job]})).status == 201
    path = f"{office}/jobs/{_NOBODY}"
    met = {
        ("DELETE", "/api/offices/{id}"): await narrow.ask("DELETE", office),
        ("POST", "/api/offices/{id}/jobs"): await narrow.post(f"{office}/jobs", {"jobs": [{**job, "title": "two"}]}),
        ("POST", "/api/offices/{id}/jobs/{jobId}/retry"): await narrow.post(f"{path}/retry"),
        ("PATCH", "/api/offices/{id}"): await narrow.ask("PATCH", office, {"name": "x"}, If_Match='"7"'),
        ("PATCH", "/api/offices/{id}/scheduler/config"): await narrow.ask(
            "PATCH", f"{office}/scheduler/config", {"maxRetries": 1}, If_Match='"7"'
        ),
    }
    assert (await narrow.post(f"{path}/cancel")).status == 200
    met |= {
        ("PATCH", "/api/offices/{id}/jobs/{jobId}/priority"): await narrow.ask(
            "PATCH", f"{path}/priority", {"priority": 1}
        )
    }
    documented = {
        (method, path): {int(status) for status in operation["responses"] if status in ("409", "412")}
        for method, path, operation in await _operations(narrow)
    }
    for place, answer in met.items():
        assert {answer.status} == documented[place], (place, answer)


async def test_description_is_made_once(sqlite_server: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hundreds of requests for it at once must not keep the server from answering others."""
    first = await sqlite_server.get("/openapi.json")
    monkeypatch.setattr(docs_pages, "describe", None)
    monkeypatch.setattr(Path, "read_bytes", None)
    for path in ("/openapi.json", "/docs", "/docs/docs.css", "/docs/docs.js", "/docs/korean.json"):
        full = await sqlite_server.get(path)
        assert (full.status, full.headers["cache-control"]) == (200, "no-cache")
        tag = full.headers["etag"]
        for known in (tag, f"W/{tag}", f'"other", {tag}', "*"):
            answer = await sqlite_server.get(path, If_None_Match=known)
            assert (answer.status, answer.body, answer.headers["etag"]) == (304, b"", tag)
        for unknown in ("", '"other"', tag.strip('"')):
            assert (await sqlite_server.get(path, If_None_Match=unknown)).body == full.body
    assert (await sqlite_server.get("/openapi.json")).body == first.body
