"""Broken connections and absent servers: creating requests are done once, and streams miss nothing."""

import asyncio
from typing import Any

import pytest

from hanbeon import App
from hanbeon.client import Conflict, ServerUnavailable, UnexpectedAnswer, Unreachable
from hanbeon.server import idempotency
from hanbeon.surfaces.offices.service import Offices
from tests.client.both_clients import any_client
from tests.client.servers import Restartable, faulty_proxy
from tests.server.client import serving

_CUT = b""
_AWAY = (
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 0\r\nContent-Type: application/problem+json\r\n"
    b'Content-Length: 31\r\nConnection: close\r\n\r\n{"code":"database_unavailable"}'
)
_PAGE = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\n<html>"


async def _names(app: App) -> list[str]:
    return [office.name for office in (await Offices(app).list()).items]


@pytest.mark.parametrize("first", [[_CUT, _CUT], [_AWAY, _AWAY], [_AWAY, _CUT]], ids=["cut", "away", "both"])
async def test_creating_requests_are_resent_and_done_once(app: App, kind: str, first: list[bytes]) -> None:
    async with (
        serving(app) as server,
        faulty_proxy(server.url, list(first)) as proxy,
        any_client(kind, proxy.url) as call,
    ):
        made = await call(call.client.offices.create, "Seoul")
        assert len(proxy.requests) == 3
        assert await _names(app) == ["Seoul"]
        proxy._first[:] = first
        (job,) = await call(call.client.office(made.id).create_jobs, [{"title": "once"}])
        assert [each.id for each in (await Offices(app).jobs(made.id)).items] == [job.id]


async def test_non_idempotent_requests_are_not_resent(app: App, kind: str) -> None:
    offices = Offices(app)
    office = await offices.create(name="Seoul")
    (job,) = (await offices.create_jobs(office.id, jobs=[{}])).jobs
    await offices.cancel(office.id, job.id)
    async with serving(app) as server, faulty_proxy(server.url, [_CUT]) as proxy, any_client(kind, proxy.url) as call:
        with pytest.raises(Unreachable):
            await call(call.client.office(office.id).retry, job.id)
        assert len(proxy.requests) == 1
        proxy._first[:] = [_AWAY]
        with pytest.raises(ServerUnavailable) as away:
            await call(call.client.office(office.id).retry, job.id)
        assert (away.value.status, away.value.code) == (503, "database_unavailable")
        # It was done although the response was lost: sent again, it would have looked refused.
        with pytest.raises(Conflict):
            await call(call.client.office(office.id).retry, job.id)


async def test_patience_ends(app: App, kind: str) -> None:
    async with serving(app) as server, faulty_proxy(server.url, [_AWAY] * 50) as proxy:
        async with any_client(kind, proxy.url, retry_for=0) as call:
            with pytest.raises(ServerUnavailable):
                await call(call.client.offices.create, "Seoul")
        assert len(proxy.requests) == 1
        async with any_client(kind, proxy.url, retry_for=3) as call:
            proxy._first[:] = [_CUT] * 50
            with pytest.raises(Unreachable, match="does not respond"):
                await call.take(call.client.offices.list())
        assert 2 < len(proxy.requests) < 30


async def test_a_server_that_is_not_there_yet_is_waited_for(app: App, kind: str) -> None:
    async with Restartable(app) as server:
        await server.stop()
        async with any_client(kind, server.url) as call:
            asked = asyncio.create_task(call(call.client.offices.create, "Seoul"))
            await asyncio.sleep(0.3)
            assert not asked.done()
            await server.start()
            assert (await asked).name == "Seoul"


async def test_server_death_mid_request_duplicates_no_jobs(
    app: App, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    office = await Offices(app).create(name="Seoul")

    died = asyncio.Event()

    async def die(*_: object) -> None:
        died.set()
        raise ConnectionResetError("here it died")

    async with serving(app) as server, faulty_proxy(server.url, [_CUT]) as proxy, any_client(kind, proxy.url) as call:
        keep = idempotency.Idempotency._keep
        monkeypatch.setattr(idempotency.Idempotency, "_keep", die)
        asked = asyncio.create_task(call(call.client.office(office.id).create_jobs, [{}, {}]))
        await died.wait()
        monkeypatch.setattr(idempotency.Idempotency, "_keep", keep)
        made = await asked
        assert len(proxy.requests) > 1
        assert [each.id for each in (await Offices(app).jobs(office.id)).items] == [each.id for each in made]


async def test_events_resume_over_a_restart_without_loss_or_repeat(app: App, kind: str) -> None:
    offices = Offices(app)
    office = await offices.create(name="Seoul")

    async def more() -> None:
        jobs = (await offices.create_jobs(office.id, jobs=[{}, {}])).jobs
        await offices.cancel(office.id, jobs[0].id)

    async with Restartable(app) as server, any_client(kind, server.url) as call:
        await more()
        heard = asyncio.create_task(call.take(call.client.office(office.id).events(), 9))
        await more()
        await server.stop()
        await more()
        await server.start()
        events = await heard
        there: list[Any] = []
        after = 0
        while (page := await offices.events(office.id, after=after)).items:
            there += page.items
            after = page.after
        assert [each.id for each in events] == [each.id for each in there]
        assert events == there
        resumed = await call.take(call.client.office(office.id).events(after=events[3].id), 5)
        assert resumed == events[4:]


async def test_following_ends_when_the_server_is_away_for_too_long(app: App, kind: str) -> None:
    office = await Offices(app).create(name="Seoul")
    async with Restartable(app) as server, any_client(kind, server.url, retry_for=0.5) as call:
        heard = asyncio.create_task(call.take(call.client.office(office.id).events(), 1))
        await asyncio.sleep(0.2)
        await server.stop()
        with pytest.raises(Unreachable):
            await heard


async def test_an_answer_that_is_not_ours_is_said_to_be_none(app: App, kind: str) -> None:
    async with serving(app) as server, faulty_proxy(server.url, [_PAGE]) as proxy, any_client(kind, proxy.url) as call:
        with pytest.raises(UnexpectedAnswer, match="<html>"):
            await call(call.client.office("x").get)
