"""Where connections go: to what was checked and nowhere else, and TLS is verified against the name."""

import asyncio
import ssl
from collections.abc import Sequence

import pytest
import trustme

from hanbeon.errors import PermanentError, TaskError
from hanbeon.outbound.client import HttpRequest, OutboundClient
from hanbeon.outbound.origin import Origin, split_url
from tests.outbound.web import Names, Routes, Web, reply

PUBLIC, OTHER, INSIDE = "93.184.215.14", "1.1.1.1", "10.0.0.7"


async def get(client: OutboundClient, url: str, *, allow_private: bool = False, connect_seconds: float = 5) -> int:
    origin, target = split_url(url, "url")
    request = HttpRequest("GET", origin, target or "/", {})
    async with client.send(request, connect_seconds=connect_seconds, allow_private=allow_private) as answer:
        await answer.read(1_000)
        return answer.status


async def test_connects_to_the_address_that_was_checked() -> None:
    """The name leads inside when it is asked a second time: it is not asked a second time."""
    names = Names(rebinding_test=[[PUBLIC], [INSIDE]])
    async with Web() as web:
        network = Routes({PUBLIC: web, INSIDE: web})
        client = OutboundClient(names, keep=5, network=network)
        assert await get(client, "http://rebinding.test/") == 200
        assert (names.asked, network.reached) == (["rebinding.test"], [PUBLIC])
        await client.close()


async def test_a_name_that_leads_inside_later_is_refused_then() -> None:
    names = Names(rebinding_test=[[PUBLIC], [INSIDE]])
    async with Web(reply(headers={"Connection": "close"})) as web:
        network = Routes({PUBLIC: web, INSIDE: web})
        client = OutboundClient(names, keep=5, network=network)
        assert await get(client, "http://rebinding.test/") == 200
        with pytest.raises(
            PermanentError, match=r"rebinding.test \(10.0.0.7\) is refused: a private address; if the task"
        ):
            await get(client, "http://rebinding.test/")
        assert network.reached == [PUBLIC]
        await client.close()


@pytest.mark.parametrize("addresses", [[INSIDE], [PUBLIC, INSIDE], [INSIDE, PUBLIC], ["::ffff:10.0.0.7"], ["::1"]])
async def test_a_name_with_any_address_inside_is_refused(addresses: Sequence[str]) -> None:
    network = Routes({})
    client = OutboundClient(Names(mixed_test=[addresses]), keep=5, network=network)
    with pytest.raises(PermanentError) as caught:
        await get(client, "http://mixed.test/")
    assert caught.value.failure_type == "permission_error"
    assert network.reached == []


async def test_private_connections_are_not_reused_by_public_only_tasks() -> None:
    async with Web() as web:
        client = OutboundClient(Names(inside_test=[[INSIDE]]), keep=5, network=Routes({INSIDE: web}))
        for _ in range(2):
            assert await get(client, "http://inside.test/", allow_private=True) == 200
        assert len(web.peers) == 1, "the connection is kept"
        with pytest.raises(PermanentError):
            await get(client, "http://inside.test/")
        await client.close()


async def test_the_next_address_is_tried() -> None:
    async with Web() as web:
        network = Routes({PUBLIC: None, OTHER: web})
        client = OutboundClient(Names(two_test=[[PUBLIC, OTHER]]), keep=5, network=network)
        assert await get(client, "http://two.test/") == 200
        assert network.reached == [PUBLIC, OTHER]
        await client.close()


async def test_silent_name_server_is_limited_by_connect_timeout() -> None:
    async def never(host: str, port: int) -> Sequence[str]:
        await asyncio.Event().wait()
        return []

    client = OutboundClient(never, keep=5, network=Routes({}))
    with pytest.raises(
        TaskError, match=r"did not accept the connection in time: its name was not resolved within 0.01 s"
    ):
        await get(client, "http://silent.test/", connect_seconds=0.01)


@pytest.fixture
def authority() -> trustme.CA:
    return trustme.CA()


def _server(authority: trustme.CA, name: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name).configure_cert(context)
    return context


def _trusting(authority: trustme.CA | None) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if authority is not None:
        authority.configure_trust(context)
    return context


async def test_tls_is_verified_against_the_name_and_not_the_address(authority: trustme.CA) -> None:
    async with Web(reply(), tls=_server(authority, "good.test")) as web:
        names = Names(good_test=[[PUBLIC]], other_test=[[PUBLIC]])
        client = OutboundClient(names, keep=5, network=Routes({PUBLIC: web}), tls=_trusting(authority))
        assert await get(client, "https://good.test/") == 200
        with pytest.raises(
            TaskError, match=r"no connection to https://other.test: .*CERTIFICATE_VERIFY_FAILED"
        ) as caught:
            await get(client, "https://other.test/")
        assert caught.value.failure_type == "temporary"
        await client.close()


async def test_an_authority_that_nobody_trusts_is_not_trusted(authority: trustme.CA) -> None:
    async with Web(reply(), tls=_server(authority, "good.test")) as web:
        client = OutboundClient(Names(good_test=[[PUBLIC]]), keep=5, network=Routes({PUBLIC: web}), tls=_trusting(None))
        with pytest.raises(TaskError, match="CERTIFICATE_VERIFY_FAILED"):
            await get(client, "https://good.test/")
        assert web.seen == []
        await client.close()


async def test_no_error_of_the_library_crosses_the_border() -> None:
    request = HttpRequest("GET", Origin("http", "odd.test", 80), "/", {"X-Token": "secret\r\nX-Other: 1"})
    async with Web() as web:
        client = OutboundClient(Names(odd_test=[[PUBLIC]]), keep=5, network=Routes({PUBLIC: web}))
        with pytest.raises(PermanentError) as caught:
            async with client.send(request, connect_seconds=5, allow_private=False):
                pass
        assert "secret" not in str(caught.value)
        await client.close()
