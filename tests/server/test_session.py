"""Log in with a token: a cookie that counts wherever a token does, until it ends."""

import time
from http.cookies import SimpleCookie

import pytest

from hanbeon import App
from hanbeon.server import auth
from hanbeon.service.tokens import create_token, revoke_token
from hanbeon.store.operations import access as logins
from tests.server.client import Client, Response, serving
from tests.server.jwt_issuer import SECRET, signed
from tests.server.websocket_client import dial, refused

_SESSION = "/api/session"


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auth, "_KNOWN_FOR_SECONDS", -1.0)


def _cookie(answer: Response) -> str:
    (morsel,) = SimpleCookie(answer.headers["set-cookie"]).values()
    return f"{morsel.key}={morsel.value}"


async def test_cookie_counts_wherever_a_token_does(app: App, server: Client) -> None:
    token = await create_token(app.store, "ada", "user")
    answer = await server.post(_SESSION, {"token": token.text})
    assert answer.status == 200
    assert (answer.json["user"], answer.json["scope"], answer.json["login"]) == ("ada", "user", True)
    text = answer.headers["set-cookie"]
    for part in ("HttpOnly", "SameSite=strict", "Path=/", "Max-Age=43200"):
        assert part in text
    assert "Secure" not in text
    assert token.text not in text
    cookie = _cookie(answer)
    assert (await server.get(_SESSION, Cookie=cookie)).json["user"] == "ada"
    assert (await server.get("/api/offices", Cookie=cookie)).status == 200
    assert (await server.get("/api/engine/tokens", Cookie=cookie)).status == 403
    office = await create_token(app.store, "root", "admin")
    made = (await server.of(office.text).post("/api/offices", {"name": "Seoul"})).json["id"]
    async with dial(server, f"/ws/offices/{made}/events", headers={"Cookie": cookie}):
        pass
    # A token that is sent counts alone, so that a program's own token is never replaced by a browser's.
    assert (await server.of("wrong").get(_SESSION, Cookie=cookie)).status == 401


async def test_cookie_of_a_page_elsewhere_is_refused(app: App, server: Client) -> None:
    token = await create_token(app.store, "ada", "admin")
    cookie = _cookie(await server.post(_SESSION, {"token": token.text}))
    foreign = {"Cookie": cookie, "Origin": "http://127.0.0.1:1"}
    for method, path in (("POST", "/api/offices"), ("POST", _SESSION), ("DELETE", _SESSION)):
        assert (await server.ask(method, path, {"name": "x"}, **foreign)).code == "foreign_origin", (method, path)
    assert (await refused(server, "/ws/engine/events", headers=foreign)).code == "foreign_origin"
    assert (await server.get(_SESSION, Cookie=cookie)).status == 200


async def test_login_ends_by_logout_revocation_and_time(
    app: App, server: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = await create_token(app.store, "ada", "read")
    first, second = [_cookie(await server.post(_SESSION, {"token": token.text})) for _ in range(2)]
    ended = await server.ask("DELETE", _SESSION, Cookie=first)
    assert (ended.status, "Max-Age=0" in ended.headers["set-cookie"]) == (204, True)
    assert (await server.get(_SESSION, Cookie=first)).code == "not_authenticated"
    assert (await server.get(_SESSION, Cookie=second)).status == 200
    monkeypatch.setattr(logins, "LOGIN_US", -1)
    late = _cookie(await server.post(_SESSION, {"token": token.text}))
    for _ in range(40):  # A page left open is not taken for somebody who guesses.
        assert (await server.get(_SESSION, Cookie=late)).status == 401
    await revoke_token(app.store, token.record.id)
    assert (await server.get(_SESSION, Cookie=second)).status == 401
    assert await app.store.write(lambda tx: logins.prune_logins(tx, 10)) == 1


async def test_login_needs_a_valid_token_that_may_look(app: App, server: Client) -> None:
    local = (await server.post(_SESSION, {"token": "any"})).json
    assert (local["user"], local["timezone"]) == ("local", "Asia/Seoul")
    assert "set-cookie" not in (await server.post(_SESSION, {"token": "any"})).headers
    cron = await create_token(app.store, "clock", "cron")
    assert (await server.post(_SESSION, {"token": cron.text})).code == "not_allowed"
    answer = await server.post(_SESSION, {"token": "any"})
    assert (answer.code, "set-cookie" in answer.headers) == ("not_authenticated", False)
    assert (await server.post(_SESSION, {})).json["field"] == "token"
    assert (await server.get(_SESSION)).status == 401
    assert (await server.ask("DELETE", _SESSION)).status == 204


async def test_cookie_is_secure_under_tls_and_named_by_port(app: App, server: Client) -> None:
    token = (await create_token(app.store, "ada", "read")).text
    answer = await server.post(_SESSION, {"token": token}, Host="jobs.example", Origin="https://jobs.example")
    assert answer.headers["set-cookie"].startswith("hanbeon_session=")
    assert "Secure" in answer.headers["set-cookie"]
    other = await server.post(_SESSION, {"token": token}, Host="jobs.example:81")
    assert other.headers["set-cookie"].startswith("hanbeon_session_81=")


async def test_oldest_logins_of_a_user_make_room(app: App, server: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logins, "_EACH_USER", 2)
    token = (await create_token(app.store, "ada", "read")).text
    cookies = [_cookie(await server.post(_SESSION, {"token": token})) for _ in range(3)]
    assert [(await server.get(_SESSION, Cookie=each)).status for each in cookies] == [401, 200, 200]


async def test_login_with_a_jwt_ends_with_it(sqlite_url: str) -> None:
    async with App(sqlite_url, jwt_issuer="https://issuer.example", jwt_secret=SECRET) as app, serving(app) as server:
        now = int(time.time())
        for until, status in ((now + 3_600, 200), (now - 5, 401)):  # Five seconds ago: within the allowed skew.
            token = signed(SECRET, "HS256", scope="read", exp=until)
            assert (
                await server.get(_SESSION, Cookie=_cookie(await server.post(_SESSION, {"token": token})))
            ).status == status
