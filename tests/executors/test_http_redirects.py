"""Redirects: followed where that is safe, and never to what the task itself could not reach."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from hanbeon.domain.outcome import Outcome, Raised, Returned
from hanbeon.errors import PermanentError
from hanbeon.executors.http.request import redirected
from hanbeon.outbound.client import HttpRequest
from hanbeon.outbound.origin import Origin
from tests.executors.http_backend import Caller, calling, internet
from tests.outbound.web import Web, json_reply, reply

PUBLIC, OTHER, METADATA = "93.184.215.14", "1.1.1.1", "169.254.169.254"
NAMES = {"public.test": PUBLIC, "other.test": OTHER, "inside.test": "10.0.0.7", "metadata.test": METADATA}


@pytest.fixture
async def caller() -> AsyncIterator[Caller]:
    async with calling() as caller:
        yield caller


def to(location: str, status: int = 302) -> bytes:
    return reply(status, "go on", {"Location": location})


def failure(outcome: Outcome | None) -> Raised:
    assert isinstance(outcome, Raised)
    return outcome


@pytest.mark.parametrize(
    ("method", "status", "then"),
    [
        ("GET", 301, ("GET", b"")),
        ("GET", 302, ("GET", b"")),
        ("HEAD", 302, ("HEAD", b"")),
        ("GET", 303, ("GET", b"")),
        ("POST", 303, ("GET", b"")),
        ("POST", 307, ("POST", b'{"a":1}')),
        ("PUT", 308, ("PUT", b'{"a":1}')),
    ],
)
async def test_redirect_contents(caller: Caller, method: str, status: int, then: tuple[str, bytes]) -> None:
    async with Web(to("next?x=1#top", status), json_reply("1")) as web:
        outcome = await caller.call(f"{web.url}/a/b", {"a": 1}, method=method)
        assert isinstance(outcome, Returned)
    first, second = web.seen
    assert (second.method, second.body) == then
    assert second.target == "/a/next?x=1"
    assert second.headers["idempotency-key"] == first.headers["idempotency-key"]
    assert ("content-type" in second.headers) == bool(second.body)


@pytest.mark.parametrize("status", [301, 302])
async def test_a_body_is_not_lost_on_the_way(caller: Caller, status: int) -> None:
    async with Web(to("/next", status)) as web:
        outcome = failure(await caller.call(web.url, method="POST"))
    assert outcome.failure_type == "invalid"
    assert "the POST would become a GET" in outcome.message
    assert len(web.seen) == 1


async def test_circles_have_an_end(caller: Caller) -> None:
    async with Web(to("/again")) as web:
        outcome = failure(await caller.call(web.url, method="GET"))
        assert outcome.message == f"GET {web.url}/ was redirected more than 5 times; is that a loop?"
        assert (outcome.failure_type, len(web.seen)) == ("invalid", 6)
        web.seen.clear()
        assert (await caller.call(web.url, method="GET", redirects=1), len(web.seen))[1] == 2
        web.seen.clear()
        none = failure(await caller.call(web.url, method="GET", redirects=0))
        assert (none.message, len(web.seen)) == (f"GET {web.url}/ answered 302 Found: go on", 1)


@pytest.mark.parametrize(
    "location",
    ["ftp://other.test/", "javascript:alert(1)", "http://user:pw@other.test/", "http://[::", "http://a b/"],
)
async def test_places_that_cannot_be_followed(caller: Caller, location: str) -> None:
    async with Web(to(location)) as web:
        outcome = failure(await caller.call(web.url, method="GET"))
    assert outcome.failure_type == "invalid"
    assert "an invalid Location" in outcome.message


@pytest.mark.parametrize(
    ("location", "words"),
    [
        (f"http://{METADATA}/latest/meta-data/", "169.254.169.254 is refused: a cloud metadata address"),
        ("http://metadata.test/", "metadata.test (169.254.169.254) is refused: a cloud metadata address"),
        ("//inside.test/", "inside.test (10.0.0.7) is refused: a private address"),
        ("http://[::ffff:127.0.0.1]/", "is refused: a loopback address"),
    ],
)
async def test_a_redirect_to_a_private_address_is_refused(location: str, words: str) -> None:
    async with Web(to(location)) as public, Web() as inside:
        literal = {METADATA: METADATA, "::ffff:7f00:1": "::ffff:7f00:1", "::ffff:127.0.0.1": "::ffff:127.0.0.1"}
        servers = {PUBLIC: public, METADATA: inside, "10.0.0.7": inside, "::ffff:7f00:1": inside}
        async with calling(internet(NAMES | literal, servers)) as caller:
            outcome = failure(await caller.call("http://public.test/", method="GET", allow_private=False))
        assert (outcome.failure_type, outcome.permanent) == ("permission_error", True)
        assert words in outcome.message
        assert inside.seen == []


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:{}/", "http://localhost:{}/", "http://0x7f.1:{}/", "http://2130706433:{}/"]
)
async def test_a_private_address_is_refused_however_it_is_written(caller: Caller, url: str) -> None:
    async with Web() as web:
        outcome = failure(await caller.call(url.format(web.port), allow_private=False))
        assert (outcome.failure_type, outcome.permanent) == ("permission_error", True)
        assert "loopback address; if the task may reach it, say allow_private = true" in outcome.message
        assert web.peers == []


async def test_a_setting_allows_them_for_all() -> None:
    async with Web(json_reply("1")) as web, calling(outbound_allow_private=True) as caller:
        assert await caller.call(web.url, allow_private=False) == Returned("1")


async def test_headers_of_the_task_stay_behind_when_the_origin_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOOK_TOKEN", "t0k3n")
    own: dict[str, Any] = {"headers": {"Authorization": "Bearer ${HOOK_TOKEN}", "X-Api-Key": "${HOOK_TOKEN}"}}
    async with Web(to("/here", 307), to("http://other.test/there", 307)) as public, Web(json_reply("1")) as other:
        async with calling(internet(NAMES, {PUBLIC: public, OTHER: other})) as caller:
            assert await caller.call("http://public.test/", {"a": 1}, allow_private=False, **own) == Returned("1")
        assert [seen.headers["authorization"] for seen in public.seen] == ["Bearer t0k3n"] * 2
        (seen,) = other.seen
        assert not {"authorization", "x-api-key"} & seen.headers.keys()
        assert (seen.headers["host"], seen.body) == ("other.test", b'{"a":1}')
        assert "idempotency-key" in seen.headers


async def test_a_port_is_part_of_the_origin(caller: Caller) -> None:
    async with Web(json_reply("1")) as other, Web(to(other.url)) as web:
        assert await caller.call(web.url, method="GET", headers={"X-Api-Key": "k"}) == Returned("1")
        assert "x-api-key" not in other.seen[0].headers


def test_encryption_is_not_given_up_on_the_way() -> None:
    request = HttpRequest("GET", Origin("https", "public.test", 443), "/a", {})
    with pytest.raises(PermanentError, match=r"http://other\.test, which is not encrypted"):
        redirected(request, 302, "http://other.test/", ())
    assert redirected(request, 302, "//other.test", ()).origin == Origin("https", "other.test", 443)
