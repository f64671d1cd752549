"""The virtual clock is the test's, the instances' and the database's at once."""

import pytest

from hanbeon.clock import SystemClock
from hanbeon.domain.job import NewJob
from hanbeon.store.backends import open_store
from hanbeon.store.store import Store
from hanbeon.surfaces.store_parts import migrate
from hanbeon.testing.clock import START_US, VirtualClock
from tests.store.world import new_id


async def _open(url: str, clock: VirtualClock) -> Store:
    await migrate(url)
    store = open_store(url, clock)
    await store.open()
    return store


async def _now(store: Store) -> int:
    """The time by the database."""
    job = NewJob(id=new_id(), task="t")
    await store.enqueue([job])
    return (await store.job(job.id)).created_at


async def test_time_stands_still_until_it_is_advanced(database_url: str) -> None:
    clock = VirtualClock()
    store = await _open(database_url, clock)
    await clock.attach(store)
    await clock.attach(store)
    assert (clock.now_us(), clock.monotonic()) == (START_US, 0.0)
    assert await _now(store) == await _now(store) == START_US
    await clock.advance(1.5)
    assert (clock.now_us(), clock.monotonic()) == (START_US + 1_500_000, 1.5)
    assert await _now(store) == START_US + 1_500_000
    await clock.step(-3600)
    assert await _now(store) == clock.now_us() == START_US - 3_598_500_000
    assert clock.monotonic() == 1.5
    await store.close()


async def test_instances_of_one_database_share_the_time(database_url: str) -> None:
    clock = VirtualClock(5_000_000)
    first, second = await _open(database_url, clock), await _open(database_url, clock)
    await clock.attach(first)
    assert await _now(second) == 5_000_000
    await first.close()
    await clock.attach(second)
    await clock.advance(1)
    assert await _now(second) == 6_000_000
    await second.close()
    await clock.advance(1)
    await second.open()
    await clock.attach(second)
    assert await _now(second) == 7_000_000
    await second.close()


async def test_time_does_not_go_back() -> None:
    with pytest.raises(ValueError, match="step"):
        await VirtualClock().advance(-1)


async def test_a_sqlite_store_with_another_clock_is_refused(sqlite_url: str) -> None:
    store = open_store(sqlite_url, SystemClock())
    with pytest.raises(ValueError, match="when it is opened"):
        await VirtualClock().attach(store)
