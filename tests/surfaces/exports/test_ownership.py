"""Replays and exports of others answer like missing ones, byte for byte, on every route."""

from typing import Any

import pytest

from hanbeon import App
from hanbeon.surfaces.exports.surface import SURFACE as EXPORTS
from hanbeon.surfaces.operation import Operation
from hanbeon.surfaces.replays.surface import SURFACE as REPLAYS
from tests.server.client import Client, Response
from tests.server.websocket_client import dial, hear_any
from tests.surfaces.exports.export_kit import exported, token_of, uploaded

_OF_ONE = [each for surface in (REPLAYS, EXPORTS) for each in surface.operations if each.parameters]


@pytest.fixture
async def users(app: App, server: Client) -> dict[str, Client]:
    scopes = {"kim": "user", "lee": "user", "root": "admin", "reader": "read"}
    tokens = {user: await token_of(app, user, scope) for user, scope in scopes.items()}
    return {user: server.of(token) for user, token in tokens.items()}


async def test_foreign_ids_answer_like_missing_ones(users: dict[str, Client]) -> None:
    before = {user: [await _asked(users[user], each) for each in _OF_ONE] for user in ("lee", "root", "reader")}
    replay = await uploaded(users["kim"])
    job = await exported(users["kim"], replay)
    assert (replay, job) == (1, 1)
    for user, missing in before.items():
        for operation, was in zip(_OF_ONE, missing, strict=True):
            found = await _asked(users[user], operation)
            assert found.status in ((404,) if user != "reader" or operation.method == "GET" else (403,)), operation.path
            assert (found.status, found.body, _headers(found)) == (was.status, was.body, _headers(was)), operation.path
    for user in before:
        assert (await users[user].get("/api/jobs")).json["total"] == 0
        assert (await users[user].get("/api/replays")).json["total"] == 0
    assert (await users["kim"].get("/api/jobs/1")).json["status"] == "QUEUED"


async def test_events_reach_their_owner_alone(users: dict[str, Client]) -> None:
    replay = await uploaded(users["kim"])
    async with dial(users["lee"], "/ws/jobs?after=0") as lee, dial(users["kim"], "/ws/jobs?after=0") as kim:
        assert (await hear_any(lee))["type"] == (await hear_any(kim))["type"] == "opened"
        theirs = await exported(users["kim"], replay)
        await users["kim"].post(f"/api/jobs/{theirs}/cancel")
        heard = await hear_any(kim)
        assert (heard["type"], heard["jobId"], "owner" in heard) == ("job.cancelled", theirs, False)
        own = await exported(users["lee"], await uploaded(users["lee"]))
        await users["lee"].post(f"/api/jobs/{own}/cancel")
        assert (await hear_any(lee))["jobId"] == own


def test_every_operation_asks_for_the_user() -> None:
    assert all(each.by for surface in (REPLAYS, EXPORTS) for each in surface.operations)
    assert all(each.by for each in EXPORTS.channels)


async def _asked(client: Client, operation: Operation) -> Response:
    path = operation.path.format(replayId=1, jobId=1)
    body: Any = {} if operation.method == "POST" and operation.request is not None else None
    return await client.ask(operation.method, path, body)


def _headers(response: Response) -> dict[str, str]:
    return {name: value for name, value in response.headers.items() if name not in ("date", "x-request-id")}
