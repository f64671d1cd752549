"""Authentication: by token and scope; without any token only requests from this machine are served."""

import asyncio
from urllib.parse import urlsplit

import pytest
from structlog.testing import capture_logs

from hanbeon import App
from hanbeon.domain.access import ALLOWED, Need, Scope
from hanbeon.errors import InvalidInput
from hanbeon.server import auth
from hanbeon.server.auth_throttle import MOST, WINDOW_SECONDS, AuthThrottle
from hanbeon.service.tokens import create_token, list_tokens, revoke_token
from hanbeon.testing import VirtualClock
from tests.server.client import Client, Response, serving
from tests.server.websocket_client import refused

PLACE = "/metrics"  # Needs the read scope.


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read tokens from the database at each request; their cache has its own test."""
    monkeypatch.setattr(auth, "_KNOWN_FOR_SECONDS", -1.0)


async def _token(app: App, scope: str) -> str:
    return (await create_token(app.store, "ada", scope)).text


async def test_without_tokens_only_local_host_names_are_served(server: Client) -> None:
    port = urlsplit(server.url).port
    for host in (f"127.0.0.1:{port}", f"localhost:{port}", "LOCALHOST", "[::1]:80", "127.0.0.9", "localhost."):
        assert (await server.get(PLACE, Host=host)).status == 200
    for host in ("evil.example", "127.0.0.1.evil.example", "10.0.0.1", "[", "", "localhost@evil.example", "0.0.0.0"):
        answer = await server.get(PLACE, Host=host)
        assert (answer.status, answer.code) == (403, "foreign_host"), host


_PROXIES = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "X-Real-IP", "Via")


async def test_without_tokens_proxied_requests_are_refused(app: App, server: Client) -> None:
    """A proxy on this machine makes every stranger look local."""
    office = (await server.post("/api/offices", {"name": "Seoul"})).json["id"]
    for header in _PROXIES:
        assert (await server.get(PLACE, **{header.replace("-", "_"): ""})).code == "proxied", header
        answer = await server.get(PLACE, **{header.replace("-", "_"): "for=127.0.0.1"})
        assert (answer.status, answer.code) == (403, "proxied"), header
        assert header.lower() in answer.json["detail"]
        assert "hanbeon token create" in answer.json["detail"]
        answer = await refused(server, f"/ws/offices/{office}/events", headers={header: "127.0.0.1"})
        assert (answer.status, answer.code) == (403, "proxied"), header
    assert (await server.get("/healthz", Via="1.1 proxy")).status == 200
    assert (await server.of(await _token(app, "read")).get(PLACE, X_Forwarded_For="192.0.2.1")).status == 200


async def test_first_token_turns_authentication_on(app: App, server: Client) -> None:
    assert (await server.get(PLACE)).status == 200
    token = await _token(app, "read")
    answer = await server.get(PLACE)
    assert (answer.status, answer.code) == (401, "not_authenticated")
    assert answer.headers["www-authenticate"] == 'Bearer realm="hanbeon"'
    assert (await server.of(token).get(PLACE)).status == 200
    assert (await server.of(token).get(PLACE, Host="shop.example")).status == 200
    for path in ("/healthz", "/readyz", "/docs", "/openapi.json"):
        assert (await server.get(path)).status == 200


async def test_revoking_the_last_token_keeps_authentication_on(app: App, server: Client) -> None:
    made = await create_token(app.store, "ada", "admin")
    assert (await server.of(made.text).get(PLACE)).status == 200
    await revoke_token(app.store, made.record.id)
    answer = await server.of(made.text).get(PLACE)
    assert (answer.status, answer.code) == (401, "not_authenticated")
    assert 'error="invalid_token"' in answer.headers["www-authenticate"]
    assert (await server.get(PLACE)).status == 401


@pytest.mark.parametrize("scope", Scope)
async def test_read_access_depends_on_the_scope(app: App, server: Client, scope: Scope) -> None:
    answer = await server.of(await _token(app, scope)).get(PLACE)
    if scope in ALLOWED[Need.READ]:
        assert answer.status == 200
    else:
        assert (answer.status, answer.code) == (403, "not_allowed")
        assert 'error="insufficient_scope"' in answer.headers["www-authenticate"]


def test_scopes_allowed_by_each_need() -> None:
    assert {need: {scope for scope in Scope if scope in ALLOWED[need]} for need in Need} == {
        Need.NOTHING: set(Scope),
        Need.READ: {Scope.ADMIN, Scope.USER, Scope.READ},
        Need.WRITE: {Scope.ADMIN, Scope.USER},
        Need.CRON: {Scope.ADMIN, Scope.CRON},
        Need.RUN: {Scope.ADMIN, Scope.USER, Scope.CRON},
        Need.MONITOR: set(Scope),
        Need.ADMIN: {Scope.ADMIN},
    }


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer ", "Basic YWRhOng=", "bearer", "Token abc", "Bearer  \t", "é", "Bearer é" * 900]
)
async def test_rejects_malformed_authorization_headers(app: App, server: Client, header: str) -> None:
    await _token(app, "admin")
    answer = await server.get(PLACE, Authorization=header)
    assert (answer.status, answer.code) == (401, "not_authenticated")


async def test_a_token_goes_in_the_header_alone(app: App, server: Client) -> None:
    token = await _token(app, "admin")
    assert (await server.get(f"{PLACE}?access_token={token}")).status == 401
    assert (await server.get(f"{PLACE}?token={token}")).status == 401
    assert (await server.get(PLACE, Authorization=f"bEARER {token}")).status == 200


async def test_two_headers_are_one_too_many(app: App, server: Client) -> None:
    token = await _token(app, "admin")
    parts = urlsplit(server.url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    line = f"Authorization: Bearer {token}\r\n"
    writer.write(f"GET {PLACE} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{line}{line}\r\n".encode())
    assert (await reader.readline()).split()[1] == b"401"
    writer.close()
    await writer.wait_closed()


async def test_failures_are_throttled_by_address_except_valid_tokens(app: App, server: Client) -> None:
    token = await _token(app, "read")
    seen: list[Response] = [await server.of("wrong").get(PLACE) for _ in range(MOST + 1)]
    assert [each.status for each in seen] == [401] * MOST + [429]
    assert seen[-1].code == "too_many_failures"
    assert 0 < int(seen[-1].headers["retry-after"]) <= WINDOW_SECONDS
    assert (await server.of(token).get(PLACE)).status == 200


async def test_failures_expire_and_are_kept_for_few_addresses() -> None:
    clock = VirtualClock()
    failures = AuthThrottle(clock)
    assert [failures.note("a") for _ in range(MOST)] == [0.0] * MOST
    assert failures.note("a") == WINDOW_SECONDS
    assert failures.note("b") == 0.0
    await clock.advance(WINDOW_SECONDS)
    assert failures.note("a") == 0.0
    for number in range(20_000):
        failures.note(str(number))
    assert len(failures._counts) == 10_000


async def test_only_hashes_are_kept_and_the_use_of_a_token_is_noted(app: App, server: Client) -> None:
    token = await _token(app, "read")
    assert (await list_tokens(app.store))[0].last_used_at is None
    assert (await server.of(token).get(PLACE)).status == 200
    (record,) = await list_tokens(app.store)
    assert record.last_used_at is not None
    kept = await app.store.read(lambda tx: tx.fetch("tokens"))
    assert all(token not in str(value) and token[8:] not in str(value) for row in kept for value in dict(row).values())


async def test_tokens_are_believed_for_a_second_and_no_longer(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    assert 0 < auth._KNOWN_FOR_SECONDS <= 1
    clock = VirtualClock()
    door = auth.Authenticator(app.store, clock)
    assert await door._known() == {}
    await _token(app, "read")
    assert await door._known() == {}
    await clock.advance(auth._KNOWN_FOR_SECONDS + 0.01)
    assert len(await door._known()) == 1


async def test_new_token_is_known_at_once(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """A token works right after its creation, although all tokens were read a moment before."""
    monkeypatch.setattr(auth, "_KNOWN_FOR_SECONDS", 3_600.0)
    first = (await create_token(app.store, "mallory", Scope.READ)).text
    async with serving(app) as server:
        assert (await server.of(first).get(PLACE)).status == 200
        second = (await create_token(app.store, "alice", Scope.READ)).text
        assert (await server.of(second).get(PLACE)).status == 200
        assert (await server.of(f"{second}x").get(PLACE)).status == 401


@pytest.mark.parametrize("log_in", [False, True])
async def test_first_token_is_known_at_once(app: App, monkeypatch: pytest.MonkeyPatch, log_in: bool) -> None:
    """It has its own scope and not that of `local`, although there was no token a moment before."""
    monkeypatch.setattr(auth, "_KNOWN_FOR_SECONDS", 3_600.0)
    async with serving(app) as server:
        assert (await server.get("/api/session")).json["user"] == "local"
        first = (await create_token(app.store, "mallory", Scope.READ)).text
        if log_in:
            answer = await server.post("/api/session", {"token": first})
        else:
            answer = await server.of(first).get("/api/session")
        assert (answer.json["user"], answer.json["login"]) == ("mallory", log_in)
        assert (await server.get("/api/session")).status == 401


async def test_cron_secret_is_a_token_of_scope_cron(database_url: str) -> None:
    secret = "a secret of a serverless cron"
    async with App(database_url, cron_secret=secret) as app, serving(app) as server:
        assert (await server.get("/api/scheduler/execute")).status == 401  # It turns authentication on.
        assert (await server.of(secret + "!").get("/api/scheduler/execute")).code == "not_authenticated"
        assert (await server.of(secret).get("/api/scheduler/execute", Host="shop.example")).status == 200
        assert (await server.of(secret).get("/api/scheduler/monitor")).status == 200
        assert (await server.of(secret).get("/api/workflows")).code == "not_allowed"
        admin = server.of(await _token(app, "admin"))
        assert secret not in str((await admin.get("/api/engine/settings")).json)


@pytest.mark.parametrize(
    ("secret", "warnings"), [("s", 1), ("fifteen letters", 1), ("sixteen letters!", 0), ("비밀", 1)]
)
async def test_cron_secret_of_any_length_is_accepted(sqlite_url: str, secret: str, warnings: int) -> None:
    """A short one is worth a warning, which must not show it."""
    sent = f"Bearer {secret}".encode().decode("latin-1")
    with capture_logs() as logged:
        async with App(sqlite_url, cron_secret=secret) as app, serving(app) as server:
            assert (await server.get("/api/scheduler/monitor")).status == 401
            assert (await server.get("/api/scheduler/monitor", Authorization=sent)).status == 200
    warned = [entry for entry in logged if entry["event"] == "cron_secret_short"]
    assert [entry["log_level"] for entry in warned] == ["warning"] * warnings
    assert not any(secret in map(str, entry.values()) for entry in logged)


def test_empty_cron_secret_is_refused(sqlite_url: str) -> None:
    with pytest.raises(InvalidInput, match="cron_secret"):
        App(sqlite_url, cron_secret="")
