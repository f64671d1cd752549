"""Every operation with every scope: access matches the declared scope, and the declared scope matches the docs."""

import re

import pytest

from hanbeon import App
from hanbeon.domain.access import Scope
from hanbeon.server import auth
from hanbeon.service.tokens import create_token
from tests.server.client import Client

_NOBODY = "01890000-0000-7000-8000-00000000dead"
_ADMINS = {
    ("POST", "/api/offices"),
    ("PATCH", "/api/offices/{id}"),
    ("DELETE", "/api/offices/{id}"),
    ("PATCH", "/api/offices/{id}/scheduler/config"),
    ("POST", "/api/offices/{id}/webhooks/{webhookId}/enable"),
    ("POST", "/api/offices/{id}/webhooks/{webhookId}/test"),
}
_LOOKS = {
    ("POST", "/api/schedules/preview"),
    ("POST", "/api/workflows/{id}/dry-run"),
    ("POST", "/api/offices/{id}/scheduler/simulate"),
}
"""With a body, and changes nothing."""


def _may(scope: Scope | None, method: str, path: str) -> bool:
    """Repeat the rule by hand, on purpose, instead of reading it from the code."""
    if path in ("/", "/healthz", "/readyz", "/openapi.json") or path.startswith(("/docs", "/dashboard/")):
        return True
    if path == "/api/session" and method != "GET":
        return True
    if path == "/api/scheduler/monitor":
        return scope is not None
    if path.startswith("/api/scheduler/"):
        return scope in (Scope.CRON, Scope.ADMIN)
    if path == "/api/workflow/execute":
        return scope in (Scope.CRON, Scope.ADMIN, Scope.USER)
    if scope is None or scope is Scope.CRON:
        return False
    if scope is Scope.ADMIN:
        return True
    if path.startswith("/api/engine/"):
        return method == "GET" and path.split("/")[3] not in ("actions", "tokens", "settings", "deadletters")
    return method == "GET" or (method, path) in _LOOKS or (scope is Scope.USER and (method, path) not in _ADMINS)


@pytest.mark.parametrize("scope", [None, *Scope])
async def test_operations_enforce_their_scope(
    app: App, server: Client, monkeypatch: pytest.MonkeyPatch, scope: Scope | None
) -> None:
    monkeypatch.setattr(auth, "_KNOWN_FOR_SECONDS", -1.0)
    paths = (await server.get("/openapi.json")).json["paths"]
    admin = (await create_token(app.store, "root", "admin")).text
    token = None if scope is None else (await create_token(app.store, "ada", scope)).text
    asked = [(method.upper(), path) for path, methods in paths.items() for method in methods]
    assert len(asked) >= 25
    for method, path in asked:
        answer = await server.of(token).ask(method, re.sub(r"\{\w+\}", _NOBODY, path))
        if _may(scope, method, path):
            assert answer.status in (200, 201, 204, 307, 404, 422), (method, path, answer)
        else:
            assert answer.status == (401 if scope is None else 403), (method, path, answer)
    assert (await server.of(admin).get("/api/offices")).json["items"] == []


async def test_addresses_of_webhooks_are_masked_for_readers(
    app: App, server: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auth, "_KNOWN_FOR_SECONDS", -1.0)
    url, masked = "https://example.org/services/T0KEN?key=T0KEN", "https://example.org/****?****"
    body = {"name": "x", "webhooks": [{"url": url, "secret": "whsec_" + "s3cret" * 6}]}
    made = (await server.post("/api/offices", body)).json
    office, hook = f"/api/offices/{made['id']}", made["webhooks"][0]["id"]
    for scope in (Scope.USER, Scope.READ, Scope.ADMIN):
        client = server.of((await create_token(app.store, scope.value, scope)).text)
        shown = url if scope is Scope.ADMIN else masked
        assert (await client.get(office)).json["webhooks"][0]["url"] == shown
        assert (await client.get("/api/offices")).json["items"][0]["webhooks"][0]["url"] == shown
        assert (await client.get(f"{office}/webhooks/{hook}")).json["url"] == shown
    admin = server.of((await create_token(app.store, "root", "admin")).text)
    rejected = await admin.ask("PATCH", office, {"webhooks": [{"url": masked}]})
    assert (rejected.status, rejected.json["field"]) == (422, "webhooks[0].url")
