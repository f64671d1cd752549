"""The numbers of an office, held against a count of its jobs."""

import msgspec

from tests.surfaces.offices.office_kit import Desk


async def _recounted(desk: Desk) -> dict[str, int]:
    counts = dict.fromkeys(("pending", "ready", "processing", "done", "failed", "cancelled"), 0)
    cursor = None
    while True:
        page = await desk.offices.jobs(desk.id, cursor=cursor, limit=50)
        for job in page.items:
            counts["processing" if job.status == "timeout" else job.status.value] += 1
        cursor = page.next_cursor
        if cursor is None:
            return counts


async def _check(desk: Desk) -> None:
    stats = msgspec.to_builtins(await desk.offices.stats(desk.id))
    assert stats.pop("office_id") == desk.id
    stats.pop("avg_completion_time")
    assert stats == await _recounted(desk)


async def test_the_numbers_are_those_of_a_recount_at_every_step(desk: Desk) -> None:
    await desk.kit.app.enqueue("work")
    await _check(desk)
    await desk.make(
        *({"key": str(n), "depends_on": [str(n - 1)] if n % 4 else []} for n in range(60)),
        {"handler": "stubborn", "timeout_ms": 500, "urgent": True},
        {"handler": "fail", "max_retries": 0, "urgent": True},
    )
    await _check(desk)
    await desk.kit.start_ready()
    await desk.kit.advance(1)
    await _check(desk)
    await desk.offices.cancel_all(desk.id, {"statuses": ["pending"]})
    await _check(desk)
    desk.gates.stop.set()
    desk.gates.hold.set()
    await desk.kit.run_all()
    await _check(desk)
    cancelled = await desk.offices.jobs(desk.id, status="cancelled", limit=1)
    await desk.offices.retry(desk.id, cancelled.items[0].id)
    await _check(desk)
    await desk.kit.app.store.number_events()
    await desk.kit.app.store.fold()
    await _check(desk)


async def test_the_mean_time_is_that_of_done_jobs_from_start_to_end(desk: Desk) -> None:
    assert (await desk.offices.stats(desk.id)).avg_completion_time == 0
    await desk.make({"handler": "hold"}, {"handler": "hold", "timeout_ms": 1_000, "max_retries": 0})
    await desk.kit.start_ready()
    await desk.kit.advance(7.5)
    desk.gates.hold.set()
    await desk.kit.settle()
    stats = await desk.offices.stats(desk.id)
    assert (stats.done, stats.failed, stats.avg_completion_time) == (1, 1, 7_500)


async def test_an_office_knows_only_its_own_numbers(desk: Desk) -> None:
    await desk.make({}, {})
    other = await desk.offices.create({"name": "other"})
    assert (await desk.offices.stats(other.id)).ready == 0
    assert (await desk.offices.stats(desk.id)).ready == 2
