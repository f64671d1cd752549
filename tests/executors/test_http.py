"""HTTP calls: what is sent, and what every kind of answer means for the attempt."""

import asyncio
import datetime as dt
import email.utils
import gzip
import subprocess
import sys
import tracemalloc
from collections.abc import AsyncIterator
from importlib.metadata import version
from typing import Any

import pytest

from hanbeon.domain.job import session_id
from hanbeon.domain.outcome import Outcome, Raised, Returned
from hanbeon.executors.executor import StopCause
from tests.executors.http_backend import Caller, calling
from tests.executors.workbench import until
from tests.outbound.web import Reply, Web, begun, broken, endless, job_headers, json_reply, reply, silence

JOB = "01a1e189-eda6-7180-9760-000000000001"


@pytest.fixture
async def caller() -> AsyncIterator[Caller]:
    async with calling() as caller:
        yield caller


async def outcome_of(caller: Caller, said: Reply, **options: Any) -> Outcome | None:
    async with Web(said) as web:
        return await caller.call(f"{web.url}/hook", **options)


def failure(outcome: Outcome | None) -> Raised:
    assert isinstance(outcome, Raised)
    return outcome


async def test_request_contents(caller: Caller) -> None:
    async with Web(json_reply('{"ok": true}')) as web:
        assert await caller.call(f"{web.url}/hook?v=1", {"a": [1, "é"]}) == Returned('{"ok":true}')
    (seen,) = web.seen
    assert (seen.method, seen.target, seen.body) == ("POST", "/hook?v=1", '{"a":[1,"é"]}'.encode())
    assert seen.headers["host"] == f"127.0.0.1:{web.port}"
    assert seen.headers["content-type"] == "application/json"
    assert seen.headers["user-agent"] == f"hanbeon/{version('hanbeon')}"
    assert seen.headers["accept-encoding"] == "identity"
    assert job_headers(seen) == {
        "idempotency-key": JOB,
        "hanbeon-job-id": JOB,
        "hanbeon-attempt": "1",
        "hanbeon-fence": "1",
        "hanbeon-session-id": session_id(JOB, 1),
    }


async def test_arguments_in_path_and_query(caller: Caller) -> None:
    async with Web() as web:
        url = f"{web.url}/users/{{args.id}}/{{job.id}}"
        await caller.call(url, {"id": "a/b", "tags": ["x", "y"]}, method="GET")
        await caller.call(url, {"id": "a/b", "n": 1}, method="DELETE", send="body")
        await caller.call(url, {"id": "a/b", "n": 1}, method="PUT", send="nothing")
    assert [(seen.method, seen.target, seen.body) for seen in web.seen] == [
        ("GET", f"/users/a%2Fb/{JOB}?tags=x&tags=y", b""),
        ("DELETE", f"/users/a%2Fb/{JOB}", b'{"id":"a/b","n":1}'),
        ("PUT", f"/users/a%2Fb/{JOB}", b""),
    ]
    assert "content-type" not in web.seen[0].headers


async def test_an_argument_that_leads_elsewhere_is_not_sent(caller: Caller) -> None:
    async with Web() as web:
        outcome = failure(await caller.call(f"{web.url}/users/{{args.id}}", {"id": ".."}, method="DELETE"))
    assert outcome.failure_type == "invalid"
    assert "leads elsewhere" in outcome.message
    assert web.seen == []


async def test_headers_of_the_task_replace_those_that_may_be(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOOK_TOKEN", "t0k3n")
    own = {"Authorization": "Bearer ${HOOK_TOKEN}", "content-type": "application/cloudevents+json", "User-Agent": "me"}
    async with Web() as web:
        await caller.call(web.url, headers=own)
    headers = web.seen[0].headers
    assert [headers[name] for name in ("authorization", "content-type", "user-agent")] == [
        "Bearer t0k3n",
        "application/cloudevents+json",
        "me",
    ]


async def test_missing_secret_fails_the_job_and_sends_nothing(caller: Caller) -> None:
    async with Web() as web:
        outcome = failure(await caller.call(web.url, headers={"Authorization": "${HANBEON_TEST_NOT_THERE}"}))
    assert outcome.message.startswith("the variable HANBEON_TEST_NOT_THERE is not set")
    assert web.seen == []


async def test_a_secret_that_the_server_repeats_is_not_written_down(
    caller: Caller, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("HOOK_TOKEN", "t0k3n-of-great-value")
    said = reply(401, "who is Bearer t0k3n-of-great-value?")
    with caplog.at_level("DEBUG"):
        outcome = failure(await outcome_of(caller, said, headers={"Authorization": "Bearer ${HOOK_TOKEN}"}))
    assert outcome.message.endswith("answered 401 Unauthorized: who is Bearer ***?")
    assert "great-value" not in caplog.text


TEXT = {"Content-Type": "text/plain"}


@pytest.mark.parametrize(
    ("said", "result"),
    [
        (json_reply('{"a": [1, null]}'), '{"a":[1,null]}'),
        (json_reply('"x"', 201, {"Content-Type": "application/problem+json; charset=utf-8"}), '"x"'),
        (json_reply("not json"), '"not json"'),
        (json_reply("[" * 1_000), f'"{"[" * 1_000}"'),
        (json_reply("1" * 1_500), "1" * 1_500),
        (json_reply("1e999"), '"1e999"'),
        (json_reply(""), "null"),
        (reply(204), "null"),
        (reply(200, "[1]"), "[1]"),
        (reply(200, "hello"), '"hello"'),
        (reply(200, "1.10", TEXT), '"1.10"'),
        (reply(200, b"\xb0\xa1", {"Content-Type": "text/plain; charset=EUC-KR"}), '"가"'),
        (reply(200, b"a\xff", {"Content-Type": "text/plain; charset=punycode"}), '"a�"'),
        (reply(200, b"a\x00", TEXT), '"a\\u0000"'),
        (reply(200, "4\r\n[1,2\r\n1\r\n]\r\n0\r\n\r\n", {"Transfer-Encoding": "chunked"}), "[1,2]"),
        (broken(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n[7]"), "[7]"),
        (broken(b"HTTP/1.0 200 OK\r\n\r\n[8]"), "[8]"),
        (b"HTTP/1.1 100 Continue\r\n\r\n" + reply(200, "[9]"), "[9]"),
    ],
)
async def test_the_body_is_the_result(caller: Caller, said: Reply, result: str) -> None:
    assert await outcome_of(caller, said, max_bytes=2_000) == Returned(result)


async def test_the_length_that_a_head_tells_is_not_waited_for(caller: Caller) -> None:
    said = reply(200, headers={"Content-Length": "99999999999"})
    assert await outcome_of(caller, said, method="HEAD") == Returned("null")


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (302, ("invalid", "it responded 302, a redirect, without a Location")),
        (304, ("invalid", "{} answered 304 Not Modified")),
        (400, ("invalid", "{} answered 400 Bad Request: why not")),
        (403, ("permission_error", "{} answered 403 Forbidden: why not")),
        (429, ("temporary", "{} answered 429 Too Many Requests: why not")),
        (503, ("temporary", "{} answered 503 Service Unavailable: why not")),
        (599, ("temporary", "{} answered 599: why not")),
    ],
)
async def test_failures_say_what_the_server_said(caller: Caller, status: int, expected: tuple[str, str]) -> None:
    async with Web(reply(status, b"" if status == 304 else b" why\r\n\x00\x1b not ")) as web:
        outcome = failure(await caller.call(web.url))
    failure_type, message = expected
    assert (outcome.failure_type, outcome.message) == (failure_type, message.format(f"POST {web.url}/"))


async def test_long_error_body_is_shortened(caller: Caller) -> None:
    assert len(failure(await outcome_of(caller, reply(500, "x" * 60_000))).message) < 300
    assert len(failure(await outcome_of(caller, reply(500, "x" * 600_000))).message) < 300


async def test_statuses_mean_what_the_task_says(caller: Caller) -> None:
    codes = {"409": "success", "404": {"type": "gone", "permanent": True}, "302": "success"}
    assert await outcome_of(caller, json_reply("1", 409), status_codes=codes) == Returned("1")
    gone = failure(await outcome_of(caller, reply(404), status_codes=codes))
    assert (gone.failure_type, gone.permanent) == ("gone", True)
    assert await outcome_of(caller, reply(302, headers={"Location": "/x"}), status_codes=codes) == Returned("null")


NOW = dt.datetime(2026, 11, 16, 5, 0, tzinfo=dt.UTC)


def _date(seconds: float) -> str:
    return email.utils.format_datetime(NOW + dt.timedelta(seconds=seconds), usegmt=True)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 0),
        ({"Retry-After": "90"}, 90),
        ({"Retry-After": " 0 "}, 0),
        ({"Retry-After": "-5"}, 0),
        ({"Retry-After": "soon"}, 0),
        ({"Retry-After": "1.5"}, 0),
        ({"Retry-After": "9" * 5_000}, 3600),
        ({"Retry-After": _date(120), "Date": _date(0)}, 120),
        ({"Retry-After": _date(-120), "Date": _date(0)}, 0),
        ({"Retry-After": "Mon, 99 Nov 2026 99:00:00 GMT", "Date": _date(0)}, 0),
    ],
)
async def test_when_to_ask_again(caller: Caller, headers: dict[str, str], seconds: int) -> None:
    outcome = failure(await outcome_of(caller, reply(429, headers=headers)))
    assert outcome.retry_after_us == seconds * 1_000_000


async def test_retry_after_date_falls_back_to_the_local_clock(caller: Caller) -> None:
    at = dt.datetime.now(dt.UTC) + dt.timedelta(minutes=10)
    said = reply(503, headers={"Retry-After": email.utils.format_datetime(at, usegmt=True)})
    assert 590_000_000 < failure(await outcome_of(caller, said)).retry_after_us <= 600_000_000


# Bad answers: a clear failure of this job, and the next one is served.


@pytest.mark.parametrize("headers", ["Transfer-Encoding: chunked", "Content-Length: 2000000000", "X-None: 1"])
@pytest.mark.parametrize("status", ["success", "invalid"])
async def test_an_answer_of_two_gigabytes_costs_no_memory(caller: Caller, headers: str, status: str) -> None:
    await outcome_of(caller, reply())  # So that the libraries are not counted.
    async with Web(endless(headers), json_reply("1")) as web:
        tracemalloc.start()
        try:
            outcome = failure(await caller.call(web.url, status_codes={"200": status}, max_bytes=100_000))
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        async with asyncio.timeout(5):
            await web.left.wait()
        assert peak < 8_000_000
        assert web.peers[-1].sent < 20_000_000, "the connection was closed early"
        if status == "success":
            assert (outcome.failure_type, outcome.permanent) == ("invalid", True)
            assert "over the limit of 100,000 bytes" in outcome.message
            assert "keep_answer = false" in outcome.message
        assert await caller.call(web.url) == Returned("1")


async def test_an_answer_that_nobody_keeps(caller: Caller) -> None:
    assert await outcome_of(caller, json_reply("[1]"), keep_answer=False) == Returned("null")
    assert await outcome_of(caller, endless(), keep_answer=False) == Returned("null")
    assert await outcome_of(caller, json_reply("[1]"), keep_result=False) == Returned(None)


async def test_an_answer_that_is_exactly_as_large_as_it_may_be(caller: Caller) -> None:
    assert await outcome_of(caller, json_reply(f'"{"x" * 98}"'), max_bytes=100) == Returned(f'"{"x" * 98}"')
    assert failure(await outcome_of(caller, json_reply(f'"{"x" * 99}"'), max_bytes=100)).permanent
    text = failure(await outcome_of(caller, reply(200, '"' * 100, TEXT), max_bytes=100))
    assert "over the limit of 100 bytes" in text.message, "as JSON it is larger than it came"


async def test_a_compressed_answer_is_not_unfolded(caller: Caller) -> None:
    bomb = reply(200, gzip.compress(b" " * 900), {"Content-Encoding": "gzip", "Content-Type": "application/json"})
    outcome = failure(await outcome_of(caller, bomb))
    assert (outcome.failure_type, outcome.permanent) == ("invalid", True)
    assert "compressed" in outcome.message
    assert await outcome_of(caller, bomb, keep_answer=False) == Returned("null")


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"garbage\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Le",
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * 300_000,
        b"SSH-2.0-OpenSSH_9.2\r\n",
    ],
)
async def test_an_answer_that_breaks_off_or_is_none_is_tried_again(caller: Caller, said: bytes) -> None:
    async with Web(broken(said), json_reply("1")) as web:
        outcome = failure(await caller.call(web.url))
        assert (outcome.failure_type, outcome.permanent) == ("temporary", False)
        assert outcome.message.startswith(f"the connection to {web.url} broke")
        assert await caller.call(web.url) == Returned("1")


async def test_nobody_there(caller: Caller) -> None:
    async with Web() as web:
        url = web.url
    outcome = failure(await caller.call(url))
    assert (outcome.failure_type, outcome.permanent) == ("temporary", False)
    assert outcome.message.startswith(f"no connection to {url}")


@pytest.mark.parametrize("host", ["no-such-name.invalid", "a..b", "x" * 70 + ".test"])
async def test_a_name_that_is_none(caller: Caller, host: str) -> None:
    outcome = failure(await caller.call(f"http://{host}/"))
    assert outcome.failure_type == "temporary"
    assert outcome.message.startswith(f"{host} cannot be resolved")


async def test_a_server_that_speaks_no_tls(caller: Caller) -> None:
    async with Web(silence) as web:
        outcome = failure(await caller.call(web.url.replace("http:", "https:"), connect_timeout=5))
    assert outcome.failure_type == "temporary"


async def test_a_tls_handshake_that_never_comes_has_its_time(caller: Caller) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        outcome = failure(await caller.call(url, connect_timeout=0.05))
    assert outcome.failure_type == "temporary"
    assert "did not accept the connection in time" in outcome.message


async def test_a_status_stands_even_if_its_body_never_comes(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hanbeon.executors.http.conversation._PEEK_SECONDS", 0.05)
    said = begun(b"HTTP/1.1 503 Busy\r\nContent-Length: 10\r\nRetry-After: 7\r\n\r\n")
    outcome = failure(await outcome_of(caller, said))
    assert (outcome.failure_type, outcome.retry_after_us) == ("temporary", 7_000_000)


async def test_a_status_stands_even_if_its_body_breaks_off(caller: Caller) -> None:
    said = broken(b"HTTP/1.1 503 Busy\r\nContent-Length: 10\r\nRetry-After: 7\r\n\r\nhalf")
    outcome = failure(await outcome_of(caller, said))
    assert (outcome.failure_type, outcome.retry_after_us) == ("temporary", 7_000_000)
    assert "answered 503" in outcome.message
    done = broken(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
    assert await outcome_of(caller, done, keep_answer=False) == Returned("null")


# Stopping


@pytest.mark.parametrize(
    "said", [silence, begun(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"), begun(b"HTTP/1.1 503 No\r\n")]
)
async def test_stopping_closes_the_connection_before_it_is_done(caller: Caller, said: Reply) -> None:
    async with Web(said) as web:
        running = caller.start(web.url)
        async with asyncio.timeout(10):
            await web.asked.wait()
            running.stop(StopCause.CANCELLED)
            running.stop(StopCause.LEASE_LOST)
            assert await running.outcome() is None
            await web.left.wait()


async def test_call_stopped_before_its_first_step_is_never_made(caller: Caller) -> None:
    async with Web() as web:
        running = caller.start(web.url)
        running.stop(StopCause.SHUTDOWN)
        assert await running.within() is None
        assert await caller.call(web.url) == Returned("null")
        assert len(web.seen) == 1


@pytest.mark.parametrize("said", [silence, begun(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"), endless()])
async def test_calls_that_are_stopped_at_any_moment_leave_nothing_open(caller: Caller, said: Reply) -> None:
    await outcome_of(caller, reply())
    async with Web(said) as web:
        for steps in range(80):
            running = caller.start(web.url, max_bytes=10**9)
            for _ in range(steps):
                await asyncio.sleep(0)
            running.stop(StopCause.CANCELLED)
            assert await running.within(10) is None
        await until("no connection is left", lambda: web.open == 0)
    async with Web(json_reply("1")) as web:
        assert await caller.call(web.url) == Returned("1")


async def test_closing_stops_what_runs() -> None:
    async with Web(silence) as web:
        async with calling() as caller:
            running = caller.start(web.url)
            await web.asked.wait()
        assert await running.within(1) is None
        async with asyncio.timeout(5):
            await web.left.wait()


async def test_connections_are_reused_and_are_as_many_as_calls(caller: Caller) -> None:
    async with Web(json_reply("1")) as web:
        for _ in range(5):
            await caller.call(web.url)
        assert len(web.peers) == 1
        outcomes = await asyncio.gather(*(caller.call(web.url) for _ in range(50)))
        assert set(outcomes) == {Returned("1")}
        assert len(web.peers) <= 50


async def test_no_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Web() as proxy, Web(json_reply("1")) as web:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        async with calling() as caller:
            assert await caller.call(web.url) == Returned("1")
        assert proxy.seen == []


def test_nothing_of_it_is_loaded_before_the_first_call() -> None:
    program = (
        "import sys, hanbeon, asyncio; app = hanbeon.App(); import hanbeon.app;"
        "app.http('ping', 'https://example.org/'); from hanbeon.executors.http.executor import HttpExecutor;"
        "HttpExecutor(app.settings, app.clock);"
        "print({'httpcore2', 'anyio', 'h11', 'idna'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("set()\n", "")
