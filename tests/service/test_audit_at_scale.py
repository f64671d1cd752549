"""Audits in bounded memory, of parts of a database, of one in use, and audits that are interrupted and resumed."""

from __future__ import annotations

import asyncio
import threading
import tracemalloc
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bench.history import write_history
from hanbeon.clock import SystemClock
from hanbeon.domain.audit.findings import Code
from hanbeon.domain.audit.sweep import INTERVAL_SIZE
from hanbeon.domain.job import NewJob
from hanbeon.domain.outcome import Raised, Returned
from hanbeon.errors import InvalidInput, NotFound
from hanbeon.service import auditor, work_file
from hanbeon.service.verify import render
from hanbeon.service.work_file import WorkFile
from hanbeon.store.backends import open_store
from hanbeon.store.database.sqlite import SqliteDatabase
from hanbeon.store.operations import audit
from hanbeon.store.operations.audit import Window
from hanbeon.store.store import Store
from hanbeon.surfaces.store_parts import add_surfaces, migrate
from hanbeon.surfaces.verify import verify
from hanbeon.testing.clock import VirtualClock
from tests.service.lives import Lives, live
from tests.service.raw_sql import end_attempt, run_sql, seq_of


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages, ranges, parts and runs so small that a few hundred jobs take many of each."""
    monkeypatch.setattr(auditor, "_ROWS_A_PART", 200)
    monkeypatch.setattr(auditor, "_INTERVALS_A_RUN", 50)
    monkeypatch.setattr(auditor, "_READ_AT_ONCE", 3 * INTERVAL_SIZE)
    monkeypatch.setattr(work_file, "_BUFFERED_BYTES", 2_000)
    for name, size in (("_BATCHES_A_PAGE", 2), ("_JOBS_A_PAGE", 20), ("_JOBS_A_RANGE", 70), ("_ROWS_A_PAGE", 7)):
        monkeypatch.setattr(audit, name, size)


@pytest.mark.usefixtures("small_parts")
async def test_parts_neither_hide_nor_double_anything(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.history._AT_ONCE", 40)
    await store.change_queue("limited", {"max_concurrent": 1})
    events = await write_history(store, 3_000)
    report = await verify(store)
    assert (report.findings, report.events) == ((), events + 2), render(report)
    await run_sql(store, "UPDATE hanbeon.job SET state = 'failed' WHERE seq % 10 = 0")
    changed = {row["id"] for row in await run_sql(store, "SELECT j.id FROM hanbeon.job AS j WHERE j.seq % 10 = 0")}
    found = [each.job_id for each in (await verify(store)).findings if each.code is Code.STATE_MISMATCH]
    assert (len(found), set(found)) == (len(changed), {str(each) for each in changed})


async def test_memory_does_not_grow_with_the_history(
    database_url: str, monkeypatch: pytest.MonkeyPatch, small_parts: None
) -> None:
    """Ten times the history takes little more. Traces of all jobs, or records that are not written, take ten times."""
    monkeypatch.setattr("bench.history._AT_ONCE", 40)
    monkeypatch.setattr(auditor, "_ROWS_A_PART", 1_000)
    monkeypatch.setattr(work_file, "_BUFFERED_BYTES", 20_000)
    monkeypatch.setattr(audit, "_JOBS_A_PAGE", 100)
    store, peaks, audited = add_surfaces(open_store(database_url, SystemClock())), [], 0
    await store.open()
    try:
        for events in (2_000, 20_000):
            await write_history(store, events)
            await verify(store)  # What is loaded once.
            tracemalloc.start()
            report = await verify(store)
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
            assert report.findings == ()
            audited = report.events
    finally:
        await store.close()
    assert audited > 20_000
    assert peaks[1] < 3 * peaks[0]


async def test_findings_are_bounded_and_counted(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hanbeon.domain.audit.findings._KEPT", 5)
    await store.enqueue([NewJob(id=f"00000000-0000-0000-0000-{n:012}", task="t") for n in range(1, 13)])
    await run_sql(store, "DELETE FROM hanbeon.job")
    report = await verify(store)
    lost = [each for each in report.findings if each.code is Code.LOST_JOB]
    assert (len(lost), report.omitted[Code.LOST_JOB]) == (5, 19 if store.database.dialect.name == "postgres" else 7)
    text = render(report, most=3)
    assert f"error lost_job ({5 + report.omitted[Code.LOST_JOB]})" in text
    assert f"… and {2 + report.omitted[Code.LOST_JOB]} more" in text


# Interrupted


class _Killed(Exception):
    """The process ends here."""


class _Step:
    """Ends an audit at its nth sign of life, as if the process were killed, after it has saved what it has done."""

    def __init__(self, last: int) -> None:
        self.last, self.count = last, 0

    def __call__(self, step: str, share: float) -> None:
        self.count += 1
        if self.count == self.last:
            raise _Killed


@pytest.mark.usefixtures("small_parts")
async def test_an_audit_goes_on_wherever_it_was_killed(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bench.history._AT_ONCE", 40)
    monkeypatch.setattr(auditor, "_SAVE_SECONDS", -1.0)
    await write_history(store, 2_000)
    lives = await live(store)
    # In every part of the work file: one that is compared twice is noticed.
    await run_sql(store, "UPDATE hanbeon.job SET state = 'failed' WHERE state = 'succeeded' AND seq % 5 = 0")
    await end_attempt(store, lives["first"], 1)
    await run_sql(store, "UPDATE hanbeon.tally SET jobs = jobs + 1 WHERE state = 'succeeded'")
    whole = await verify(store)
    codes = Counter(each.invariant for each in whole.findings)
    assert len(codes) >= 3
    counter = _Step(0)
    await verify(store, watch=counter)
    report, again = whole, counter
    for last in range(1, counter.count + 1, max(1, counter.count // 25)):
        file = tmp_path / f"work{last}"
        with pytest.raises(_Killed):
            await verify(store, resume=file, watch=_Step(last))
        again = _Step(0)
        report = await verify(store, resume=file, watch=again)
        assert Counter(each.invariant for each in report.findings) == codes, last
        assert (report.jobs, report.attempts, report.events) == (whole.jobs, whole.attempts, whole.events), last
        assert report.counts == whole.counts
        assert not file.exists(), "nothing is left to resume"
    assert again.count < counter.count / 2, "most was done before"
    assert len(report.read_at) == 2
    assert "resumed: what was compared before is as of its own view" in render(report)


@pytest.mark.usefixtures("small_parts")
async def test_a_database_may_change_before_an_audit_goes_on(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows are compared with events of one view: what moved meanwhile is no finding."""
    monkeypatch.setattr("bench.history._AT_ONCE", 40)
    monkeypatch.setattr(auditor, "_SAVE_SECONDS", -1.0)
    lives = Lives(store)
    counter = _Step(0)
    for n, last in enumerate((2, 20, 60, 70, 75, 80)):
        await lives.enqueue(lives.new(f"early{n}"), lives.new(f"late{n}"))
        await write_history(store, 400)
        file = tmp_path / "work"
        with pytest.raises(_Killed):
            await verify(store, resume=file, watch=_Step(min(last, counter.count) or last))
        await lives.run(f"early{n}", Raised("once"), Returned())
        await lives.enqueue(lives.new(f"new{n}"))
        report = await verify(store, resume=file)
        assert report.findings == (), render(report)
        counter = _Step(0)
        await verify(store, watch=counter)


async def test_a_work_file_is_of_one_database_and_one_window(store: Store, tmp_path: Path) -> None:
    await live(store)
    file = tmp_path / "work"

    async def refused(window: Window = audit.WHOLE) -> str:
        with pytest.raises(InvalidInput) as caught:
            await verify(store, window=window, resume=file)
        assert caught.value.field == "resume"
        assert caught.value.rule is not None
        return caught.value.rule.code

    with pytest.raises(_Killed):
        await verify(store, resume=file, watch=_AtTables())
    assert await refused(Window(queue="graph")) == "work_of_other_window"
    known, store.database.incarnation = store.database.incarnation, "another"
    assert await refused() == "work_of_other_database"
    store.database.incarnation = known
    file.write_text("dear diary")
    assert await refused() == "no_work_file"
    assert file.read_text() == "dear diary"
    held = WorkFile.open(tmp_path / "held")
    file = tmp_path / "held"
    assert await refused() == "work_file_in_use"
    held.close()
    file = tmp_path / "nowhere" / "work"
    assert await refused() == "work_file_unusable"


class _AtTables:
    """Ends an audit when all has been compared."""

    def __call__(self, step: str, share: float) -> None:
        if step == "tables":
            raise _Killed


def test_a_work_file_keeps_what_came_before_its_last_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "work"
    file = WorkFile.open(path)
    file.add(0, 1, b"one")
    file.add(0, 2, b"other")
    file.save(b"first")
    size = path.stat().st_size
    file.add(0, 1, b"two")
    file.save(b"second")
    file.add(0, 1, b"three")
    file.close()
    bytes_of_file = path.read_bytes()

    def found(contents: bytes) -> tuple[bytes | None, bytes, bytes]:
        path.write_bytes(contents)
        opened = WorkFile.open(path)
        try:
            return opened.checkpoint, b"".join(opened.read(0, 1)), b"".join(opened.read(0, 2))
        finally:
            opened.close()

    assert found(bytes_of_file) == (b"second", b"onetwo", b"other")
    for end in range(size, len(bytes_of_file)):
        checkpoint, one, other = found(bytes_of_file[:end])
        assert (checkpoint, one, other) in ((b"first", b"one", b"other"), (b"second", b"onetwo", b"other"))
        # What was cut off is not in the way of what follows.
        file = WorkFile.open(path)
        file.add(0, 1, b"again")
        file.save(b"third")
        file.close()
        assert found(path.read_bytes()) == (b"third", one + b"again", other)
    assert found(bytes_of_file[: size + 5]) == (b"first", b"one", b"other")
    assert found(bytes_of_file[:10]) == (None, b"", b"")


async def test_cancelling_an_audit_ends_it_at_the_next_page(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that went on would hold the view of the database, and the process."""
    monkeypatch.setattr("bench.history._AT_ONCE", 40)
    monkeypatch.setattr(audit, "_JOBS_A_PAGE", 5)
    await write_history(store, 2_000)
    loop, begun, released = asyncio.get_running_loop(), asyncio.Event(), threading.Event()
    shares = []

    def watch(step: str, share: float) -> None:
        shares.append(share)
        loop.call_soon_threadsafe(begun.set)
        if threading.current_thread() is not threading.main_thread():
            released.wait(60)  # SQLite's thread would otherwise be done before the cancellation.

    auditing = asyncio.ensure_future(verify(store, watch=watch))
    await begun.wait()
    auditing.cancel()
    for _ in range(20):
        await asyncio.sleep(0)
    released.set()
    with pytest.raises(asyncio.CancelledError):
        await auditing
    assert shares[-1] < 1
    assert (await verify(store)).findings == ()


# Parts of a database


@pytest.fixture
async def timed(database_url: str) -> AsyncIterator[tuple[Store, VirtualClock]]:
    await migrate(database_url)
    clock = VirtualClock()
    store = add_surfaces(open_store(database_url, clock))
    await store.open()
    try:
        await clock.attach(store)
        yield store, clock
    finally:
        await store.close()


async def _days(store: Store, clock: VirtualClock) -> list[Lives]:
    """Three days, an hour of work on each."""
    days = []
    for life in (live, _one_day, _one_day):
        days.append(await life(store, clock))
        await clock.advance(86_400)
    return days


async def _one_day(store: Store, clock: VirtualClock) -> Lives:
    lives = Lives(store, clock=clock)
    await lives.enqueue(*(lives.new(f"{name}", queue="daily") for name in ("good", "bad", "waits")))
    await lives.run("good", Raised("once"), Returned())
    await lives.run("bad", Raised("no", permanent=True))
    return lives


async def test_a_queue_is_audited_alone(store: Store) -> None:
    lives = await live(store)
    whole = await verify(store)
    for queue in ("graph", "default", "narrow", "wired"):
        report = await verify(store, window=Window(queue=queue))
        assert report.findings == (), render(report)
        assert 0 < report.jobs < whole.jobs
        assert 0 < report.events < whole.events
    await run_sql(store, "UPDATE hanbeon.job SET state = 'failed' WHERE id = $1", lives["retried"])
    found = {each.code for each in (await verify(store, window=Window(queue="default"))).findings}
    assert found == {Code.STATE_MISMATCH, Code.TALLY_MISMATCH}
    report = await verify(store, window=Window(queue="graph"))
    assert report.findings == ()
    assert Code.BROKEN_DISPATCH in report.unchecked
    assert "of queue 'graph'" in render(report)
    assert "not checked in a part: " in render(report)
    with pytest.raises(NotFound, match="there is no queue 'nowhere'"):
        await verify(store, window=Window(queue="nowhere"))


async def test_a_time_is_audited_alone(timed: tuple[Store, VirtualClock]) -> None:
    store, clock = timed
    began = clock.now_us()
    _, second, third = await _days(store, clock)
    day = 86_400 * 1_000_000
    windows = [Window(since=began + n * day // 4, until=None) for n in range(13)]
    windows += [
        Window(since=began + n * day // 4, until=began + m * day // 4) for n in range(12) for m in range(n + 1, 13)
    ]
    windows += [Window(until=began + n * day // 4) for n in range(13)]
    warnings = {Code.STUCK_JOB}
    for window in windows:
        report = await verify(store, window=window)
        assert {each.code for each in report.findings} <= warnings, f"{window}: {render(report)}"
    await run_sql(store, "UPDATE hanbeon.job SET state = 'cancelled' WHERE id = $1", second["good"])
    await run_sql(store, "DELETE FROM hanbeon.past_attempt WHERE job = $1", await seq_of(store, third["good"]))

    async def found(window: Window) -> set[str | None]:
        report = await verify(store, window=window)
        return {each.job_id for each in report.findings if each.code not in warnings}

    assert await found(Window(since=began + day // 2)) == {second["good"], third["good"]}
    assert await found(Window(since=began + 3 * day // 2)) == {third["good"]}
    assert await found(Window(since=began + day // 2, until=began + 3 * day // 2)) == {second["good"]}
    assert await found(Window(until=began + day // 2)) == set()


# A database in use


async def test_verify_writes_nothing(store: Store) -> None:
    lives = await live(store)
    await lives.enqueue(lives.new("unnumbered"))
    before = (await run_sql(store, "SELECT last_id FROM hanbeon.event_counter"))[0]["last_id"]
    report = await verify(store)
    assert (report.findings, report.last_event) == ((), before)
    assert (await run_sql(store, "SELECT last_id FROM hanbeon.event_counter"))[0]["last_id"] == before


async def test_a_copy_is_verified_alone_while_the_original_is_in_use(store: Store, tmp_path: Path) -> None:
    if not isinstance(store.database, SqliteDatabase):
        pytest.skip("a copy of PostgreSQL's is a database as any other")
    from hanbeon.service.backup import back_up

    await live(store)
    copy = tmp_path / "copy.db"
    await back_up(f"sqlite:///{store.database.path}", copy, force=False)
    await Lives(store).enqueue(Lives(store).new("later"))
    copied = add_surfaces(open_store(f"sqlite:///{copy}", SystemClock()))
    await copied.open()
    try:
        report = await verify(copied)
    finally:
        await copied.close()
    assert report.findings == ()
    assert report.jobs == (await verify(store)).jobs - 1
