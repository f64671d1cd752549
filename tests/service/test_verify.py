"""`verify` finds nothing in a sound history, and each kind of unsoundness in a doctored one, on both databases."""

import asyncio
from datetime import timedelta, timezone

import pytest

from hanbeon.domain.audit.findings import Code, FindingCode, Severity
from hanbeon.domain.job import NewJob
from hanbeon.domain.lifecycle import Reason
from hanbeon.domain.outcome import Raised, Returned
from hanbeon.service.verify import VerifyReport, render
from hanbeon.store.backends import open_store
from hanbeon.store.operations.claim import ClaimRequest
from hanbeon.store.operations.complete import CompletionReport as Settlement
from hanbeon.store.operations.events import events_after
from hanbeon.store.operations.tallies import counts
from hanbeon.store.store import Store
from hanbeon.surfaces.store_parts import add_surfaces, migrate
from hanbeon.surfaces.verify import verify
from hanbeon.testing.clock import VirtualClock
from tests.clinic import Patient
from tests.service.doctorings import DOCTORINGS, LOG
from tests.service.lives import HOUR, NOW, SECOND, Lives, live
from tests.service.raw_sql import age_changes, fold, is_first_limit, run_sql, seq_of
from tests.store.world import new_id


def codes(report: VerifyReport) -> set[FindingCode]:
    return {finding.code for finding in report.findings}


# Sound histories


async def test_every_move_there_is_verifies_clean(store: Store) -> None:
    await live(store)
    report = await verify(store)
    assert report.findings == ()
    assert report.sound
    assert not report.pruned
    types = {event.type for event in await store.read(lambda tx: events_after(tx, 0, 10_000))}
    assert types >= set(Reason)
    assert report.jobs == sum((await store.read(lambda tx: counts(tx, None, store.unfolded))).values())
    assert (report.first_event, report.last_event) == (1, report.events)


async def test_logs_with_and_without_gaps_verify_clean(store: Store) -> None:
    lives = await live(store)
    seq = await seq_of(store, lives["retried"])
    for n, first_line in ((1, 1), (2, 3), (7, 900)):
        await run_sql(store, LOG, seq, 1, n, first_line)
    await run_sql(store, LOG, seq, 2, 1, 1)
    assert (await verify(store)).findings == ()


async def test_limits_held_for_long_verify_clean(store: Store) -> None:
    """Unlike above, no start is so soon after the first limit that it would not be held against it."""
    await live(store)
    await age_changes(store, "narrow", lambda event: HOUR if is_first_limit(event) else 0)
    assert (await verify(store)).findings == ()


async def test_an_empty_database_is_sound(store: Store) -> None:
    report = await verify(store)
    assert (report.sound, report.jobs, report.attempts, report.events) == (True, 0, 0, 0)
    assert render(report) == "sound: 0 jobs, 0 attempts, 0 events"


async def test_events_without_numbers_are_read_too(store: Store) -> None:
    await live(store)
    tail = (await run_sql(store, "SELECT max(seq) AS seq FROM hanbeon.event_batch"))[0]["seq"] - 5
    last = (await run_sql(store, "SELECT min(first_id) - 1 AS id FROM hanbeon.event_batch WHERE seq > $1", tail))[0][
        "id"
    ]
    await run_sql(store, "UPDATE hanbeon.event_batch SET first_id = NULL WHERE seq > $1", tail)
    await run_sql(store, "UPDATE hanbeon.event_counter SET last_id = $1", last)
    unnumbered = await verify(store)
    assert (unnumbered.findings, unnumbered.last_event) == ((), last)
    await store.number_events()
    numbered = await verify(store)
    assert (numbered.findings, numbered.events) == ((), unnumbered.events)
    assert numbered.last_event == numbered.events


async def prune_a_little(store: Store) -> int:
    """Events go only when they have been folded; what tells of the pruned jobs is one of them in the end."""
    await store.number_events()
    await store.fold()
    return await store.prune(0, 3)


async def test_a_history_that_is_pruned_bit_by_bit_stays_sound(store: Store) -> None:
    await live(store)
    reports = []
    while await prune_a_little(store):
        reports.append(await verify(store))
        assert reports[-1].findings == ()
        assert reports[-1].pruned
    assert len(reports) > 10
    assert reports[-1].jobs > 0
    assert "pruned" in render(reports[-1])


async def test_an_id_may_come_again_once_its_job_was_pruned(store: Store) -> None:
    lives = await live(store)
    retried = await seq_of(store, lives["retried"])
    await fold(store)
    await run_sql(store, "DELETE FROM hanbeon.event_batch WHERE first_id = 1")
    aged = "UPDATE hanbeon.job SET started_at = started_at - $1, finished_at = finished_at - $1 WHERE seq = $2"
    await run_sql(store, aged, 2 * HOUR, retried)
    assert await store.prune(HOUR, 10) == 1
    await store.enqueue([NewJob(id=lives["retried"], task="retried")])
    await lives.run("retried", Returned())
    assert (await verify(store)).findings == ()


async def test_events_of_a_queue_that_went_are_none_of_its_namesakes(store: Store) -> None:
    """The queue of a deleted office goes with its index, before its events do; the same office may be made again."""
    await live(store)
    await fold(store)
    await run_sql(store, "DELETE FROM hanbeon.queue_batch")
    assert codes(await verify(store)) == {Code.BROKEN_INDEX}
    await run_sql(store, "UPDATE hanbeon.queue SET created_at = hanbeon.now() WHERE name LIKE 'office:%'")
    assert (await verify(store)).findings == ()


async def test_limits_are_sound_while_the_clock_stands_still(database_url: str) -> None:
    """Whatever happens in one microsecond may have happened in the order that was allowed."""
    await migrate(database_url)
    clock = VirtualClock()
    store = add_surfaces(open_store(database_url, clock))
    await store.open()
    try:
        await clock.attach(store)
        lives = Lives(store)
        await store.change_queue("narrow", {"max_concurrent": 1})
        await clock.advance(10)
        names = ["a", "b", "c"]
        await lives.enqueue(*(lives.new(name, queue="narrow") for name in names))
        for name in names:
            await lives.run(name, Raised("once"), Returned())
        await store.change_queue("narrow", paused=True)
        assert (await verify(store)).findings == ()
        await clock.advance(10)
        assert (await verify(store)).findings == ()
    finally:
        await store.close()


async def test_a_live_database_is_read_as_of_one_instant(store: Store) -> None:
    await store.change_queue("busy", {"max_concurrent": 3})

    async def work(instance: int) -> None:
        for turn in range(15):
            first, second = new_id(), new_id()
            await store.enqueue(
                [
                    NewJob(id=first, task="t", queue="busy", policy=NOW),
                    NewJob(id=second, task="t", queue="busy", policy=NOW, depends_on=(first,)),
                ]
            )
            answer = await store.claim(ClaimRequest(instance, ["t"], want=3, lease_us=30 * SECOND))
            outcome = Raised("again") if turn % 3 == 0 else Returned()
            await store.complete([Settlement(job.seq, job.fence, outcome) for job in answer.jobs])

    async def audit() -> int:
        audits = 0
        while not workers.done():
            report = await verify(store)
            assert report.findings == (), render(report)
            audits += 1
        return audits

    workers = asyncio.gather(*(work(instance) for instance in range(1, 5)))
    audits, _ = await asyncio.gather(audit(), workers)
    assert audits > 1
    assert (await verify(store)).findings == ()


async def test_pages_neither_hide_nor_double_anything(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    lives = await live(store)
    whole = await verify(store)
    for size in ("_BATCHES_A_PAGE", "_JOBS_A_PAGE"):
        monkeypatch.setattr(f"hanbeon.store.operations.audit.{size}", 1)
    paged = await verify(store)
    assert (paged.findings, paged.jobs, paged.attempts, paged.events) == ((), whole.jobs, whole.attempts, whole.events)
    (doctoring,) = [each for each in DOCTORINGS if each.name == "a_batch_stands_twice"]
    await doctoring.doctor(Patient(store, VirtualClock(), lives.ids))
    assert codes(await verify(store)) == {doctoring.invariant.code, *doctoring.also}


# Rendering


async def test_report_shows_rows_and_instants_and_counts_omissions(store: Store) -> None:
    jobs = [NewJob(id=new_id(), task="t", delay_us=HOUR) for _ in range(3)]
    await store.enqueue(jobs)
    await run_sql(store, "UPDATE hanbeon.job SET run_at = $1", 1_500_000)
    report = await verify(store)
    assert [finding.severity for finding in report.findings] == [Severity.WARNING] * 3
    text = render(report, zone=timezone(timedelta(hours=9)), most=2)
    assert text.startswith("sound: 3 warnings in 3 jobs, 0 attempts, 3 events\n\nwarning stuck_job (3): ")
    assert "run_at=1970-01-01T09:00:01.500000+09:00" in text
    assert text.endswith("… and 1 more")
    assert "more" not in render(report, most=None).splitlines()[-1]
