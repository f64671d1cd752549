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
_LOOKS = {("POST", "/api/schedules/preview")}
"""With a body, and changes nothing."""


def _may(scope: Scope | None, method: str, path: str) -> bool:
    """Repeat the rule by hand, on purpose, instead of reading it from the code."""
    if path in ("/", "/healthz", "/readyz", "/openapi.json") or path.startswith("/docs"):
        return True
    if scope is None or scope is Scope.CRON:
        return False
    if scope is Scope.ADMIN:
        return True
    if path.startswith("/api/engine/"):
        return method == "GET" and path.rpartition("/")[2] not in ("actions", "tokens", "settings")
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
            assert answer.status in (200, 201, 307, 404, 422), (method, path, answer)
        else:
            assert answer.status == (401 if scope is None else 403), (method, path, answer)
    assert (await server.of(admin).get("/api/offices")).json["items"] == []
