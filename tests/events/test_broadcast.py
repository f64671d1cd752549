"""One reader for all who follow: each gets everything once and in order, however slow it is and whenever it came."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from hanbeon import App
from hanbeon.domain.event_cursor import EventPosition
from hanbeon.domain.events import Event
from hanbeon.errors import DatabaseUnavailable, NotFound
from hanbeon.events import broadcast as module
from hanbeon.events import follower as follower_module
from hanbeon.events.broadcast import Broadcast
from hanbeon.events.follower import Delivered, EventGap, Follower, Pages
from hanbeon.store.operations import events as event_rows
from hanbeon.store.tx import Tx

QUEUE, OTHER = "default", "other"


def at(after: int) -> EventPosition:
    return EventPosition("", after)


def words(event: Event) -> Delivered | None:
    return None if event.job_id is None else Delivered(event.id, event.type, event.job_id.encode())


@pytest.fixture
def crowd(app: App) -> Broadcast:
    @app.task
    async def work() -> None: ...

    return Broadcast(app.store, app.hub)


async def _make(app: App, number: int = 1, queue: str = QUEUE) -> list[bytes]:
    work = app.tasks.get("work")
    return [job.id.encode() for job in await app.enqueue_many([work.call().set(queue=queue) for _ in range(number)])]


async def _hear(follower: Follower, number: int) -> list[Delivered]:
    """The next events; that there was a gap is passed over."""
    heard: list[Delivered] = []
    async with asyncio.timeout(30):
        while len(heard) < number:
            message = await follower.next()
            if isinstance(message, Delivered):
                heard.append(message)
    return heard


async def test_past_events_come_first_then_new_ones(app: App, crowd: Broadcast) -> None:
    before = await _make(app, 3)
    await _make(app, 2, OTHER)
    with crowd.following(QUEUE, words, at(0)) as follower:
        assert [message.data for message in await _hear(follower, 3)] == before
        await _make(app, 2, OTHER)
        now = await _make(app, 2)
        heard = await _hear(follower, 2)
        assert [message.data for message in heard] == now
    after = await _make(app)
    with crowd.following(QUEUE, words, at(heard[0].id)) as follower:
        assert [message.data for message in await _hear(follower, 2)] == [now[1], *after]


async def test_joining_during_writes_misses_and_repeats_nothing(
    app: App, crowd: Broadcast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follower_module, "WAITING_MOST", 7)  # So that some are slow, too.
    dice = random.Random(7)
    made: list[bytes] = []
    sizes = [dice.randint(1, 5) for _ in range(60)]

    async def write() -> None:
        for size in sizes:
            made.extend(await _make(app, size))
            await _make(app, 1, OTHER)

    async def follow(delay: float, slow: float) -> list[Delivered]:
        await asyncio.sleep(delay)
        heard: list[Delivered] = []
        with crowd.following(QUEUE, words, at(0)) as follower:
            while len(heard) < sum(sizes):
                heard += await _hear(follower, 1)
                await asyncio.sleep(slow)
        return heard

    writing = asyncio.create_task(write())
    following = [follow(dice.random() * 0.5, dice.choice((0, 0, 0.002))) for _ in range(20)]
    found = await asyncio.gather(*following)
    await writing
    for heard in found:
        assert [message.data for message in heard] == made
        assert [message.id for message in heard] == sorted({message.id for message in heard})


async def test_slow_subscriber_gets_a_gap_and_loses_nothing(
    app: App, crowd: Broadcast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follower_module, "WAITING_MOST", 5)
    with crowd.following(QUEUE, words, at(0)) as slow, crowd.following(QUEUE, words, at(0)) as quick:
        (first,) = await _make(app)
        assert [message.data for message in await _hear(slow, 1)] == [first]
        await _hear(quick, 1)
        reading = asyncio.create_task(_hear(quick, 20))
        async with asyncio.timeout(20):  # Until it waits, live.
            while not slow._live:
                await _turn(slow)
        made = [each for _ in range(20) for each in await _make(app)]
        assert [message.data for message in await reading] == made
        async with asyncio.timeout(20):
            while len(slow._waiting) < 5:  # noqa: ASYNC110 - there is no event
                await asyncio.sleep(0.01)
        assert len(slow._waiting) == 5
        heard = [await slow.next() for _ in range(5)]
        gap = await slow.next()
        assert isinstance(heard[-1], Delivered)
        assert gap == EventGap(heard[-1].id)
        rest = await _hear(slow, 15)
        assert [message.data for message in (*heard, *rest) if isinstance(message, Delivered)] == made


async def _turn(follower: Follower) -> None:
    """Let it wait for a moment: a wait that is cancelled loses nothing."""
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(follower.next(), 0.05)


async def test_cancelling_a_wait_loses_nothing(app: App, crowd: Broadcast) -> None:
    with crowd.following(QUEUE, words, at(0)) as follower:
        for _ in range(5):
            waiting = asyncio.create_task(follower.next())
            await asyncio.sleep(0)
            making = asyncio.create_task(_make(app))
            await asyncio.sleep(0.002)
            waiting.cancel()
            heard = [
                message
                for message in await asyncio.gather(waiting, return_exceptions=True)
                if isinstance(message, Delivered)
            ]
            heard += await _hear(follower, 1 - len(heard))
            assert [message.data for message in heard] == await making


def _counted(app: App, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Every reading of events from now on."""
    read = event_rows.events_after
    readings: list[int] = []

    async def counting(tx: Tx, after: int, batches: int, queue: str | None = None) -> list[Event]:
        readings.append(after)
        return await read(tx, after, batches, queue)

    monkeypatch.setattr("hanbeon.events.follower.events_after", counting)
    return readings


async def test_the_database_is_read_once_for_all(app: App, crowd: Broadcast, monkeypatch: pytest.MonkeyPatch) -> None:
    async def readings_of(number: int) -> int:
        last = await _last(app)
        followers = [crowd.following(QUEUE, words, at(last)) for _ in range(number)]
        joined = [each.__enter__() for each in followers]
        for each in joined:
            await _turn(each)
        readings = _counted(app, monkeypatch)
        for _ in range(10):
            (made,) = await _make(app)
            heard = await asyncio.gather(*(_hear(each, 1) for each in joined))
            assert {message.data for (message,) in heard} == {made}
        monkeypatch.undo()
        for entered in followers:
            entered.__exit__(None, None, None)
        return len(readings)

    await _make(app)
    assert await readings_of(40) < 10 * 10


async def test_nobody_is_read_for_when_nobody_follows(
    app: App, crowd: Broadcast, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _make(app)
    with crowd.following(QUEUE, words, at(0)) as follower:
        await _hear(follower, 1)
        assert _reads(crowd)
    assert not _reads(crowd)
    await app.counts()  # On SQLite a reading that was under way goes on in its thread, until this one is answered.
    readings = _counted(app, monkeypatch)
    made = [*await _make(app), *await _make(app)]
    await asyncio.sleep(0)
    assert readings == []
    with crowd.following(QUEUE, words, at(0)) as follower:
        assert [message.data for message in await _hear(follower, 3)][1:] == made


def _reads(crowd: Broadcast) -> bool:
    return crowd._reader is not None


async def test_subscriber_ahead_of_all_does_not_move_the_others(app: App, crowd: Broadcast) -> None:
    with crowd.following(QUEUE, words, at(10**12)) as ahead, crowd.following(QUEUE, words, at(0)) as other:
        await _turn(ahead)
        made = await _make(app, 3)
        assert [message.data for message in await _hear(other, 3)] == made
        await _turn(ahead)


async def test_pruned_events_hold_up_no_subscriber(app: App, crowd: Broadcast, monkeypatch: pytest.MonkeyPatch) -> None:
    await _make(app, 3)
    with crowd.following(QUEUE, words, at(0)) as follower:
        await _hear(follower, 3)
    sql = "DELETE FROM hanbeon.event_batch" if app.settings.database_url.startswith("postgres") else _SQLITE_DELETE
    async with app.transaction() as tx:
        await tx.fetch(sql)
    readings = _counted(app, monkeypatch)
    with crowd.following(QUEUE, words, at(0)) as follower:
        for _ in range(5):
            await _turn(follower)
        assert len(readings) < 10, "it looks for what is gone again and again"
        made = await _make(app)
        assert [message.data for message in await _hear(follower, 1)] == made


async def test_parts_of_a_queue_and_all_queues_have_words_of_their_own(app: App, crowd: Broadcast) -> None:
    """Live: two chains share a queue, and operators follow them all."""

    def only(wanted: set[bytes]) -> Callable[[Event], Delivered | None]:
        return lambda event: each if (each := words(event)) is not None and each.data in wanted else None

    first, second = set[bytes](), set[bytes]()
    last = at(await _last(app))
    with (
        crowd.following(QUEUE, only(first), last, "first") as one,
        crowd.following(QUEUE, only(second), last, "second") as two,
        crowd.following(None, words, last) as all_of_them,
    ):
        for follower in (one, two, all_of_them):
            await _turn(follower)
        jobs = [app.tasks.get("work").call() for _ in range(2)]
        first.add(jobs[0].id.encode())
        second.add(jobs[1].id.encode())
        await app.enqueue_many(jobs)
        others = await _make(app, 1, OTHER)
        assert [message.data for message in await _hear(one, 1)] == [jobs[0].id.encode()]
        assert [message.data for message in await _hear(two, 1)] == [jobs[1].id.encode()]
        heard = [message.data for message in await _hear(all_of_them, 3)]
        assert heard == [*(job.id.encode() for job in jobs), *others]


_SQLITE_DELETE = "DELETE FROM hanbeon_event_batch"


@pytest.mark.parametrize("live", [True, False])
async def test_the_end_comes_behind_all_that_was_before_it(app: App, crowd: Broadcast, live: bool) -> None:
    await _make(app)
    last = await _last(app)

    def ending(event: Event) -> Delivered | None:
        if event.id > last + 1:
            raise NotFound("it is over")
        return words(event)

    made = [] if live else await _make(app, 2)
    with crowd.following(QUEUE, ending, at(last)) as follower, crowd.following(OTHER, words, at(last)) as other:
        if live:
            await _turn(follower)
            await _turn(other)
            made = await _make(app, 2)
        assert [message.data for message in await _hear(follower, 1)] == made[:1]
        for _ in range(2):
            with pytest.raises(NotFound):
                await _hear(follower, 1)
        others = await _make(app, 1, OTHER)
        assert [message.data for message in await _hear(other, 1)] == others


async def _last(app: App) -> int:
    await app.store.number_events()
    return await app.store.read(event_rows.last_event_id)


async def test_a_database_outage_loses_no_event(app: App, crowd: Broadcast, monkeypatch: pytest.MonkeyPatch) -> None:
    with crowd.following(QUEUE, words, at(await _last(app))) as follower:
        await _turn(follower)
        number: Callable[..., Awaitable[int]] = app.store.number_events
        failed = asyncio.Event()

        async def failing(*args: Any) -> int:
            if not failed.is_set():
                failed.set()
                raise DatabaseUnavailable("on purpose")
            return await number(*args)

        monkeypatch.setattr(app.store, "number_events", failing)
        made = await _make(app)
        async with asyncio.timeout(20):
            await failed.wait()
        made += await _make(app)
        assert [message.data for message in await _hear(follower, 2)] == made


async def test_a_defect_ends_those_who_follow_and_not_the_reading(
    app: App, crowd: Broadcast, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(event: Event) -> Delivered | None:
        raise ZeroDivisionError

    last = await _last(app)
    with crowd.following(QUEUE, broken, at(last)) as follower:
        await _turn(follower)
        made = await _make(app)
        with pytest.raises(ZeroDivisionError):
            await _hear(follower, 1)
        with crowd.following(QUEUE, words, at(last)) as other:
            assert [message.data for message in await _hear(other, 1)] == made


@pytest.mark.parametrize("size", [1, 400])
async def test_pages_are_of_about_the_same_size(app: App, crowd: Broadcast, size: int) -> None:
    for _ in range(30 if size == 1 else 12):
        await _make(app, size)
    await app.store.number_events()
    pages, after, sizes = Pages(), 0, []
    while found := await pages.read(app.store, after):
        after = found[-1].id
        sizes.append(len(found))
    assert sum(sizes) >= (30 if size == 1 else 12 * 400)
    assert max(sizes[1:]) <= 2_000
    assert len(sizes) < 10


async def test_only_a_few_catch_up_at_the_same_time(
    app: App, crowd: Broadcast, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await _make(app, 3)
    read, under_way, most = event_rows.events_after, 0, 0

    async def counting(tx: Tx, after: int, batches: int, queue: str | None = None) -> list[Event]:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        try:
            return await read(tx, after, batches, queue)
        finally:
            under_way -= 1

    monkeypatch.setattr("hanbeon.events.follower.events_after", counting)

    async def follow() -> list[Delivered]:
        with crowd.following(QUEUE, words, at(0)) as follower:
            return await _hear(follower, 3)

    heard = await asyncio.gather(*(follow() for _ in range(30)))
    assert all([message.data for message in each] == made for each in heard)
    assert most <= module._CATCHING_UP_AT_ONCE + 1  # And the one who reads for all.
