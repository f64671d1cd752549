"""Hostile JSON against every operation of every surface: no 5xx, no stall of others, bounded memory."""

import asyncio
import contextlib
import http.client
import json
import os
import re
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hanbeon import App
from hanbeon.surfaces.operation import Operation
from hanbeon.surfaces.registry import SURFACES
from tests.cli.workers import Running
from tests.server.client import Client, serving
from tests.server.fuzz.hostile_json import bodies, changed_bodies, queries
from tests.server.fuzz.valid_requests import TASK, World, new_world, valid_body

_OPERATIONS = [operation for surface in SURFACES for operation in surface.operations]
_LONG = os.environ.get("HANBEON_FUZZ") == "long"
_EXAMPLES = 300 if _LONG else 10
"""For each operation."""
_NEARLY_VALID = 8_000 if _LONG else 400
"""Over all operations."""
_MEMORY_BYTES = 700_000_000
"""Of a server that has read bodies of 16 MB; a defect costs gigabytes."""
_ANSWERED_SECONDS = 20.0
"""Far above a second, for a busy machine; a stall as in the past lasts for longer."""
_TASK = """
[tasks.quick]
command = ["true"]
params = { name = { type = "string", default = "x" } }
"""


def _path(operation: Operation, known: dict[str, str]) -> str:
    """A path with ids of what exists; what is deleted never does."""
    ids = known if operation.method != "DELETE" else {}
    return re.sub(r"\{(\w+)\}", lambda name: ids.get(name[1], "01890000-0000-7000-8000-00000000dead"), operation.path)


def _world(client: Client) -> dict[str, str]:
    office = client.ask_now("POST", "/api/offices", {"name": "Seoul"}).json["id"]
    job = client.ask_now("POST", f"/api/offices/{office}/jobs", {"jobs": [{}]}).json["jobs"][0]["id"]
    return {"id": office, "jobId": job, "task_id": "quick"}


def _send(client: Client, known: dict[str, str], operation: Operation, body: bytes, query: str) -> None:
    path = _path(operation, known) + (f"?{query}" if query else "")
    answer = client.ask_now(operation.method, path, body, Content_Type="application/json")
    assert answer.status < 500, (operation.method, path[:200], body[:300], answer)
    if answer.status >= 400:
        assert answer.code
        assert len(answer.body) < 20_000, answer.body[:500]


def _requests(large: int) -> st.SearchStrategy[tuple[Operation, bytes, str]]:
    def of(operation: Operation) -> st.SearchStrategy[tuple[Operation, bytes, str]]:
        query = queries(operation) if operation.in_query else st.just("")
        return st.tuples(st.just(operation), bodies(operation, large), query)

    return st.sampled_from(_OPERATIONS).flatmap(of)


@pytest.mark.short
def test_hostile_json_is_never_a_server_error(sqlite_server: Client) -> None:
    client = _admin(sqlite_server)
    known = _world(client)

    @settings(max_examples=120, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(_requests(2_000))
    def send(request: tuple[Operation, bytes, str]) -> None:
        _send(client, known, *request)

    send()


def _changed(world: World) -> st.SearchStrategy[tuple[Operation, bytes]]:
    def of(operation: Operation) -> st.SearchStrategy[tuple[Operation, bytes]]:
        return st.tuples(st.just(operation), changed_bodies(valid_body(world, operation)))

    # Over requests that need what a server without a worker and without uploads lacks, nothing would be reached.
    bodies = [each for each in _OPERATIONS if valid_body(world, each) is not None and "/replays/" not in each.path]
    return st.sampled_from(bodies).flatmap(of)


@pytest.mark.timeout(1_800)
@pytest.mark.parametrize(
    "examples", [pytest.param(150, marks=pytest.mark.short), pytest.param(_NEARLY_VALID, marks=pytest.mark.slow)]
)
async def test_nearly_valid_json_is_accepted_or_refused(app: App, examples: int) -> None:
    """A third is accepted at least: what is hostile in them gets as far as the store, on each of them."""

    @app.task(name=TASK)
    async def quick(name: str = "x") -> None: ...

    async with serving(app) as client:
        async with app.worker():  # It registers the task.
            pass
        await asyncio.to_thread(_send_nearly_valid, client, examples)


def _admin(client: Client) -> Client:
    """A client with a token: the first token that a request creates makes all requests without one end at once."""
    return client.of(client.ask_now("POST", "/api/engine/tokens", {"user": "ada", "scope": "admin"}).json["token"])


def _send_nearly_valid(anybody: Client, examples: int) -> None:
    client = _admin(anybody)
    world = new_world(client)
    asked = [each for each in _OPERATIONS if valid_body(world, each) is not None and "/replays/" not in each.path]
    answers = [client.ask_now(each.method, world.path(each), valid_body(world, each)) for each in asked]
    refused = [(each.path, answer.body) for each, answer in zip(asked, answers, strict=True) if answer.status >= 400]
    # The body is valid, but the job has not ended.
    assert not [(path, body) for path, body in refused if b"urn:hanbeon:problem:wrong_state" not in body]
    statuses: Counter[int] = Counter()

    @settings(max_examples=examples, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(_changed(world))
    def send(request: tuple[Operation, bytes]) -> None:
        operation, body = request
        answer = client.ask_now(operation.method, world.path(operation), body, Content_Type="application/json")
        statuses[answer.status] += 1
        assert answer.status < 500, (operation.method, operation.path, body[:500], answer)

    send()
    accepted = sum(number for status, number in statuses.items() if status < 400)
    assert accepted >= statuses.total() / 3, statuses
    assert client.ask_now("GET", "/healthz").status == 200


@pytest.mark.slow
@pytest.mark.timeout(1_800)
@pytest.mark.parametrize("operation", _OPERATIONS, ids=lambda operation: f"{operation.method} {operation.path}")
def test_hostile_json_stalls_nobody(hostile_server: "_Attacked", operation: Operation) -> None:
    query = queries(operation) if operation.in_query else st.just("")

    @settings(max_examples=_EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
    @given(bodies(operation, 1_000_000), query)
    def send(body: bytes, query: str) -> None:
        _send(hostile_server.client, hostile_server.known, operation, body, query)

    with hostile_server.watched():
        send()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("around", "repeated", "times"),
    [
        (b'{"args": {"%s": 1}}', b"n", 8_000_000),
        (b'{"%s": 1}', b"n", 15_000_000),
        (b"%s", b"[", 16_000_000),
        (b"%s", b'{"args":', 2_000_000),
        (b'{"args": {"x": "%s"}}', b"\\u0000", 2_000_000),
        (b'{"args": {"x": 1%s}}', b"0", 15_000_000),
        (b'{"args": {"x": [%s1]}}', b"[],", 5_000_000),
        (b'{"args": {"x": [%s1]}}', b"[],", 340_000),
        (b'{"args": {%s"a":1}}', b'"a":1,', 2_000_000),
    ],
    ids=["name", "field", "brackets", "objects", "nul", "digits", "arrays", "fewer_arrays", "duplicates"],
)
def test_large_bodies_stall_nobody(hostile_server: "_Attacked", around: bytes, repeated: bytes, times: int) -> None:
    body = around % (repeated * times)
    with hostile_server.watched():
        for path in ("/api/tasks/quick/executions", "/api/schedules"):
            answer = hostile_server.client.ask_now("POST", path, body)
            assert 400 <= answer.status < 500, answer
            assert len(answer.body) < 20_000


class _Attacked:
    """A server in a process of its own, whose memory and answers are watched."""

    def __init__(self, client: Client, pid: int) -> None:
        self.client, self._pid = _admin(client), pid
        self.known = _world(self.client)

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        stop, waits = threading.Event(), [0.0]
        watcher = threading.Thread(target=self._watch, args=(stop, waits))
        watcher.start()
        try:
            yield
        finally:
            stop.set()
            watcher.join()
        assert len(waits) > 1, "it was never answered"
        assert max(waits) < _ANSWERED_SECONDS
        assert self._memory() < _MEMORY_BYTES

    def _watch(self, stop: threading.Event, waits: list[float]) -> None:
        parts = urlsplit(self.client.url)
        while not stop.is_set():
            began = time.monotonic()
            connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=120)
            with contextlib.closing(connection):
                connection.request("GET", "/healthz")
                assert connection.getresponse().status == 200
            waits.append(time.monotonic() - began)
            stop.wait(0.02)

    def _memory(self) -> int:
        found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{self._pid}/status").read_text())
        assert found is not None
        return int(found[1]) * 1_024


@pytest.fixture(scope="module")
def hostile_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[_Attacked]:
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "hanbeon.toml").write_text(_TASK)
    log = folder / "log"
    with (
        log.open("w") as lines,
        Running(
            "serve", "--database", f"sqlite:///{folder}/jobs.db", "--port", "0", stderr=lines, cwd=folder
        ) as running,
    ):
        yield _Attacked(Client(_url(log, running)), running.process.pid)
    assert "request_failed" not in log.read_text()


def _url(log: Path, running: Running) -> str:
    while True:
        for line in log.read_text().splitlines():
            if line.endswith("}") and (entry := json.loads(line))["event"] == "server_started":
                return str(entry["url"])
        assert running.process.poll() is None, log.read_text()
        time.sleep(0.05)
