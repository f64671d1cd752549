"""Chains over HTTP: a server with a worker, operations in real processes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from hanbeon import App
from hanbeon.server import auth
from hanbeon.service.tokens import create_token
from tests.server.client import Client, serving
from tests.server.websocket_client import dial, hear
from tests.surfaces.chains.chain_kit import LIBRARY, job


@pytest.fixture
async def app(database_url: str) -> AsyncIterator[App]:
    async with App(database_url, chain_libraries=LIBRARY) as app:
        yield app


@pytest.fixture
async def chains(app: App) -> AsyncIterator[Client]:
    async with serving(app, work=True) as client:
        yield client


async def test_chain_is_made_run_and_read(chains: Client) -> None:
    made = await chains.post("/api/chains", {"queue_library": LIBRARY})
    assert (made.status, made.headers["location"]) == (201, "/api/chains/1")
    assert made.json["job_queue"] == made.json["last_job"] == made.json["queue_return"] == "UNINIT"
    assert (made.json["operation_direction"], made.json["state"]) == ("FORWARD", "EMPTY")
    path = made.headers["location"]
    first = (await chains.post(f"{path}/jobs", {"forward_operation": "echo"})).json
    assert first == {
        "job_id": 1,
        "forward_operation": "echo",
        "backward_operation": "NO_OPERATION",
        "arguments": "EMPTY_ARGS",
        "operation_library": LIBRARY,
        "expired_time": 30,
        "job_return": "UNINIT",
        "next_job": "TAIL",
        "prev_job": "HEAD",
        "state": "NOTYET",
    }
    second = await chains.post(f"{path}/jobs", job("b", "fail", expired_time=2.5))
    assert (second.status, second.json["prev_job"], second.json["expired_time"]) == (201, 1, 2.5)
    ran = await chains.post(f"{path}/run?wait=60", {"context": {"x": 1}})
    assert (ran.status, ran.json["state"], ran.json["running_job"]) == (200, "READY", "QUEUE_NOT_RUNNING")
    assert ran.json["queue_return"] == [
        {"job_id": 1, "direction": "FORWARD", "state": "SUCCESS", "return": ["EMPTY_ARGS", {"x": 1}]},
        {
            "job_id": 2,
            "direction": "FORWARD",
            "state": "FAILED",
            "return": {"error": {"type": "ValueError", "message": "it did not work"}},
        },
        {"job_id": 2, "direction": "BACKWARD", "state": "FAILED, CANCELED", "return": {"undid": "b"}},
        {"job_id": 1, "direction": "BACKWARD", "state": "SUCCESS, CANCELED", "return": None},
    ]
    assert (await chains.get(path)).json == ran.json
    assert (await chains.get("/api/chains?state=READY")).json == {"items": [ran.json], "next_cursor": None}
    runs = (await chains.get(f"{path}/runs")).json["items"]
    assert (await chains.get(f"{path}/runs/1")).json == runs[0]
    assert [step["return"] for step in runs[0]["queue_return"]] == [each["return"] for each in ran.json["queue_return"]]
    assert (await chains.get(f"{path}/explain")).json["reasons"][0]["code"] == "chain_not_run"
    async with dial(chains, "/ws/chains/1/events?after=0") as listener:
        assert (await hear(listener))["type"] == "chain_started"
    assert (await chains.ask("DELETE", path)).status == 204
    assert (await chains.get(path)).code == "chain_not_found"


async def test_blocked_chain_is_counted_and_moved(chains: Client) -> None:
    body = {"queue_library": LIBRARY, "jobs": [job("a", "fail", "fail")], "on_backward_failure": "stop"}
    path = (await chains.post("/api/chains", body)).headers["location"]
    assert (await chains.post(f"{path}/run?wait=60")).json["state"] == "BLOCKED"
    assert 'hanbeon_chains{state="BLOCKED"} 1.0' in (await chains.get("/metrics")).body.decode()
    resumed = await chains.post(f"{path}/resume?wait=60")
    assert (resumed.status, resumed.json["state"], resumed.json["jobs"][0]["state"]) == (202, "BLOCKED", "FAILED")
    skipped = await chains.post(f"{path}/skip?wait=60")
    assert (skipped.status, skipped.json["state"], skipped.json["jobs"][0]["state"]) == (200, "READY", "FAILED, FAILED")
    types: list[str] = []
    async with dial(chains, "/ws/chains/1/events?after=0") as listener:
        while "chain_ended" not in types:
            types.append((await hear(listener))["type"])
    assert [each for each in types if each != "chain_step_ended"] == [
        "chain_started",
        "chain_turned",
        "chain_blocked",
        "chain_resumed",
        "chain_blocked",
        "chain_ended",
    ]


async def test_run_is_repeatable_and_refused_beside_another(chains: Client) -> None:
    """Two requests at once: one runs the chain, the other gets 409. A repeat under its key is the same run."""
    body = {"queue_library": LIBRARY, "jobs": [job("a", "hang")]}
    made = [await chains.post("/api/chains", body, Idempotency_Key="make") for _ in range(2)]
    assert made[0].body == made[1].body
    path = made[0].headers["location"]
    added = [await chains.post(f"{path}/jobs", {}, Idempotency_Key="add") for _ in range(2)]
    assert added[0].body == added[1].body
    ran = [await chains.post(f"{path}/run", Idempotency_Key="run") for _ in range(2)]
    assert [(each.status, each.json["run"]) for each in ran] == [(202, 1), (202, 1)]
    metrics = (await chains.get("/metrics")).body.decode()
    assert 'hanbeon_chains{state="RUNNING"} 1.0' in metrics
    assert 'hanbeon_chains{state="BLOCKED"} 0.0' in metrics
    for move in ("run", "jobs", "resume", "skip"):
        answer = await chains.post(f"{path}/{move}")
        assert (answer.status, answer.code) == (409, "chain_wrong_state"), move
    assert (await chains.ask("DELETE", path)).code == "chain_wrong_state"
    aborted = await chains.post(f"{path}/abort?wait=60")
    assert (aborted.status, aborted.json["jobs"][0]["state"]) == (200, "FAILED, CANCELED")


@pytest.mark.parametrize(
    ("path", "body", "status", "code", "field"),
    [
        ("/api/chains", {"queue_library": "os"}, 422, "library_not_allowed", "queue_library"),
        ("/api/chains", {"jobs": [{"expired_time": 0}]}, 422, "invalid", "jobs[0].expired_time"),
        ("/api/chains", {"on_unknown": "x"}, 422, "invalid", "on_unknown"),
        ("/api/chains/1/jobs", {"operation_library": "os"}, 422, "library_not_allowed", "operation_library"),
        ("/api/chains/1/jobs", {"forward_operation": "a.b"}, 422, "invalid", "forward_operation"),
        ("/api/chains/1/run", {"context": [1]}, 422, "invalid", "context"),
        ("/api/chains/1/run", {"context": {"x": "y" * 300_000}}, 422, "payload_too_large", "context"),
        ("/api/chains/1/run?wait=-1", {}, 422, "invalid", "wait"),
        ("/api/chains/1/run?wait=9e99", {}, 422, "invalid", "wait"),
        ("/api/chains/2/run", {}, 404, "chain_not_found", None),
        ("/api/chains/x/jobs", {}, 404, "chain_not_found", None),
        ("/api/chains/99999999999999999999/abort", None, 404, "chain_not_found", None),
    ],
)
async def test_rejects_invalid_request(
    sqlite_url: str, path: str, body: Any, status: int, code: str, field: str | None
) -> None:
    async with App(sqlite_url, chain_libraries=LIBRARY) as app, serving(app) as client:
        chain = await app.chains.create(jobs=[job("a")])
        answer = await client.post(path, body)
        assert (answer.status, answer.code, answer.json["field"]) == (status, code, field)
        assert (await app.chains.list()).items == [chain]


async def test_read_looks_and_user_acts(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auth, "_KNOWN_FOR_SECONDS", -1.0)
    async with App(sqlite_url, chain_libraries=LIBRARY) as app, serving(app) as client:
        user, reader = [client.of((await create_token(app.store, "ada", scope)).text) for scope in ("user", "read")]
        made = await user.post("/api/chains", {"queue_library": LIBRARY, "jobs": [{}]})
        assert (made.status, made.json["created_by"]) == (201, "ada")
        assert (await reader.get("/api/chains/1")).status == 200
        assert (await reader.post("/api/chains/1/run")).status == 403
        assert (await user.post("/api/chains/1/run")).json["state"] == "READY"
