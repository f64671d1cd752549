"""What an office tells is found by an index of its own: events of others cost its readers nothing."""

import pytest

from hanbeon.domain.events import Event
from hanbeon.domain.offices import queue_of_office
from tests.service.raw_sql import run_sql
from tests.surfaces.offices.office_kit import Desk

_INDEX = "SELECT queue_id FROM hanbeon.queue_batch"


async def _fold(desk: Desk) -> None:
    store = desk.kit.app.store
    while await store.number_events():
        pass
    while await store.fold():
        pass


async def _others(desk: Desk, count: int) -> None:
    for _ in range(count):
        await desk.kit.app.enqueue("work")


async def _read(desk: Desk, after: int, batches: int) -> list[Event]:
    return await desk.kit.app.store.events_after(after, batches, queue_of_office(desk.id))


def _of(desk: Desk, events: list[Event]) -> list[Event]:
    return [event for event in events if event.queue == queue_of_office(desk.id)]


async def test_what_others_did_is_not_read(desk: Desk) -> None:
    await _others(desk, 30)
    first = await desk.one()
    await _others(desk, 30)
    second = await desk.one()
    await _fold(desk)
    found = await _read(desk, 0, 100)
    # That its queue was made and limited is among its events, too.
    assert {event.queue for event in found} == {queue_of_office(desk.id)}
    assert [event.job_id for event in found if event.job_id] == [first.id, second.id]


async def test_what_is_not_folded_yet_is_read_all_the_same_and_once(desk: Desk) -> None:
    made = [await desk.one()]
    await _fold(desk)
    for _ in range(3):
        await _others(desk, 2)
        made.append(await desk.one())
    assert [event.job_id for event in await desk.events()] == [job.id for job in made]
    await _fold(desk)
    assert [event.job_id for event in await desk.events()] == [job.id for job in made]


@pytest.mark.parametrize("folded", [True, False])
async def test_every_place_can_be_gone_on_from_whatever_the_size_of_pages(desk: Desk, folded: bool) -> None:
    """Also within a batch, and from an id that is another's."""
    other = await desk.offices.create({"name": "other", "sessions": {"default": "work"}})
    for count in (1, 5, 2):
        await desk.make(*[{}] * count)
        await desk.offices.create_jobs(other.id, {"jobs": [{}] * count})
    await desk.kit.run_all()
    await (_fold(desk) if folded else desk.kit.app.store.number_events())
    events = _of(desk, await desk.kit.app.store.events_after(0, 1_000))
    assert len(events) > 8 * 3
    last = (await desk.kit.app.store.events_after(0, 1_000))[-1].id
    for after in range(last + 1):
        for batches in (1, 3, 1_000):
            found, at = [], after
            while page := await _read(desk, at, batches):
                assert page[0].id > at
                found += _of(desk, page)
                at = page[-1].id
            assert found == [event for event in events if event.id > after]


async def test_nothing_that_an_office_tells_is_missing_from_its_index(desk: Desk) -> None:
    """Neither what changes no number, as that a deadline has passed, nor what is told of jobs that wait."""
    await desk.one(handler="stubborn", max_retries=1, timeout_ms=10_000)
    await desk.kit.start_ready()
    await desk.kit.advance(11)  # Its deadline is told by itself, while its work does not end.
    desk.gates.stop.set()
    await desk.kit.settle()
    waiting = await desk.one(handler="hold")
    await desk.offices.cancel(desk.id, waiting.id)
    before = await desk.events()
    assert {"job_timeout", "job_retrying", "job_cancelled"} <= {event.type.value for event in before}
    await _fold(desk)
    assert await desk.events() == before
    kept = await desk.kit.app.store.events_after(0, 1_000)
    found = await _read(desk, 0, 1_000)
    assert _of(desk, found) == _of(desk, kept)


async def test_the_index_goes_with_the_events(desk: Desk) -> None:
    await desk.one()
    await desk.kit.run_all()
    await _fold(desk)
    store = desk.kit.app.store
    assert await run_sql(store, _INDEX)
    await desk.kit.advance(desk.kit.app.settings.retention + 1)
    while await store.prune(1_000_000, 500):
        pass
    assert not await run_sql(store, _INDEX)  # What is told of the pruning itself is new, and not folded yet.
    assert await desk.events() == []
