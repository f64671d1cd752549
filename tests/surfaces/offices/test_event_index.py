"""Events of an office are found by an index per queue: events of others cost its readers nothing."""

import pytest

from hanbeon.domain.events import Event
from hanbeon.store.operations.events import events_after
from hanbeon.surfaces.offices.queue import queue_of_office
from tests.service.raw_sql import run_sql
from tests.surfaces.offices.office_kit import OfficeKit

_INDEX = "SELECT queue_id FROM hanbeon.queue_batch"


async def _fold(office: OfficeKit) -> None:
    store = office.kit.app.store
    while await store.number_events():
        pass
    while await store.fold():
        pass


async def _others(office: OfficeKit, count: int) -> None:
    for _ in range(count):
        await office.kit.app.enqueue("work")


async def _read(office: OfficeKit, after: int, batches: int) -> list[Event]:
    return await office.kit.app.store.read(lambda tx: events_after(tx, after, batches, queue_of_office(office.id)))


def _of(office: OfficeKit, events: list[Event]) -> list[Event]:
    return [event for event in events if event.queue == queue_of_office(office.id)]


async def test_reader_skips_events_of_other_queues(office: OfficeKit) -> None:
    await _others(office, 30)
    first = await office.one()
    await _others(office, 30)
    second = await office.one()
    await _fold(office)
    found = await _read(office, 0, 100)
    # The creation and the limits of its queue are among its events, too.
    assert {event.queue for event in found} == {queue_of_office(office.id)}
    assert [event.job_id for event in found if event.job_id] == [first.id, second.id]


async def test_unfolded_events_are_read_once(office: OfficeKit) -> None:
    made = [await office.one()]
    await _fold(office)
    for _ in range(3):
        await _others(office, 2)
        made.append(await office.one())
    assert [event.job_id for event in await office.events()] == [job.id for job in made]
    await _fold(office)
    assert [event.job_id for event in await office.events()] == [job.id for job in made]


@pytest.mark.parametrize("folded", [True, False])
async def test_reader_resumes_from_every_id_with_any_page_size(office: OfficeKit, folded: bool) -> None:
    """Also within a batch, and from an id that is another's."""
    other = await office.offices.create(name="other", sessions={"default": "work"})
    for count in (1, 5, 2):
        await office.make(*[{}] * count)
        await office.offices.create_jobs(other.id, jobs=[{}] * count)
    await office.kit.run_all()
    await (_fold(office) if folded else office.kit.app.store.number_events())
    events = _of(office, await office.kit.app.store.read(lambda tx: events_after(tx, 0, 1_000)))
    assert len(events) > 8 * 3
    last = (await office.kit.app.store.read(lambda tx: events_after(tx, 0, 1_000)))[-1].id
    for after in range(last + 1):
        for batches in (1, 3, 1_000):
            found, at = [], after
            while page := await _read(office, at, batches):
                assert page[0].id > at
                found += _of(office, page)
                at = page[-1].id
            assert found == [event for event in events if event.id > after]


async def test_index_contains_every_event_of_the_office(office: OfficeKit) -> None:
    """Including events that change no count, such as a passed deadline, and events of jobs that wait."""
    await office.one(handler="stubborn", max_retries=1, timeout_ms=10_000)
    await office.kit.start_ready()
    await office.kit.advance(11)  # The passed deadline is an event of its own, while its work does not end.
    office.gates.stop.set()
    await office.kit.settle()
    waiting = await office.one(handler="hold")
    await office.offices.cancel(office.id, waiting.id)
    before = await office.events()
    assert {"job_timeout", "job_retrying", "job_cancelled"} <= {event.type.value for event in before}
    await _fold(office)
    assert await office.events() == before
    kept = await office.kit.app.store.read(lambda tx: events_after(tx, 0, 1_000))
    found = await _read(office, 0, 1_000)
    assert _of(office, found) == _of(office, kept)


async def test_the_index_goes_with_the_events(office: OfficeKit) -> None:
    await office.one()
    await office.kit.run_all()
    await _fold(office)
    store = office.kit.app.store
    assert await run_sql(store, _INDEX)
    await office.kit.advance(office.kit.app.settings.retention + 1)
    while await store.prune(1_000_000, 500):
        pass
    assert not await run_sql(store, _INDEX)  # Events of the pruning itself are new, and not folded yet.
    assert await office.events() == []
