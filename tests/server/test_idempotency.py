"""Idempotency-Key: a repeated request replays the stored response of the first, on every server."""

import asyncio
import uuid

import pytest

from hanbeon import App
from hanbeon.client import AsyncClient, Conflict
from hanbeon.domain.access import Scope
from hanbeon.server import auth, idempotency
from hanbeon.service.tokens import create_token
from tests.server.client import Client, serving

_NEW = {"name": "Seoul"}


async def _count(client: Client, path: str) -> int:
    return len((await client.get(path)).json["items"])


async def test_the_same_request_again_is_answered_alike_and_done_once(app: App, server: Client) -> None:
    first = await server.post("/api/offices", _NEW, Idempotency_Key="k-1")
    async with serving(app) as other:
        again = await other.post("/api/offices", _NEW, Idempotency_Key="k-1")
    assert (first.status, again.status, again.body) == (201, 201, first.body)
    assert (again.headers["location"], again.headers["etag"]) == (first.headers["location"], first.headers["etag"])
    assert ("idempotent-replayed" in first.headers, again.headers["idempotent-replayed"]) == (False, "true")
    assert await _count(server, "/api/offices") == 1
    jobs = f"{first.headers['location']}/jobs"
    made = [await server.post(jobs, {"jobs": [{}, {}]}, Idempotency_Key="k-2") for _ in range(2)]
    assert made[0].body == made[1].body
    assert await _count(server, jobs) == 2


async def test_another_request_under_the_key_is_refused(server: Client) -> None:
    await server.post("/api/offices", _NEW, Idempotency_Key="k")
    refused = await server.post("/api/offices", {"name": "Busan"}, Idempotency_Key="k")
    assert (refused.status, refused.code) == (422, "key_already_used")
    assert await _count(server, "/api/offices") == 1


@pytest.mark.parametrize("key", ["", "a b", "x" * 256, "é"])
async def test_rejects_invalid_idempotency_keys(server: Client, key: str) -> None:
    refused = await server.post("/api/offices", _NEW, Idempotency_Key=key)
    assert (refused.status, refused.code, refused.json["field"]) == (422, "invalid", "Idempotency-Key")


async def test_rejected_request_does_not_use_up_its_key(server: Client) -> None:
    office = (await server.post("/api/offices", _NEW)).headers["location"]
    unknown = {"jobs": [{"handler": "nobody"}]}
    for _ in range(2):
        refused = await server.post(f"{office}/jobs", unknown, Idempotency_Key="k")
        assert refused.status == 422
        assert refused.code != "key_already_used"
    assert (await server.post(f"{office}/jobs", {"jobs": [{}]}, Idempotency_Key="k")).status == 201


async def test_many_at_once_make_one(app: App, server: Client) -> None:
    async with serving(app) as other:
        answers = await asyncio.gather(
            *(each.post("/api/offices", _NEW, Idempotency_Key="k") for each in (server, other) for _ in range(8))
        )
    assert {each.status for each in answers} <= {201, 409}
    assert all(each.status == 201 or each.code == "still_under_way" for each in answers)
    assert len({each.body for each in answers if each.status == 201}) == 1
    assert await _count(server, "/api/offices") == 1


async def test_crash_before_storing_the_response_duplicates_nothing(
    app: App, server: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    office = (await server.post("/api/offices", _NEW)).headers["location"]
    app.task(_task)
    scheduled = {"task_id": "_task", "cron": "0 9 * * *"}

    async def die(*_: object) -> None:
        raise RuntimeError("here it died")

    with monkeypatch.context() as dying:
        dying.setattr(idempotency.Idempotency, "_keep", die)
        dying.setattr(idempotency.Idempotency, "_end", die)
        assert (await server.post(f"{office}/jobs", {"jobs": [{}, {}]}, Idempotency_Key="k")).status == 500
        assert (await server.post("/api/offices", {"name": "Busan"}, Idempotency_Key="o")).status == 500
        assert (await server.post("/api/schedules", scheduled, Idempotency_Key="s")).status == 500
    async with serving(app) as other:
        again = await other.post(f"{office}/jobs", {"jobs": [{}, {}]}, Idempotency_Key="k")
        assert (again.status, again.code) == (409, "still_under_way")
        with monkeypatch.context() as later:
            later.setattr(idempotency, "DEAD_SECONDS", -1.0)
            assert (await other.post(f"{office}/jobs", {"jobs": [{}, {}]}, Idempotency_Key="k")).status == 201
    assert await _count(server, f"{office}/jobs") == 2
    assert (await server.post("/api/offices", {"name": "Busan"}, Idempotency_Key="o")).json["name"] == "Busan"
    assert await _count(server, "/api/offices") == 2
    assert (await server.post("/api/schedules", scheduled, Idempotency_Key="s")).status == 201
    assert await _count(server, "/api/schedules") == 1


async def test_repeated_token_request_names_the_token(app: App, server: Client) -> None:
    """The text of a token is stored nowhere, so it cannot be given again; but nobody is left in the dark."""
    ada = server.of((await create_token(app.store, "ada", "admin")).text)
    wanted = {"user": "bob", "scope": "read"}
    first = await ada.post("/api/engine/tokens", wanted, Idempotency_Key="t")
    assert first.status == 201
    async with serving(app) as other:
        for client in (ada, other.of(ada.token), ada):
            again = await client.post("/api/engine/tokens", wanted, Idempotency_Key="t")
            assert (again.status, again.code) == (409, "token_already_created")
            assert f"revoke token {first.json['id']}" in again.json["detail"]
    assert (await ada.post("/api/engine/tokens", {**wanted, "user": "eve"}, Idempotency_Key="t")).status == 422
    stored = await app.store.read(lambda tx: tx.fetch("stored_response", "ada", "t"))
    assert [(row["status"], row["body"]) for row in stored] == [(None, None)]
    listed = (await ada.get("/api/engine/tokens")).json["items"]
    assert [token["user"] for token in listed] == ["ada", "bob"]


async def test_token_of_a_server_that_died_is_named(app: App, server: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    ada = server.of((await create_token(app.store, "ada", "admin")).text)
    wanted = {"user": "bob", "scope": "read"}

    async def die(*_: object) -> None:
        raise RuntimeError("here it died")

    with monkeypatch.context() as dying:
        dying.setattr(idempotency.Idempotency, "_end", die)
        assert (await ada.post("/api/engine/tokens", wanted, Idempotency_Key="t")).status == 500
    again = await ada.post("/api/engine/tokens", wanted, Idempotency_Key="t")
    assert (again.status, again.code) == (409, "token_already_created")
    assert await _count(ada, "/api/engine/tokens") == 2


async def test_client_repeats_a_token_request_once(app: App, server: Client) -> None:
    ada = (await create_token(app.store, "ada", "admin")).text
    async with AsyncClient(server.url, token=ada) as client:
        made = await client.engine.create_token("bob", Scope.READ, idempotency_key="t")
        with pytest.raises(Conflict, match=f"revoke token {made.id} ") as refused:
            await client.engine.create_token("bob", Scope.READ, idempotency_key="t")
    assert refused.value.code == "token_already_created"


async def test_ids_under_a_key_are_in_the_order_of_making(server: Client) -> None:
    made = [await server.post("/api/offices", _NEW, Idempotency_Key=f"k-{number}") for number in range(5)]
    ids = [each.json["id"] for each in made]
    assert {uuid.UUID(each).version for each in ids} == {7}
    assert [each[:13] for each in ids] == sorted(each[:13] for each in ids)


async def _task() -> None: ...


async def test_keys_are_forgotten_after_a_day(server: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    assert idempotency.KEPT_SECONDS == 86_400
    office = (await server.post("/api/offices", _NEW)).headers["location"]
    await server.post(f"{office}/jobs", {"jobs": [{}]}, Idempotency_Key="k")
    monkeypatch.setattr(idempotency, "KEPT_SECONDS", -1.0)
    assert (await server.post(f"{office}/jobs", {"jobs": [{"title": "x"}]}, Idempotency_Key="k")).status == 201
    assert await _count(server, f"{office}/jobs") == 2


async def test_a_key_is_of_its_user(app: App, server: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auth, "_KNOWN_FOR_SECONDS", -1.0)
    for user in ("ada", "bob"):
        token = (await create_token(app.store, user, "admin")).text
        made = await server.of(token).post("/api/offices", {"name": user}, Idempotency_Key="k")
        assert (made.status, made.json["name"]) == (201, user)
