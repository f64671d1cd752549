"""`hanbeon prune`: counts, asks, and deletes exactly what was counted."""

import datetime as dt

import pytest

from hanbeon import App
from hanbeon.errors import JobNotFound
from hanbeon.surfaces.offices.queue import queue_of_office
from hanbeon.testing import TestKit
from tests.cli.hanbeon import call
from tests.surfaces.offices.office_kit import OfficeKit, add_tasks

_DAY = 86_400.0


async def test_prune_counts_old_data_and_then_deletes_it(kit_url: str) -> None:
    # The command uses the real clock, since SQLite takes it from the host.
    start = dt.datetime.now(dt.UTC) - dt.timedelta(days=31)
    async with TestKit(App(), kit_url, start=start) as kit:
        await _count_and_delete(kit, kit_url)


async def _count_and_delete(kit: TestKit, kit_url: str) -> None:
    old = await kit.make_job(state="succeeded")
    needed = await kit.make_job(state="failed")
    await kit.make_job(state="pending", after=[needed])
    await kit.clock.advance(31 * _DAY)
    young = await kit.make_job(state="succeeded")

    counted = (await call("prune", "--older-than", "30d", "--dry-run", "--json", "--database", kit_url)).document
    assert (counted["dry_run"], counted["jobs"], counted["instances"]) == (True, 1, 1)
    assert counted["events"] > 0
    assert (await call("prune", "--dry-run", "--json", "--database", kit_url)).document == counted, (
        "retention is 30 days"
    )

    answer = await call("prune", "--older-than", "30d", "--database", kit_url)
    assert (answer.code, answer.out) == (2, "")
    assert "stdin is not a terminal; pass --yes to confirm" in answer.err
    assert len(await kit.app.jobs()) == 4

    answer = await call("prune", "--older-than", "30d", "--yes", "--database", kit_url)
    assert answer.lines == [
        f"deleted 1 jobs, {counted['events']} events, 0 fires, 0 chain runs, 0 replays, 1 instances and 0 queues"
    ]
    with pytest.raises(JobNotFound):
        await old.record()
    assert len(await kit.app.jobs()) == 3
    assert await young.state()
    left = await call("prune", "--older-than", "30d", "--database", kit_url)
    assert left.lines == ["deleted 0 jobs, 0 events, 0 fires, 0 chain runs, 0 replays, 0 instances and 0 queues"], (
        "there is nothing to ask about"
    )


async def test_prune_deletes_the_queue_of_a_deleted_office(kit_url: str) -> None:
    start = dt.datetime.now(dt.UTC) - dt.timedelta(days=31)
    async with TestKit(App(), kit_url, start=start) as kit:
        office = OfficeKit(kit, add_tasks(kit.app))
        await office.open()
        await office.one()
        await kit.run_all()
        await office.offices.delete(office.id)
        await kit.clock.advance(31 * _DAY)

        counted = (await call("prune", "--dry-run", "--json", "--database", kit_url)).document
        assert (counted["jobs"], counted["queues"]) == (1, 1)
        assert [queue.name for queue in await kit.app.queues()] == [queue_of_office(office.id)]
        answer = await call("prune", "--yes", "--database", kit_url)
        assert answer.lines[0].endswith("and 1 queues")
        assert await kit.app.queues() == []


@pytest.mark.parametrize(
    ("span", "words"),
    [
        ("soon", "must be a duration"),
        ("1s", "must be at least a lease, 30s"),
        ("-1d", "must be a duration"),
        ("99999999d", "a hundred years"),
    ],
)
async def test_bad_input(sqlite_url: str, span: str, words: str) -> None:
    await call("migrate", "--database", sqlite_url)
    answer = await call("prune", "--older-than", span, "--yes", "--database", sqlite_url)
    assert (answer.code, answer.out) == (2, "")
    assert words in answer.err
