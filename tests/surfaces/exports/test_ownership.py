"""Replays and exports of others answer like missing ones, byte for byte, on every route."""

from typing import Any

import pytest

from hanbeon import App
from hanbeon.surfaces.engine.surface import SURFACE as ENGINE
from hanbeon.surfaces.exports.replays.surface import SURFACE as REPLAYS
from hanbeon.surfaces.exports.surface import SURFACE as EXPORTS
from tests.server.client import Client, Response
from tests.server.websocket_client import dial, hear_any
from tests.surfaces.exports.export_kit import ended, exported, token_of, uploaded

_OF_ONE = [each for surface in (REPLAYS, EXPORTS) for each in surface.operations if each.parameters]

_SCOPES = {"kim": "user", "lee": "user", "root": "admin", "reader": "read"}


@pytest.fixture
async def users(app: App, server: Client) -> dict[str, Client]:
    tokens = {user: await token_of(app, user, scope) for user, scope in _SCOPES.items()}
    return {user: server.of(token) for user, token in tokens.items()}


async def test_foreign_ids_answer_like_missing_ones(users: dict[str, Client]) -> None:
    before = {user: await _answers(users[user]) for user in ("lee", "root", "reader")}
    replay = await uploaded(users["kim"])
    job = await exported(users["kim"], replay)
    assert (replay, job) == (1, 1)
    for state in ("QUEUED", "CANCELLED"):
        assert (await users["kim"].get("/api/jobs/1")).json["status"] == state
        for user, missing in before.items():
            for (asked, was), (_, found) in zip(missing, await _answers(users[user]), strict=True):
                acts = user == "reader" and not asked.startswith("GET")
                assert found.status in ((403,) if acts else (404, 422) if "wrong" in asked else (404,)), asked
                assert (found.status, found.body, _headers(found)) == (was.status, was.body, _headers(was)), asked
        if state == "QUEUED":
            assert (await users["kim"].post("/api/jobs/1/cancel")).status == 200
    for user in before:
        assert (await users[user].get("/api/jobs")).json["total"] == 0
        assert (await users[user].get("/api/replays")).json["total"] == 0


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


async def test_operators_see_no_result_of_others(app: App, working: Client) -> None:
    """Operators see the job of an export, its state and its failure, but neither the place nor the hash of its file."""
    users = {user: working.of(await token_of(app, user, scope)) for user, scope in _SCOPES.items()}
    replay = await uploaded(users["kim"])
    number = await exported(users["kim"], replay, "thumbnail", width=160, height=90)
    done = await ended(users["kim"], number)
    (job,) = (await users["root"].get("/api/engine/jobs?queue=exports")).json["items"]
    assert (job["state"], job["path"], job["args"], job["result"]) == ("succeeded", f"/api/jobs/{number}", None, None)
    of_operators = [f"{each.method} {each.path}" for each in ENGINE.operations if each.method == "GET"]
    paths = [each.removeprefix("GET ").format(jobId=job["id"]) for each in of_operators if "{jobId}" in each]
    for path in (*paths, "/api/engine/jobs", "/api/engine/events", f"/api/executions/{job['id']}", "/api/executions"):
        for user in ("lee", "root", "reader"):
            shown = (await users[user].get(path)).body.decode()
            assert not [each for each in (done["resultChecksum"], "resultUri") if each in shown], (user, path)


def test_every_operation_asks_for_the_user() -> None:
    assert all(each.by for surface in (REPLAYS, EXPORTS) for each in surface.operations)
    assert all(each.by for each in EXPORTS.channels)


async def _answers(client: Client) -> list[tuple[str, Response]]:
    """The answers of every operation on a replay or export, asked plainly, wrongly, and for a part of a file."""
    found = []
    for each in _OF_ONE:
        path = each.path.format(replayId=1, jobId=1)
        bodies: dict[str, Any] = {"": {} if each.method == "POST" and each.request is not None else None}
        if bodies[""] is not None:
            bodies |= {"beyond the end": {"startMs": 20_000}, "wrong": {"width": 1}}
        for kind, body in bodies.items():
            found.append((f"{each.method} {path} {kind}", await client.ask(each.method, path, body)))
        if each.downloads:
            found.append((f"GET {path} in part", await client.get(path, Range="bytes=0-1", If_None_Match="*")))
    return found


def _headers(response: Response) -> dict[str, str]:
    return {name: value for name, value in response.headers.items() if name not in ("date", "x-request-id")}
