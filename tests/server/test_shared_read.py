"""Requests share reads, and each gets one that began after it."""

import asyncio

import pytest

from hanbeon import App
from hanbeon.domain.access import Scope
from hanbeon.server.login_cache import LoginCache
from hanbeon.server.shared_read import SharedRead, SharedReads
from hanbeon.service.tokens import create_login, create_token, end_login, revoke_token
from hanbeon.testing import VirtualClock
from tests.server.client import Client


class Reader:
    """A read of `value` that goes on until `go` is set; `began` counts."""

    def __init__(self) -> None:
        self.value, self.began = 0, 0
        self.go = asyncio.Event()

    async def read(self) -> int:
        self.began += 1
        found = self.value
        await self.go.wait()
        return found


async def _nothing() -> None:
    pass


async def _moment() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_requests_at_the_same_time_share_a_read() -> None:
    reader = Reader()
    shared = SharedRead(reader.read)
    first = [asyncio.ensure_future(shared.get()) for _ in range(20)]
    await _moment()
    later = [asyncio.ensure_future(shared.get()) for _ in range(20)]
    await _moment()
    assert reader.began == 1
    reader.go.set()
    await asyncio.gather(*first, *later)
    assert reader.began == 2


async def test_a_read_shows_what_was_written_before_it_was_asked_for() -> None:
    reader = Reader()
    shared = SharedRead(reader.read)
    early = asyncio.ensure_future(shared.get())
    await _moment()
    reader.value = 1
    late = asyncio.ensure_future(shared.get())
    await _moment()
    reader.go.set()
    assert (await early, await late) == (0, 1)


async def test_one_who_leaves_takes_nothing_from_others() -> None:
    reader = Reader()
    shared = SharedRead(reader.read)
    stays, leaves = (asyncio.ensure_future(shared.get()) for _ in range(2))
    await _moment()
    leaves.cancel()
    await _moment()
    # The database may hang: the next one has a read of its own, at once.
    following = asyncio.ensure_future(shared.get())
    await _moment()
    assert reader.began == 2
    reader.go.set()
    assert (await stays, await following) == (0, 0)
    assert leaves.cancelled()


async def test_errors_reach_all_that_share_and_no_later_one() -> None:
    answers: list[int | Exception] = [ValueError("no"), 7]

    async def read() -> int:
        found = answers.pop(0)
        if isinstance(found, Exception):
            raise found
        return found

    shared = SharedRead(read)
    errors = await asyncio.gather(shared.get(), shared.get(), return_exceptions=True)
    assert [type(each) for each in errors] == [ValueError] * 2
    assert await shared.get() == 7


async def test_only_equal_keys_share_and_none_is_kept() -> None:
    reads = SharedReads()
    readers = {key: Reader() for key in "ab"}
    asked = [asyncio.ensure_future(reads.get(key, readers[key].read)) for key in "aabb"]
    await _moment()
    for each in readers.values():
        each.go.set()
    await asyncio.gather(*asked)
    assert [each.began for each in readers.values()] == [1, 1]
    assert reads._reads == {}


async def test_lists_show_ones_own_action_beside_other_readers(app: App, server: Client) -> None:
    """Each PATCH is seen by the GET that follows it, however many read the same meanwhile."""
    app.task(name="nothing", queue="paced")(_nothing)
    await app.enqueue("nothing")
    going = True

    async def look() -> None:
        while going:
            assert (await server.get("/api/engine/queues")).status == 200

    others = [asyncio.ensure_future(look()) for _ in range(4)]
    for paused in (True, False) * 5:
        assert (await server.ask("PATCH", "/api/engine/queues/paced", {"paused": paused})).status == 200
        found = (await server.get("/api/engine/queues")).json["items"]
        assert [each["paused"] for each in found if each["name"] == "paced"] == [paused]
    going = False
    await asyncio.gather(*others)


async def test_readers_and_admins_never_share_an_answer(
    app: App, server: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hanbeon.surfaces.engine import schemas

    def masked(self: schemas.EngineQueues) -> schemas.EngineQueues:
        return schemas.EngineQueues(at="masked", items=[], next_cursor=None)

    monkeypatch.setattr(schemas.EngineQueues, "for_readers", masked)
    admin, reader = [(await create_token(app.store, scope, scope)).text for scope in ("admin", "read")]
    for _ in range(5):
        answers = await asyncio.gather(*(server.of(each).get("/api/engine/queues") for each in (admin, reader) * 10))
        assert [each.json["at"] == "masked" for each in answers] == [False, True] * 10


async def test_logins_in_use_are_read_together(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = VirtualClock()
    cache = LoginCache(app.store, clock)
    token = await create_token(app.store, "ada", "read")
    texts = [
        (await create_login(app.store, "ada", Scope.READ, token=token.record.id, until=None)).text for _ in range(5)
    ]
    reads = 0
    read = cache._read

    async def counted() -> dict[str, object]:
        nonlocal reads
        reads += 1
        return dict(await read())

    monkeypatch.setattr(cache._reading, "_read", counted)

    async def users() -> list[str | None]:
        found = await asyncio.gather(*(cache.find(text, 1.0) for text in [*texts, "made up"]))
        return [None if each is None else each.user_name for each in found]

    assert await users() == [*["ada"] * 5, None]
    assert reads == 1
    await clock.advance(1.5)
    for text in texts:
        assert await cache.find(text, 1.0) is not None
    assert reads == 2
    await end_login(app.store, texts[0])
    cache.forget(texts[0])
    assert await users() == [None, *["ada"] * 4, None]
    await revoke_token(app.store, token.record.id)
    await clock.advance(1.5)
    assert await users() == [None] * 6
    await clock.advance(60)
    await cache.find(texts[1], 1.0)
    assert not cache._used_at
    assert not cache._found
