"""Logs on their way to the database: together, within limits, and never in the way of an attempt's end."""

import asyncio
from collections.abc import Sequence
from typing import Any, cast

import pytest

from hanbeon import App, Context, State
from hanbeon.clock import SystemClock
from hanbeon.domain.log import LogLine, LogStream
from hanbeon.engine.attempt import Attempt
from hanbeon.engine.logs import AttemptLog, Logs
from hanbeon.errors import DatabaseUnavailable
from hanbeon.settings import load_settings
from hanbeon.store.operations import queries
from hanbeon.store.operations.lease import Lease
from hanbeon.store.operations.logs import LogWrite
from hanbeon.store.store import Store
from hanbeon.store.user_transaction import UserTransaction
from tests.databases.postgres import PostgresServer
from tests.engine.attempts import new_attempt

OUT = LogStream.STDOUT


class Rows:
    """Takes what is written, after what its script says: an error to raise, or the leases that are gone."""

    def __init__(self, *script: Exception | Sequence[int]) -> None:
        self.script = list(script)
        self.writes: list[list[LogWrite]] = []
        self.gate = asyncio.Event()
        self.gate.set()

    async def write_logs(self, writes: Sequence[LogWrite], transaction: UserTransaction | None = None) -> set[Lease]:
        self.writes.append(list(writes))
        await self.gate.wait()
        step = self.script.pop(0) if self.script else ()
        if isinstance(step, Exception):
            raise step
        return {write.lease for write in writes if write.lease.seq not in step}

    @property
    def written(self) -> list[list[int]]:
        return [[write.lease.seq for write in batch] for batch in self.writes]


class World:
    def __init__(self, *script: Exception | Sequence[int], **settings: Any) -> None:
        self.rows = Rows(*script)
        self.woken = 0
        self.logs = Logs(
            cast(Store, self.rows), load_settings(**{"lease": 0.9} | settings), SystemClock(), wake=self._wake
        )
        self.logs.attach(asyncio.get_running_loop())

    def _wake(self) -> None:
        self.woken += 1

    def attempt(self, seq: int = 1) -> Attempt:
        attempt = new_attempt(seq=seq)
        attempt.claim.logs = self.logs
        return attempt

    def said(self, seq: int = 1, data: bytes = b"words\n") -> AttemptLog:
        attempt = self.attempt(seq)
        attempt.log(OUT, data)
        assert attempt.printed is not None
        return attempt.printed


async def test_an_attempt_that_prints_nothing_has_no_log() -> None:
    attempt = World().attempt()
    assert attempt.printed is None
    assert attempt.is_plain
    attempt.log(OUT, b"x\n")
    assert not attempt.is_plain


async def test_logs_of_many_attempts_are_written_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_000.0
    monkeypatch.setattr("hanbeon.engine.logs._now", lambda: now)
    world = World()
    logs = [world.said(seq) for seq in (1, 2, 3)]
    await asyncio.sleep(0)
    assert 0 < await world.logs.run_once() <= 0.05, "a moment to gather"
    assert world.rows.written == []
    now += 0.06
    pause = await world.logs.run_once()
    assert world.rows.written == [[1, 2, 3]]
    assert pause > 1_000, "asleep until something is printed"
    logs[0].attempt.log(OUT, b"more\n")  # type: ignore[attr-defined]
    await asyncio.sleep(0)
    assert 0.1 < await world.logs.run_once() <= 0.25
    assert world.rows.written == [[1, 2, 3]]


async def test_end_of_an_attempt_writes_its_log_at_once() -> None:
    world = World()
    world.rows.gate.clear()
    logs = [world.said(seq, b"no end") for seq in (1, 2, 3)]
    ending = [asyncio.create_task(log.write_rest(None)) for log in logs]
    await asyncio.sleep(0.01)
    world.rows.gate.set()
    await asyncio.gather(*ending)
    assert world.rows.written in ([[1, 2, 3]], [[1], [2, 3]])
    assert all(log.is_clean for log in logs)


async def test_unwritten_lines_are_written_again_with_the_next() -> None:
    world = World(DatabaseUnavailable("away"))
    log = world.said()
    with pytest.raises(DatabaseUnavailable):
        await log.write_rest(None)
    assert not log.is_clean
    await log.write_rest(None)
    assert world.rows.writes[0] == world.rows.writes[1]
    assert log.is_clean


async def test_unwritable_log_is_given_up_before_the_lease(caplog: pytest.LogCaptureFixture) -> None:
    world = World(*[DatabaseUnavailable("away")] * 1_000)
    log = world.said()
    loop = asyncio.get_running_loop()
    began = loop.time()
    while not log.is_clean:
        try:
            await log.write_rest(None)
        except DatabaseUnavailable:
            await asyncio.sleep(0.01)
    assert 0.25 < loop.time() - began < 30, "a third of the lease"
    assert "log_lost" in caplog.text


async def test_a_database_that_hangs_is_not_waited_for_longer(caplog: pytest.LogCaptureFixture) -> None:
    world = World()
    world.rows.gate.clear()
    log = world.said()
    loop = asyncio.get_running_loop()
    began = loop.time()
    await log.write_rest(None)
    assert 0.25 < loop.time() - began < 30
    assert "log_lost" in caplog.text


async def test_loop_retries_lines_it_could_not_write(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_000.0
    monkeypatch.setattr("hanbeon.engine.logs._now", lambda: now)
    world = World(DatabaseUnavailable("away"))
    log = world.said()
    await asyncio.sleep(0)
    now += 0.06
    with pytest.raises(DatabaseUnavailable):
        await world.logs.run_once()
    await world.logs.run_once()
    assert world.rows.written == [[1], [1]]
    assert log.is_clean


async def test_a_refused_log_takes_nothing_more(caplog: pytest.LogCaptureFixture) -> None:
    world = World([2])
    kept, refused = world.said(1), world.said(2)
    await world.logs.write_now([kept, refused])
    assert "log_refused" in caplog.text
    for log in (kept, refused):
        log.attempt.log(OUT, b"more\n")  # type: ignore[attr-defined]
    await world.logs.write_now([kept, refused])
    assert world.rows.written == [[1, 2], [1]]


async def test_one_that_cannot_be_stored_keeps_no_other_from_it(caplog: pytest.LogCaptureFixture) -> None:
    world = World(ValueError("odd"), (), ValueError("odd"))
    logs = [world.said(seq) for seq in (1, 2)]
    await world.logs.write_now(logs)
    assert world.rows.written == [[1, 2], [1], [2]]
    assert "log_lost" in caplog.text
    assert all(log.is_clean for log in logs)


async def test_output_after_the_end_is_dropped() -> None:
    world = World()
    attempt = world.attempt()
    attempt.settling = True
    attempt.log(OUT, b"too late\n")
    assert attempt.printed is None
    log = world.said(2)
    world.logs.forget(log)
    log.take(OUT, b"too late\n")
    assert log.offer() is None


async def test_a_thread_that_talks_on_does_not_hold_the_end_up() -> None:
    world = World()
    world.rows.gate.clear()
    log = world.said(1, b"begun")
    ending = asyncio.create_task(log.write_rest(None))
    await asyncio.sleep(0)
    log.take(OUT, b"and on and on")
    world.rows.gate.set()
    await asyncio.wait_for(ending, 5)
    assert log.is_clean


async def test_batches_are_bounded() -> None:
    world = World()
    logs = [world.said(seq, b"x" * 79 + b"\n") for seq in range(1, 5)]
    for log in logs:
        log.take(OUT, (b"x" * 79 + b"\n") * 13_000)
    await world.logs.write_now(logs)
    assert len(world.rows.written) > 1
    assert sorted(seq for batch in world.rows.written for seq in batch) == [1, 2, 3, 4]


async def test_lines_show_within_a_second_of_being_printed(app: App) -> None:
    go = asyncio.Event()

    @app.task
    async def work(ctx: Context) -> None:
        ctx.log("here I am")
        await go.wait()

    async with app.worker():
        job = await app.enqueue(work)
        async with asyncio.timeout(60):
            while not (page := await job.log()).entries:  # noqa: ASYNC110 - lines are no events
                await asyncio.sleep(0.02)
        assert await job.state() is State.RUNNING
        (entry,) = page.entries
        assert isinstance(entry, LogLine)
        now = await app.store.read(queries.now_us)
        assert 0 <= now - entry.at < 60_000_000
        go.set()
        await job.result(120)


async def test_a_log_outlasts_an_outage_at_the_end_of_its_attempt(private_postgres: PostgresServer) -> None:
    url = private_postgres.create_database()
    app = App(url, lease=600, shutdown_grace=0.2)
    await app.migrate()
    go = asyncio.Event()

    @app.task
    async def work(ctx: Context) -> str:
        ctx.log("before")
        await go.wait()
        ctx.log("during the outage")
        return "done"

    async with app, app.worker():
        job = await app.enqueue(work)
        async with asyncio.timeout(120):
            while not (await job.log()).entries:  # noqa: ASYNC110 - lines are no events
                await asyncio.sleep(0.02)
        await asyncio.to_thread(private_postgres.down)
        go.set()
        await asyncio.sleep(0.3)  # It has returned, and tries to write.
        await asyncio.to_thread(private_postgres.up)
        record = await job.wait(300)
        assert record.state is State.SUCCEEDED
        assert record.fence == 1
        texts = [entry.text for entry in (await job.log()).entries if isinstance(entry, LogLine)]
    assert texts == ["before", "during the outage"]
