"""Events are numbered once, in commit order, and can be read from any position."""

from functools import partial

from hanbeon.domain.event_groups import decode_events
from hanbeon.domain.outcome import Returned
from hanbeon.store.operations import events as event_rows
from hanbeon.store.operations.complete import CompletionReport
from hanbeon.store.operations.events import events_after
from hanbeon.store.operations.lease import renew
from tests.store.world import World, new_job


async def test_numbers_have_no_gap_and_a_batch_is_read_from_within(world: World) -> None:
    jobs = [new_job() for _ in range(5)]
    await world.enqueue(*jobs[:3])
    await world.enqueue(*jobs[3:])
    events = await world.events()
    assert [(event.id, event.job_id) for event in events] == [(n + 1, job.id) for n, job in enumerate(jobs)]
    assert await world.store.read(event_rows.last_event_id) == 5
    for after in range(7):
        assert [event.id for event in await world.store.read(partial(events_after, after=after))] == list(
            range(after + 1, 6)
        )


async def test_readers_get_whole_batches_and_miss_nothing(world: World) -> None:
    for size in (1, 4, 2, 3):
        await world.enqueue(*[new_job() for _ in range(size)])
    await world.events()
    for batches in (1, 2, 3):
        seen, last = [], 0
        while events := await world.store.read(partial(events_after, after=last, batches=batches)):
            last = events[-1].id
            seen += [event.id for event in events]
        assert seen == list(range(1, 11))


async def test_a_transaction_tells_all_in_order(world: World) -> None:
    """In one batch, or in two if its successes are a batch."""
    first = new_job()
    await world.enqueue(first, *[new_job(depends_on=(first.id,)) for _ in range(3)])
    await world.finish(first.id)
    await world.events()
    rows = await world.sql("SELECT at, count, body FROM hanbeon.event_batch ORDER BY first_id")
    assert [row["count"] for row in rows] in ([4, 1, 4], [4, 1, 1, 3])
    events = [event for row in rows for event in decode_events(row["body"], row["at"])]
    assert [event.type for event in events] == [
        *("enqueued", "scheduled", "scheduled", "scheduled"),
        "claimed",
        *("succeeded", "promoted", "promoted", "promoted"),
    ]


async def test_no_change_emits_no_event(world: World) -> None:
    held = await world.claim_this(await world.make())
    rows = await world.rows()
    assert await world.claim(10) == []
    await world.store.complete([CompletionReport(held.seq, held.fence + 1, Returned())])
    await world.store.complete([])
    await world.promote(10)
    await world.recover(10)
    await world.store.prune(10**12, 10)
    await world.store.write(lambda tx: renew(tx, [], 1))
    assert await world.rows() == rows
    assert await world.store.number_events() == 0


async def test_number_events_respects_its_limit(world: World) -> None:
    for _ in range(3):
        await world.script(
            "INSERT INTO hanbeon.event_batch (at, count, body) VALUES (1, 2, "
            '\'[{"type":"x","at":1,"queue":"q"},{"type":"y","at":1,"queue":"q"}]\')'
        )
    assert await world.store.number_events(2) == 2
    assert await world.store.read(event_rows.last_event_id) == 4
    assert await world.store.number_events(2) == 1
    assert await world.store.number_events(2) == 0
    assert [event.type for event in await world.store.read(lambda tx: events_after(tx, 0))] == [
        "x",
        "y",
    ] * 3
