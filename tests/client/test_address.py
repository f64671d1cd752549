"""Options of a client: address, token and ids."""

import asyncio
import subprocess
import sys
from typing import Any

import pytest

import hanbeon.client
from hanbeon import App
from hanbeon.client import AsyncClient, Client, NotAllowed, NotAuthenticated, NotFound
from hanbeon.client.address import Address
from hanbeon.client.flow import Request
from hanbeon.errors import InvalidInput
from hanbeon.service.tokens import create_token
from tests.client.both_clients import any_client
from tests.server.client import serving


@pytest.mark.parametrize("client", [Client, AsyncClient])
@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"url": "localhost:8000"}, "url"),
        ({"url": "ftp://example.org"}, "url"),
        ({"url": "http://"}, "url"),
        ({"token": "a b\n"}, "token"),
        ({"token": ""}, "token"),
        ({"timeout": 0}, "timeout"),
        ({"retry_for": -1}, "retry_for"),
    ],
)
def test_rejects_invalid_client_options(client: Any, given: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        client(**given)
    assert refused.value.field == field


@pytest.mark.parametrize("office", ["", ".", ".."])
def test_rejects_ids_that_change_the_path(office: str) -> None:
    with Client() as client, pytest.raises(InvalidInput):
        client.office(office).get()


async def test_ids_with_any_characters_stay_ids(app: App, kind: str) -> None:
    async with serving(app) as server, any_client(kind, server.url) as call:
        for odd in ("?x=1", "#", "%2e%2e", "한번"):
            with pytest.raises(NotFound) as refused:
                await call(call.client.office(odd).get)
            assert refused.value.code == "office_not_found", odd


async def test_token_identifies_the_caller(app: App, kind: str) -> None:
    token = (await create_token(app.store, "ada", "read")).text
    async with serving(app) as server:
        async with any_client(kind, server.url) as call:
            with pytest.raises(NotAuthenticated):
                await call.take(call.client.offices.list())
        async with any_client(kind, f"{server.url}/", token=token) as call:
            assert await call.take(call.client.offices.list()) == []
            with pytest.raises(NotAllowed) as refused:
                await call(call.client.offices.create, "Seoul")
            assert (refused.value.status, refused.value.code) == (403, "not_allowed")


async def test_many_threads_may_share_a_client(app: App) -> None:
    async with serving(app) as server:
        with Client(server.url) as client:
            made = await asyncio.gather(
                *(asyncio.to_thread(client.offices.create, f"office {number}") for number in range(12))
            )
            there = await asyncio.to_thread(lambda: list(client.offices.list(limit=5)))
            assert {office.id for office in there} == {office.id for office in made}


def test_without_httpx2_it_says_what_to_install() -> None:
    program = "import sys; sys.modules['httpx2'] = None; from hanbeon.client import Client; Client()"
    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True, timeout=60)
    assert "ExtraMissing: a client of a server needs the extra 'client'; install it with: pip install" in done.stderr


def test_public_names_are_sorted_documented_and_there() -> None:
    names = hanbeon.client.__all__
    assert names == sorted(set(names))
    for name in names:
        assert (getattr(hanbeon.client, name).__doc__ or "").strip(), name


def test_a_client_loads_no_database_and_no_server() -> None:
    program = (
        "import sys, hanbeon.client; "
        "print([name for name in sys.modules if name.split('.')[0] in ('apsw', 'asyncpg', 'starlette', 'uvicorn')])"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=60)
    assert done.stdout == "[]\n"


def test_requests_carry_the_context_of_the_current_span() -> None:
    from opentelemetry import trace

    span = trace.NonRecordingSpan(trace.SpanContext(0xABC, 0xDEF, is_remote=False, trace_flags=trace.TraceFlags(1)))
    address = Address("http://127.0.0.1:1", None, 1.0, True)
    request = Request("GET", "/healthz")
    assert "traceparent" not in address.arguments(request)["headers"]
    with trace.use_span(span):
        assert address.arguments(request)["headers"]["traceparent"] == f"00-{0xABC:032x}-{0xDEF:016x}-01"
