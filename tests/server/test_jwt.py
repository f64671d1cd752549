"""JWTs of a configured issuer: valid ones are accepted with their claims, forgeries are not."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from hanbeon import App
from hanbeon.errors import InvalidInput
from hanbeon.server import jwks as key_module
from hanbeon.server.auth_throttle import MOST
from hanbeon.server.jwt import InvalidJwt, Issuer, issuer_of
from hanbeon.server.push import session
from hanbeon.service.tokens import create_token
from hanbeon.settings import load_settings
from tests.cli.hanbeon import hanbeon
from tests.cli.workers import Running
from tests.server.client import Client, serving
from tests.server.jwt_issuer import (
    EC,
    ISSUER,
    OTHER_RSA,
    RSA,
    SECRET,
    by_hand,
    claims,
    jwk,
    jwks,
    pem,
    private_pem,
    signed,
)
from tests.server.websocket_client import dial, end_of, new_office, refused

PLACE = "/metrics"
Signs = Callable[..., str]


def _issuer(**settings: Any) -> Issuer:
    found = issuer_of(load_settings(jwt_issuer=ISSUER, **settings))
    assert found is not None
    return found


@pytest.fixture
def rsa_file(tmp_path: Path) -> str:
    path = tmp_path / "issuer.pem"
    path.write_bytes(pem(RSA))
    return str(path)


@pytest.fixture
async def server(sqlite_url: str, rsa_file: str) -> AsyncIterator[Client]:
    async with App(sqlite_url, jwt_issuer=ISSUER, jwt_key_file=rsa_file) as app, serving(app) as client:
        yield client


@pytest.fixture(params=["secret", "secret_file", "rsa", "ec", "jwks_rsa", "jwks_ec", "jwks_oct"])
def pair(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Issuer, Signs]:
    """An issuer by each kind of key, and how it signs."""
    path = tmp_path / "keys"
    k = "YSBzZWNyZXQgb2YgbW9yZSB0aGFuIHRoaXJ0eS10d28gYnl0ZXM"  # SECRET
    if request.param == "secret":
        return _issuer(jwt_secret=SECRET), lambda **changes: signed(SECRET, "HS256", **changes)
    setting, algorithm = "jwt_jwks_file", "RS256"
    key: Any = RSA
    kid: str | None = "r"
    match request.param:
        case "secret_file":
            path.write_text(f"{SECRET}\n")
            setting, key, algorithm, kid = "jwt_secret_file", SECRET, "HS256", None
        case "rsa":
            path.write_bytes(pem(RSA))
            setting, kid = "jwt_key_file", None
        case "ec":
            path.write_bytes(pem(EC))
            setting, key, algorithm, kid = "jwt_key_file", EC, "ES256", None
        case "jwks_oct":
            jwks(path, {"kty": "oct", "k": k, "kid": "s"})
            key, algorithm, kid = SECRET, "HS256", "s"
        case "jwks_ec":
            jwks(path, jwk(RSA, kid="r"), jwk(EC, kid="e", use="sig"))
            key, algorithm, kid = EC, "ES256", "e"
        case _:
            jwks(path, jwk(RSA, kid="r", alg="RS256"), jwk(EC, kid="e"))
    headers = None if kid is None else {"kid": kid}
    return _issuer(**{setting: str(path)}), lambda **changes: signed(key, algorithm, headers, **changes)


def test_every_key_type_verifies_and_rejects_tokens(pair: tuple[Issuer, Signs]) -> None:
    issuer, sign = pair
    now = int(time.time())
    assert issuer.who(sign(sub="ada", scope="user"))[:2] == ("ada", "user")
    assert issuer.who(sign(nbf=now + 5, iat=now + 5, exp=now - 5)).user == "ada"  # Allowed clock skew.
    for changes, why in (
        ({"exp": now - 60}, "expired"),
        ({"exp": None}, "lacks"),
        ({"exp": "soon"}, "cannot be read"),
        ({"exp": str(now + 60)}, "'exp' must be a number"),
        ({"exp": True}, "expired"),
        ({"nbf": str(now - 60)}, "'nbf' must be a number"),
        ({"iat": str(now - 60)}, "'iat' must be a number"),
        ({"nbf": now + 60}, "not valid yet"),
        ({"iat": now + 60}, "not valid yet"),
        ({"iss": "https://evil.example"}, "another issuer"),
        ({"iss": None}, "lacks"),
        ({"sub": None}, "lacks"),
        ({"sub": ""}, "names no valid user"),
        ({"sub": "a\x00b"}, "names no valid user"),
        ({"scope": None}, "none of admin, user, cron, read"),
        ({"scope": "everything"}, "none of"),
        ({"scope": "readonly ADMIN"}, "none of"),
        ({"scope": 7}, "none of"),
    ):
        with pytest.raises(InvalidJwt, match=why):
            issuer.who(sign(**changes))
    token = sign()
    for forged in (token[:-4] + ("AAAA" if token[-4:] != "AAAA" else "BBBB"), f"{token}.x", token.replace(".", "..")):
        with pytest.raises(InvalidJwt):
            issuer.who(forged)


@pytest.mark.parametrize(
    ("value", "scope"),
    [
        ("read", "read"),
        ("openid read user profile", "user"),
        ("cron read", "cron"),
        ("read admin user", "admin"),
        (["read", "user"], "user"),
    ],
)
def test_the_strongest_scope_counts(value: Any, scope: str) -> None:
    issuer = _issuer(jwt_secret=SECRET)
    assert issuer.who(signed(SECRET, "HS256", scope=value)).scope == scope
    other = _issuer(jwt_secret=SECRET, jwt_scope_claim="https://hanbeon/roles")
    assert other.who(signed(SECRET, "HS256", scope=None, **{"https://hanbeon/roles": value})).scope == scope
    with pytest.raises(InvalidJwt, match="none of"):
        other.who(signed(SECRET, "HS256", scope=value))


def test_the_audience_counts_where_one_is_set() -> None:
    any_of_them, strict = _issuer(jwt_secret=SECRET), _issuer(jwt_secret=SECRET, jwt_audience="hanbeon")
    for audience in ("hanbeon", ["other", "hanbeon"]):
        assert strict.who(signed(SECRET, "HS256", aud=audience)).user == "ada"
        assert any_of_them.who(signed(SECRET, "HS256", aud=audience)).user == "ada"
    wrong: list[Any] = ["other", ["other"], "hanbeon2", None, "", 7]
    for audience in wrong:
        with pytest.raises(InvalidJwt):
            strict.who(signed(SECRET, "HS256", aud=audience))


def test_classic_forgeries_open_nothing(rsa_file: str, tmp_path: Path) -> None:
    issuer = _issuer(jwt_key_file=rsa_file)
    good = signed(RSA, "RS256", scope="admin")
    assert issuer.who(good).scope == "admin"
    header, body, _ = good.split(".")
    forged = [
        by_hand({"alg": "none"}, claims(scope="admin")),
        by_hand({"alg": "None", "typ": "JWT"}, claims(scope="admin")),
        by_hand({"alg": ""}, claims(scope="admin")),
        by_hand({}, claims(scope="admin")),
        f"{header}.{body}.",
        # The public key is no secret: an HMAC made with it must not be accepted.
        by_hand({"alg": "HS256"}, claims(scope="admin"), pem(RSA)),
        by_hand({"alg": "HS256"}, claims(scope="admin"), pem(RSA).strip()),
        by_hand({"alg": "RS256"}, claims(scope="admin"), pem(RSA)),
        by_hand({"alg": "HS256"}, claims(scope="admin"), b""),
        # A key that comes with the token is the forger's.
        signed(OTHER_RSA, "RS256", {"jwk": jwk(OTHER_RSA)}, scope="admin"),
        signed(OTHER_RSA, "RS256", {"jku": "https://evil.example/jwks.json"}, scope="admin"),
        signed(OTHER_RSA, "RS256", {"kid": "../../../../dev/null"}, scope="admin"),
        signed(OTHER_RSA, "RS256", scope="admin"),
        signed(RSA, "PS256", scope="admin"),
        signed(RSA, "RS512", scope="admin"),
        signed(RSA, "RS256", {"crit": ["exp"]}, scope="admin"),
        signed(EC, "ES256", scope="admin"),
        by_hand({"alg": "RS256"}, b"[" * 4_000, b"x"),
        by_hand({"alg": ["RS256"]}, claims(), b"x"),
        by_hand({"alg": "RS256", "kid": {"$ne": 1}}, claims(), b"x"),
        f"{'e30' * 5_000}.e30.e30",
        "..",
        "a.b.c",
        "é.é.é",
    ]
    for each in forged:
        with pytest.raises(InvalidJwt):
            issuer.who(each)
    by_kid = _issuer(jwt_jwks_file=str(jwks(tmp_path / "set", jwk(RSA, kid="r"), jwk(EC, kid="e"))))
    for each in (
        signed(RSA, "RS256"),
        signed(RSA, "RS256", {"kid": "e"}),
        signed(EC, "ES256", {"kid": "r"}),
        signed(RSA, "RS256", {"kid": "x"}),
        by_hand({"alg": "HS256", "kid": "r"}, claims(), pem(RSA)),
    ):
        with pytest.raises(InvalidJwt):
            by_kid.who(each)


async def test_jwt_scope_applies_to_requests_and_websockets(server: Client) -> None:
    for path in (PLACE, "/api/offices"):
        answer = await server.get(path)
        assert (answer.status, answer.code) == (401, "not_authenticated")
    admin, read = server.of(signed(RSA, "RS256", scope="admin")), server.of(signed(RSA, "RS256"))
    office = await new_office(admin)
    assert (await read.get(f"/api/offices/{office}")).status == 200
    answer = await read.post("/api/offices", {"name": "Busan"})
    assert (answer.status, answer.code) == (403, "not_allowed")
    token: Any = read.token
    async with dial(server, f"/ws/offices/{office}/events", subprotocols=["bearer", token]) as listener:
        assert listener.subprotocol == "bearer"
    answer = await refused(server.of(signed(OTHER_RSA, "RS256")), f"/ws/offices/{office}/events")
    assert (answer.status, answer.json["detail"]) == (401, "the JWT's signature is invalid")
    assert 'error="invalid_token"' in answer.headers["www-authenticate"]


async def test_failures_are_limited_like_those_of_any_token(server: Client) -> None:
    wrong = server.of(signed(OTHER_RSA, "RS256"))
    assert [(await wrong.get(PLACE)).status for _ in range(MOST + 1)] == [401] * MOST + [429]
    assert (await server.of(signed(RSA, "RS256")).get(PLACE)).status == 200


async def test_tokens_of_our_own_stay_valid_beside_an_issuer(sqlite_url: str, rsa_file: str) -> None:
    async with App(sqlite_url, jwt_issuer=ISSUER, jwt_key_file=rsa_file) as app:
        token = (await create_token(app.store, "bob", "read")).text
        async with serving(app) as client:
            assert (await client.of(token).get(PLACE)).status == 200
            assert (await client.of(signed(RSA, "RS256")).get(PLACE)).status == 200
            assert (await client.of("hanbeon_wrong").get(PLACE)).status == 401


async def test_without_an_issuer_a_jwt_is_a_token_that_nobody_knows(sqlite_url: str) -> None:
    async with App(sqlite_url) as app:
        await create_token(app.store, "bob", "read")
        async with serving(app) as client:
            answer = await client.of(signed(RSA, "RS256")).get(PLACE)
            assert (answer.status, answer.json["detail"]) == (401, "the token is unknown or was revoked")


async def test_a_token_that_expires_ends_what_it_opened(server: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(session, "ADMIT_AGAIN_SECONDS", 0.05)
    office = await new_office(server.of(signed(RSA, "RS256", scope="admin")))
    async with dial(server.of(signed(RSA, "RS256")), f"/ws/offices/{office}/events") as listener:
        monkeypatch.setattr("hanbeon.server.jwt._LEEWAY_SECONDS", -36_000)  # As if hours had passed.
        assert await end_of(listener) == (4401, "not_authenticated")


def test_keys_are_read_again_when_their_file_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_module, "_CHECK_SECONDS", -1.0)
    path = jwks(tmp_path / "set", jwk(RSA, kid="old"))
    issuer = _issuer(jwt_jwks_file=str(path))
    old, new = signed(RSA, "RS256", {"kid": "old"}), signed(OTHER_RSA, "RS256", {"kid": "new"})
    assert issuer.who(old).user == "ada"
    with pytest.raises(InvalidJwt, match="unknown key"):
        issuer.who(new)
    jwks(path, jwk(RSA, kid="old"), jwk(OTHER_RSA, kid="new"))
    assert [issuer.who(each).user for each in (old, new)] == ["ada", "ada"]
    os.replace(jwks(tmp_path / "next", jwk(OTHER_RSA, kid="new")), path)
    assert issuer.who(new).user == "ada"
    with pytest.raises(InvalidJwt, match="unknown key"):
        issuer.who(old)
    path.write_text("{")  # Half written: the previous keys stay in force.
    assert issuer.who(new).user == "ada"
    path.unlink()
    assert issuer.who(new).user == "ada"


@pytest.mark.parametrize(
    ("setting", "content", "why"),
    [
        ("jwt_key_file", None, "(No such file"),
        ("jwt_key_file", b"", "a public key in PEM"),
        ("jwt_key_file", b"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", "a public key in PEM"),
        ("jwt_key_file", "private", "got a private key"),
        ("jwt_key_file", b"x" * 2_000_000, "too large"),
        ("jwt_secret_file", b"short\n", "at least 32 bytes long for HS256, got 5"),
        ("jwt_secret_file", b" " * 100, "at least 32 bytes long for HS256, got 0"),
        ("jwt_jwks_file", b"", "must be a JWKS"),
        ("jwt_jwks_file", b"[]", "must be a JWKS"),
        ("jwt_jwks_file", b"[" * 100_000, "must be a JWKS"),
        ("jwt_jwks_file", b'{"keys": {}}', "must be a JWKS"),
        ("jwt_jwks_file", b'{"keys": []}', "none of its 0 keys"),
        ("jwt_jwks_file", b'{"keys": [7]}', "keys[0]: must be an object"),
        ("jwt_jwks_file", b'{"keys": [{"kty": "RSA", "n": "x", "e": "AQAB"}]}', "keys[0]: "),
        ("jwt_jwks_file", b'{"keys": [{"kty": "oct", "k": "c2hvcnQ"}]}', "at least 32 bytes"),
        ("jwt_jwks_file", b'{"keys": [{"kty": "OKP", "crv": "Ed25519", "x": "x"}]}', "none of its 1 keys"),
    ],
)
def test_rejects_invalid_key_by_its_setting(
    tmp_path: Path, setting: str, content: bytes | str | None, why: str
) -> None:
    path = tmp_path / "key"
    if content is not None:
        path.write_bytes(private_pem(RSA) if isinstance(content, str) else content)
    with pytest.raises(InvalidInput) as refusal:
        _issuer(**{setting: str(path)})
    assert refusal.value.field == setting
    assert str(refusal.value).startswith(f"{setting}: ")
    assert why in str(refusal.value)


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"jwt_issuer": ISSUER}, "jwt_issuer"),
        ({"jwt_issuer": ISSUER, "jwt_secret": SECRET, "jwt_key_file": "x"}, "jwt_issuer"),
        ({"jwt_secret": SECRET}, "jwt_secret"),
        ({"jwt_audience": "x"}, "jwt_audience"),
        ({"jwt_issuer": ISSUER, "jwt_secret": "x" * 31}, "jwt_secret"),
    ],
)
def test_an_issuer_needs_one_key_and_a_key_an_issuer(settings: dict[str, str], field: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        issuer_of(load_settings(**settings))
    assert refusal.value.field == field
    assert SECRET not in str(refusal.value)


def test_keys_of_a_set_that_cannot_be_told_apart_are_refused(tmp_path: Path) -> None:
    for keys in ([jwk(RSA), jwk(EC, kid="e")], [jwk(RSA, kid="x"), jwk(EC, kid="x")]):
        with pytest.raises(InvalidInput, match="must have a kid"):
            _issuer(jwt_jwks_file=str(jwks(tmp_path / "set", *keys)))
    with pytest.raises(InvalidInput, match="private key"):
        _issuer(jwt_jwks_file=str(jwks(tmp_path / "set", jwk(RSA, d="AQAB"))))
    unused = [jwk(OTHER_RSA, use="enc"), jwk(OTHER_RSA, alg="RS512"), jwk(OTHER_RSA, alg="RSA-OAEP")]
    issuer = _issuer(jwt_jwks_file=str(jwks(tmp_path / "set", jwk(RSA), *unused)))
    assert issuer.who(signed(RSA, "RS256")).user == "ada"


def test_an_issuer_lets_a_server_be_reached_from_elsewhere(tmp_path: Path, sqlite_url: str) -> None:
    (tmp_path / "secret").write_text(SECRET)
    (tmp_path / "hanbeon.toml").write_text(f'[settings]\njwt_issuer = "{ISSUER}"\njwt_secret_file = "secret"\n')
    arguments = ("serve", "--database", sqlite_url, "--host", "0.0.0.0", "--port", "0")
    config = str(tmp_path / "hanbeon.toml")
    with Running(*arguments, "--config", config, cwd="/") as running:
        url = running.until("server_started")["url"].replace("0.0.0.0", "127.0.0.1")
        token = signed(SECRET, "HS256")
        assert Client(url).ask_now("GET", PLACE).status == 401
        assert Client(url, token).ask_now("GET", PLACE).status == 200
        assert Client(url, signed(SECRET + "x", "HS256")).ask_now("GET", PLACE).status == 401
        running.process.send_signal(signal.SIGTERM)
        logged = [str(line) for line in running.lines()]
    assert any("token_refused" in line for line in logged)
    assert not any(SECRET in line or token.split(".")[2] in line for line in logged)
    (tmp_path / "secret").write_text("short")
    done = hanbeon(*arguments, "--config", config)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (
        2,
        "error: jwt_secret_file: must be at least 32 bytes long for HS256, got 5",
    )
    checked = hanbeon("config", "check", "--config", config, "--database", sqlite_url)
    assert checked.returncode == 2
    assert "jwt_secret_file" in checked.stderr


def test_the_secret_is_shown_nowhere(tmp_path: Path) -> None:
    for arguments in (("config", "show"), ("config", "show", "--origin"), ("config", "show", "--json")):
        done = hanbeon(*arguments, HANBEON_JWT_SECRET=SECRET, HANBEON_JWT_ISSUER=ISSUER)
        assert done.returncode == 0, done.stderr
        assert SECRET not in done.stdout + done.stderr
        assert "***" in done.stdout
        assert ISSUER in done.stdout
    settings = load_settings(jwt_issuer=ISSUER, jwt_secret=SECRET)
    assert SECRET not in f"{settings!r} {settings}"
    (tmp_path / "hanbeon.toml").write_text(f'[settings]\njwt_secret = ["{SECRET}"]\n')
    done = hanbeon("config", "check", "--config", str(tmp_path / "hanbeon.toml"))
    assert done.returncode != 0
    assert SECRET not in done.stdout + done.stderr


async def test_a_user_is_who_the_token_names(server: Client) -> None:
    """Each user has their own Idempotency-Keys."""
    ada, bob = [server.of(signed(RSA, "RS256", scope="admin", sub=name)) for name in ("ada", "bob")]
    first, again, other = await asyncio.gather(
        *[each.post("/api/offices", {"name": "Seoul"}, Idempotency_Key="k") for each in (ada,)],
        *[each.post("/api/offices", {"name": "Seoul"}, Idempotency_Key=f"k{n}") for n, each in enumerate((ada, bob))],
    )
    assert len({first.json["id"], again.json["id"], other.json["id"]}) == 3
    repeated = await ada.post("/api/offices", {"name": "Seoul"}, Idempotency_Key="k")
    assert repeated.json["id"] == first.json["id"]
    assert (await bob.post("/api/offices", {"name": "Seoul"}, Idempotency_Key="k")).json["id"] != first.json["id"]


@pytest.mark.parametrize("audience", [None, "hanbeon"])
async def test_server_warns_without_an_audience(sqlite_url: str, audience: str | None) -> None:
    """Tokens that the issuer made for other applications would be accepted."""
    settings: dict[str, Any] = {"jwt_issuer": ISSUER, "jwt_secret": SECRET, "jwt_audience": audience}
    with capture_logs() as logged:
        async with App(sqlite_url, **settings) as app, serving(app):
            pass
    warned = [entry for entry in logged if entry["event"] == "jwt_audience_missing"]
    assert [entry["log_level"] for entry in warned] == ([] if audience else ["warning"])
