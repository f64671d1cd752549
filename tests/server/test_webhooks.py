"""Webhooks over HTTP: what is shown of them, enabling one, and what operators see in the metrics."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from hanbeon import App
from hanbeon.service.tokens import create_token
from tests.outbound.web import Web, reply
from tests.server.client import Client, serving

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
GONE = 410


@pytest.fixture
async def working(app_url: str) -> AsyncIterator[tuple[App, Client]]:
    """A server with a worker that may send to this machine."""
    async with App(app_url, shutdown_grace=0.2, lease=10, outbound_allow_private=True) as app:

        @app.task
        async def work() -> None:
            pass

        async with serving(app, work=True) as client:
            yield app, client


async def _until(client: Client, path: str, **wanted: object) -> dict[str, object]:
    async with asyncio.timeout(30):
        while True:
            found = (await client.get(path)).json
            if all(found[name] == value for name, value in wanted.items()):
                return dict(found)
            await asyncio.sleep(0.05)


async def test_a_dead_webhook_is_shown_counted_and_enabled_again(working: tuple[App, Client]) -> None:
    _, client = working
    async with Web(reply(GONE)) as web:
        body = {
            "name": "x",
            "sessions": {"default": "work"},
            "webhooks": [{"url": f"{web.url}/hook", "secret": SECRET}],
            "notifications": ["mailtos://ada:geheim@mail.example.org"],
        }
        made = (await client.post("/api/offices", body)).json
        office = f"/api/offices/{made['id']}"
        assert made["notifications"] == ["mailtos://ada:****@mail.example.org"]
        (hook,) = made["webhooks"]
        assert hook == {
            "id": hook["id"],
            "url": f"{web.url}/hook",
            "events": None,
            "state": "enabled",
            "disabled_at": None,
            "consecutive_failures": 0,
            "last_error": None,
            "last_failure_at": None,
            "last_success_at": None,
        }
        path = f"{office}/webhooks/{hook['id']}"
        assert (await client.post(f"{office}/jobs", {"jobs": [{}]})).status == 201
        disabled = await _until(client, path, state="disabled")
        assert "410 Gone" in str(disabled["last_error"])
        shown = await client.get(office)
        assert shown.json["webhooks"][0]["state"] == "disabled"
        assert shown.headers["etag"] == '"1"'  # Nobody has changed it.
        metrics = (await client.get("/metrics")).body.decode()
        assert 'hanbeon_webhooks{state="disabled"} 1.0' in metrics
        assert 'hanbeon_webhooks{state="enabled"} 0.0' in metrics

        web.answer = lambda seen: reply(204)
        assert (await client.post(f"{path}/enable")).json["state"] == "enabled"

        async def delivered() -> list[str]:
            return [each["status"] for each in (await client.get(f"{path}/deliveries")).json["items"]]

        async with asyncio.timeout(30):
            while await delivered() != ["delivered"] * 3:  # noqa: ASYNC110 - only the database tells
                await asyncio.sleep(0.05)
        metrics = (await client.get("/metrics")).body.decode()
        assert 'hanbeon_deliveries{kind="webhook",status="delivered"} 3.0' in metrics
        page = (await client.get(f"{path}/deliveries?limit=2")).json
        rest = (await client.get(f"{path}/deliveries?cursor={page['next_cursor']}")).json
        items = page["items"] + rest["items"]
        assert [each["event_id"] for each in items] == sorted(each["event_id"] for each in items)
        assert (len(items), rest["next_cursor"]) == (3, None)
        for each in items:
            assert each["type"].startswith("job_")
            assert each["delivered_at"].endswith("+09:00")


async def test_webhook_test_links_to_its_delivery(working: tuple[App, Client]) -> None:
    _, client = working
    async with Web(reply(204)) as web:
        made = (await client.post("/api/offices", {"name": "x", "webhooks": [{"url": web.url, "secret": SECRET}]})).json
        path = f"/api/offices/{made['id']}/webhooks/{made['webhooks'][0]['id']}"
        sent = await client.post(f"{path}/test")
        assert (sent.status, sent.json["type"]) == (202, "webhook_test")
        assert sent.headers["location"] == f"{path}/deliveries/{sent.json['id']}"
        found = await _until(client, sent.headers["location"], status="delivered")
        assert found["event_id"] is found["job_id"] is found["error_message"] is None
        assert [each["id"] for each in (await client.get(f"{path}/deliveries")).json["items"]] == [sent.json["id"]]
        keyed = [await client.post(f"{path}/test", Idempotency_Key="once") for _ in range(2)]
        assert keyed[0].json["id"] == keyed[1].json["id"] != sent.json["id"]
        await _until(client, keyed[1].headers["location"], status="delivered")
        assert len(web.seen) == 2
        answer = await client.get(f"{path}/deliveries/x")
        assert (answer.status, answer.code) == (404, "job_not_found")


async def test_webhook_routes_reject_invalid_requests(working: tuple[App, Client]) -> None:
    app, client = working
    made = (await client.post("/api/offices", {"name": "x"})).json
    office = f"/api/offices/{made['id']}"
    refused = await client.ask(
        "PATCH", office, {"webhooks": [{"url": "https://example.org", "secret": "whsec_no secret!"}]}
    )
    assert (refused.status, refused.code, refused.json["field"]) == (422, "invalid", "webhooks[0].secret")
    assert "no secret!" not in refused.body.decode()
    for path in ("x", made["id"], "%00"):
        for answer in (
            await client.get(f"{office}/webhooks/{path}"),
            await client.post(f"{office}/webhooks/{path}/test"),
        ):
            assert (answer.status, answer.code) == (404, "webhook_not_found")
    assert (await client.get(f"{office}/webhooks/x/deliveries?cursor=y")).status == 422
    token = (await create_token(app.store, "ada", "user")).text
    async with asyncio.timeout(10):
        while (await client.get(office)).status == 200:  # noqa: ASYNC110 - it notices by itself
            await asyncio.sleep(0.1)
    for move in ("enable", "test"):
        assert (await client.of(token).post(f"{office}/webhooks/x/{move}")).status == 403
