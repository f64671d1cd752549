"""Hostile input gets a 4xx problem document, and nothing is half written."""

import asyncio
import json
import socket
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hanbeon import App
from hanbeon.server import connections
from hanbeon.store.operations import events as event_rows
from tests.server.client import Client, serving

_OFFICE = "01890000-0000-7000-8000-000000000001"
_PLACES = [
    ("POST", "/api/offices"),
    ("PATCH", "/api/offices/{id}"),
    ("PATCH", "/api/offices/{id}/scheduler/config"),
    ("POST", "/api/offices/{id}/jobs"),
    ("POST", "/api/offices/{id}/jobs/cancel-all"),
    ("PATCH", "/api/offices/{id}/jobs/{job}/priority"),
]
_BODIES = [
    b"",
    b"{",
    b"null",
    b"[]",
    b'"text"',
    b"1e999",
    b"NaN",
    b"{}x",
    b"\xff\xfe",
    b"\xef\xbb\xbf{}",
    b'{"name": "\\ud800"}',
    b'{"name": "\\u0000"}',
    b'{"name": 1}',
    b'{"name": null}',
    b'{"name": {"$gt": ""}}',
    b'{"nmae": "x"}',
    b'{"jobs": {}}',
    b'{"jobs": [[]]}',
    b'{"jobs": [{"role": "\\u0000"}]}',
    b'{"jobs": [{"title": "\\ud800"}]}',
    b'{"jobs": [{"depends_on": ["nobody"]}]}',
    b'{"jobs": [{"depends_on": [[]]}]}',
    b'{"jobs": [{"args": {"x": 1e400}}]}',
    b'{"jobs": [{"priority": 99999999999999999999}]}',
    b'{"jobs": [{"timeout_ms": -1}]}',
    b'{"jobs": [{"id": "' + b"x" * 10_000 + b'"}]}',
    b'{"jobs": [{"id": "not-a-uuid"}]}',
    b'{"config": {"maxConcurrentByRole": {"": 0}}}',
    b'{"maxConcurrentByRole": {"\\u0000": 1}}',
    b'{"maxConcurrentJobs": 1e3}',
    b'{"statuses": [{}]}',
    b'{"statuses": "ready"}',
    b'{"priority": true}',
    b'{"urgent": 1}',
    b'{"jobs": [{"priority": -0.0}]}',
    b'{"jobs": [{"priority": 1' + b"0" * 4_000 + b"}]}",
    b'{"jobs": [{"priority": 1' + b"0" * 100_000 + b"}]}",
    b'{"jobs": [{"args": {"x": -1e400}}]}',
    b'{"jobs": [{"args": {"x": 1' + b"0" * 4_000 + b"}}]}",
    b'{"jobs": [{"args": {"x": "\\udc00"}}]}',
    b'{"jobs": [{"args": {"x": "\xed\xa0\x80"}}]}',
    b'{"jobs": [{"key": "\xc0\x80"}]}',
    b'{"name": Infinity}',
    b'{"name": -NaN}',
    b"{'name': 'x'}",
    b'{"name": "x",}',
    b'{"name": "x"}{"name": "y"}',
    b'{"name": "x"}\x00',
    b'{"name": "x" /* and more */}',
    b'{"priority": 1.5}',
    b'{"priority": "1"}',
    b"null null",
    b"[" * 100_000,
    b'{"jobs":' * 50_000,
    b'{"name": "x", "webhooks": [{"url": "file:///etc/passwd", "secret": "s"}]}',
]


async def _place(client: Client, path: str) -> str:
    office = (await client.post("/api/offices", {"name": "Seoul"})).json["id"]
    job = (await client.post(f"/api/offices/{office}/jobs", {"jobs": [{}]})).json["jobs"][0]["id"]
    return path.format(id=office, job=job)


@pytest.mark.parametrize(("method", "path"), _PLACES)
async def test_rejects_invalid_bodies(sqlite_server: Client, method: str, path: str) -> None:
    path = await _place(sqlite_server, path)
    for body in _BODIES:
        answer = await sqlite_server.ask(method, path, body)
        assert answer.status < 500, (body[:60], answer)
        if answer.status >= 400:
            assert answer.status == 422, (body[:60], answer)
            assert answer.code


@pytest.mark.parametrize(
    "path",
    [
        *("/api/offices/x", "/api/offices/%00", "/api/offices/%ff", f"/api/offices/{_OFFICE}"),
        *("/api/offices/%2e%2e", f"/api/offices/{_OFFICE.upper()}", "/api/offices/" + "9" * 3000),
        *("/api/offices/x/jobs/y", "/api/offices/%00/jobs/%00/log", "/api/offices/%ED%95%9C%EB%B2%88/graph"),
    ],
)
def test_ids_that_nothing_has_are_not_found(sqlite_server: Client, path: str) -> None:
    answer = sqlite_server.ask_now("GET", path)
    assert (answer.status, answer.code) == (404, "office_not_found")


@pytest.mark.parametrize(
    "query",
    [
        *("limit=0", "limit=-1", "limit=x", "limit=99999999999999999999", "limit=", "limit=1&limit=2"),
        *(
            "cursor=x",
            "cursor=-1",
            "cursor=%00",
            "status=nothing",
            "status=%00",
            "role=%00",
            "task_id=%00",
            "stauts=done",
        ),
    ],
)
async def test_rejects_invalid_parameters_by_name(sqlite_server: Client, query: str) -> None:
    path = await _place(sqlite_server, "/api/offices/{id}/jobs")
    answer = await sqlite_server.get(f"{path}?{query}")
    assert (answer.status, answer.code, answer.json["field"]) == (422, "invalid", query.partition("=")[0])


async def test_rejects_oversized_body_with_or_without_length(app: App) -> None:
    app.settings = app.settings.model_copy(update={"max_request_bytes": 2_000})
    async with serving(app) as client:
        fits = json.dumps({"name": "x" * 100}).encode()
        assert (await client.post("/api/offices", fits + b" " * (2_000 - len(fits)))).status == 201
        answer = await client.post("/api/offices", fits + b" " * (2_001 - len(fits)))
        assert (answer.status, answer.code) == (413, "request_too_large")
        parts = urlsplit(client.url)
        chunk = b"400\r\n" + b" " * 1024 + b"\r\n"

        def chunked() -> bytes:
            with socket.create_connection((str(parts.hostname), parts.port), timeout=20) as connection:
                connection.sendall(
                    b"POST /api/offices HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk * 3
                )
                return connection.makefile("rb").readline()

        assert b" 413 " in await asyncio.to_thread(chunked)
        assert len((await client.get("/api/offices")).json["items"]) == 1


@pytest.mark.parametrize("first", [b"Content-Length: 5", b"Transfer-Encoding: chunked"])
def test_rejects_a_request_with_two_lengths(sqlite_server: Client, first: bytes) -> None:
    """A proxy that believes the other one could be made to pass on a request that it never saw."""
    parts = urlsplit(sqlite_server.url)
    both = sorted([b"Content-Length: 5", b"Transfer-Encoding: chunked"], key=lambda each: each != first)
    hidden = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    head = b"POST /api/schedules/preview HTTP/1.1\r\nHost: localhost\r\n" + b"\r\n".join(both) + b"\r\n\r\n"
    with socket.create_connection((str(parts.hostname), parts.port), timeout=60) as connection:
        connection.sendall(head + b"0\r\n\r\n" + hidden)
        connection.shutdown(socket.SHUT_WR)
        answers = connection.makefile("rb").read()
    assert answers.startswith(b"HTTP/1.1 400 ")
    assert answers.count(b"HTTP/1.1 ") == 1


@pytest.mark.parametrize("close", [True, False])
@pytest.mark.parametrize("path", ["/api/offices", "/nowhere"])
async def test_response_is_read_by_clients_that_send_first(app: App, path: str, close: bool) -> None:
    """Most clients read nothing before they have sent the whole body; a reset would hide the response."""
    app.settings = app.settings.model_copy(update={"max_request_bytes": 2_000})
    async with serving(app) as client:
        headers = {"Connection": "close"} if close else {}
        answer = await client.post(path, b" " * 20_000_000, **headers)
        assert answer.status == (413 if path == "/api/offices" else 404)


async def test_endless_rest_of_a_request_is_given_up(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MOST_BYTES", 100_000)
    app.settings = app.settings.model_copy(update={"max_request_bytes": 2_000})
    head = b"POST /api/offices HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000000\r\n\r\n"
    async with serving(app) as client:
        for more in (b"", b"Connection: close\r\n"):
            parts = urlsplit(client.url)
            _, writer = await asyncio.open_connection(parts.hostname, parts.port)
            writer.write(head[:-2] + more + b"\r\n")
            with pytest.raises((ConnectionResetError, BrokenPipeError)):
                await _send_for_ever(writer)


async def _send_for_ever(writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(b" " * 10_000)
        await writer.drain()


async def test_pages_of_other_sites_change_nothing(server: Client) -> None:
    for origin in ("https://evil.example", "null", "http://localhost.evil.example", "http://127.0.0.1:1", "", "://"):
        answer = await server.post("/api/offices", {"name": "x"}, Origin=origin)
        assert (answer.status, answer.code) == (403, "foreign_origin"), origin
        assert "access-control-allow-origin" not in answer.headers
    assert (await server.post("/api/offices", {"name": "x"}, Origin=server.url)).status == 201
    preflight = await server.ask("OPTIONS", "/api/offices", Origin="https://evil.example")
    assert preflight.status == 405


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=10,
)
_names = st.sampled_from(
    [
        *("name", "config", "sessions", "notifications", "webhooks", "jobs", "task_id", "role", "statuses"),
        *("priority", "urgent", "maxConcurrentJobs", "maxConcurrentByRole", "retryBackoff", "defaultTimeout"),
    ]
)
_job = st.dictionaries(
    st.sampled_from(
        [
            *("key", "id", "task_id", "role", "title", "args", "priority", "urgent", "depends_on", "timeout_ms"),
            *("max_retries", "handler", "on_dependency_failure"),
        ]
    ),
    _json,
    max_size=4,
)
_body = st.dictionaries(_names, _json, max_size=3) | st.fixed_dictionaries({"jobs": st.lists(_job, max_size=3)})


async def test_random_input_is_never_a_server_error(server: Client) -> None:
    paths = [(method, await _place(server, path)) for method, path in _PLACES]

    @settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.sampled_from(paths), _body)
    def send(place: tuple[str, str], body: Any) -> None:
        answer = server.ask_now(*place, json.dumps(body).encode("utf-8", "replace"))
        assert answer.status in (200, 201, 409, 422), (place, body, answer)
        if answer.status >= 400:
            assert answer.code

    await asyncio.to_thread(send)


@pytest.mark.parametrize(
    "name",
    [
        "\u202egnp.exe\u202c",  # Read from right to left.
        "한번 ไทย عربى עברית",
        "e\u0301\u0327\u200d\ufeff",
        "👩\u200d👩\u200d👧\u200d👦",
        "\U0010ffff\uffff\ufffe",
        "<script>alert(1)</script>'; DROP TABLE job; -- ${jndi:x} {{7*7}} %s %00 \\u0000",
        "\t\n\r\x1b[31m\x7f\x85\u2028",
    ],
)
async def test_text_of_any_kind_is_returned_unchanged(server: Client, name: str) -> None:
    made = await server.post("/api/offices", {"name": name})
    assert (made.status, made.json["name"]) == (201, name)
    path = f"/api/offices/{made.json['id']}"
    job = {"key": name, "role": name, "task_id": name, "title": name, "args": {name: name}}
    (created,) = (await server.post(f"{path}/jobs", {"jobs": [job]})).json["jobs"]
    for shown in (created, (await server.get(f"{path}/jobs/{created['id']}")).json):
        assert [shown[field] for field in ("key", "role", "task_id", "title")] == [name] * 4
    found = (await server.get(f"{path}/jobs?role={quote(name)}&task_id={quote(name)}")).json["items"]
    assert [each["id"] for each in found] == [created["id"]]
    assert (await server.get("/metrics")).status == 200


async def test_of_a_name_that_comes_twice_the_last_is_meant(server: Client) -> None:
    made = await server.post("/api/offices", b'{"name": "first", "name": "last"}')
    assert (made.status, made.json["name"]) == (201, "last")


@pytest.mark.parametrize("depth", [10, 100, 101, 900, 5_000])
async def test_bodies_are_nested_at_most_100_deep(server: Client, depth: int) -> None:
    path = await _place(server, "/api/offices/{id}")
    inner = depth - 4  # The body, its array, the job and its arguments.
    body = b'{"jobs": [{"key": "deep", "args": {"x": ' + b"[" * inner + b"]" * inner + b"}}]}"
    made = await server.post(f"{path}/jobs", body)
    if depth <= 100:
        job = f"{path}/jobs/{made.json['jobs'][0]['id']}"
        assert [(await server.get(f"{job}{more}")).status for more in ("", "/explain", "/log")] == [200] * 3
    else:
        assert (made.status, made.code, made.json["field"]) == (422, "invalid", "body")
    assert (await server.get(f"{path}/jobs")).status == 200


@pytest.mark.parametrize(
    ("header", "value"),
    [
        *(("Idempotency-Key", value) for value in ("", " ", "x" * 256, "a b", "\x7f", "\xe9")),
        *(("If-Match", value) for value in ("", '"', '"x"', "x" * 5_000, '"99999999999999999999"', '"1", "2"')),
        *(("Last-Event-ID", value) for value in ("", "-1", "x", "9" * 40, "１")),
        *(("X-Request-Id", value) for value in ("", "a b", "x" * 65, "\xe9")),
        *(("Authorization", value) for value in ("", "Bearer", "Basic eA==", "Bearer " + "x" * 5_000, "\xe9 \xe9")),
        *(("Content-Type", value) for value in ("", "text/plain", "application/json; charset=utf-16", "x" * 5_000)),
    ],
)
async def test_headers_of_any_kind_are_no_defect(sqlite_server: Client, header: str, value: str) -> None:
    path = await _place(sqlite_server, "/api/offices/{id}")
    sent = {header.replace("-", "_"): value.encode("utf-8", "replace").decode("latin-1")}
    if header != "Last-Event-ID":
        assert (await sqlite_server.post(f"{path}/jobs", {"jobs": [{}]}, **sent)).status in (201, 422)
        assert (await sqlite_server.ask("PATCH", path, {"name": "x"}, **sent)).status in (200, 412)
    else:
        assert (await sqlite_server.get(f"{path}/events", **sent)).status == 422


@pytest.mark.parametrize(("method", "path"), _PLACES)
async def test_refusal_writes_nothing(app: App, server: Client, method: str, path: str) -> None:
    path = await _place(server, path)
    before = await app.store.read(event_rows.last_event_id), (await server.get("/api/offices")).json
    bodies = [b"{", b'{"nmae": "x"}', b'{"name": 1, "jobs": [{"depends_on": ["nobody"]}], "priority": true}']
    for body in bodies:
        assert (await server.ask(method, path, body)).status == 422
    assert (await app.store.read(event_rows.last_event_id), (await server.get("/api/offices")).json) == before


async def test_null_is_not_the_same_as_no_body(server: Client) -> None:
    """A client that lost its body would cancel everything."""
    path = await _place(server, "/api/offices/{id}")
    answer = await server.post(f"{path}/jobs/cancel-all", b"null")
    assert (answer.status, answer.code) == (422, "invalid")
    assert (await server.get(f"{path}/scheduler/stats")).json["ready"] == 1
    assert len((await server.post(f"{path}/jobs/cancel-all")).json["cancelled"]) == 1
