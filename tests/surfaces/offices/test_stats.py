"""The stats of an office, compared with a count of its jobs."""

import msgspec

from tests.surfaces.offices.office_kit import OfficeKit


async def _recounted(office: OfficeKit) -> dict[str, int]:
    counts = dict.fromkeys(("pending", "ready", "processing", "done", "failed", "cancelled"), 0)
    cursor = None
    while True:
        page = await office.offices.jobs(office.id, cursor=cursor, limit=50)
        for job in page.items:
            counts["processing" if job.status == "timeout" else job.status.value] += 1
        cursor = page.next_cursor
        if cursor is None:
            return counts


async def _check(office: OfficeKit) -> None:
    stats = msgspec.to_builtins(await office.offices.stats(office.id))
    assert stats.pop("office_id") == office.id
    stats.pop("avg_completion_time")
    assert stats == await _recounted(office)


async def test_the_numbers_are_those_of_a_recount_at_every_step(office: OfficeKit) -> None:
    await office.kit.app.enqueue("work")
    await _check(office)
    await office.make(
        *({"key": str(n), "depends_on": [str(n - 1)] if n % 4 else []} for n in range(60)),
        {"handler": "stubborn", "timeout_ms": 500, "urgent": True},
        {"handler": "fail", "max_retries": 0, "urgent": True},
    )
    await _check(office)
    await office.kit.start_ready()
    await office.kit.advance(1)
    await _check(office)
    await office.offices.cancel_all(office.id, statuses=["pending"])
    await _check(office)
    office.gates.stop.set()
    office.gates.hold.set()
    await office.kit.run_all()
    await _check(office)
    cancelled = await office.offices.jobs(office.id, status="cancelled", limit=1)
    await office.offices.retry(office.id, cancelled.items[0].id)
    await _check(office)
    await office.kit.app.store.number_events()
    await office.kit.app.store.fold()
    await _check(office)


async def test_the_mean_time_is_that_of_done_jobs_from_start_to_end(office: OfficeKit) -> None:
    assert (await office.offices.stats(office.id)).avg_completion_time == 0
    await office.make({"handler": "hold"}, {"handler": "hold", "timeout_ms": 1_000, "max_retries": 0})
    await office.kit.start_ready()
    await office.kit.advance(7.5)
    office.gates.hold.set()
    await office.kit.settle()
    stats = await office.offices.stats(office.id)
    assert (stats.done, stats.failed, stats.avg_completion_time) == (1, 1, 7_500)


async def test_an_office_knows_only_its_own_numbers(office: OfficeKit) -> None:
    await office.make({}, {})
    other = await office.offices.create(name="other")
    assert (await office.offices.stats(other.id)).ready == 0
    assert (await office.offices.stats(office.id)).ready == 2
