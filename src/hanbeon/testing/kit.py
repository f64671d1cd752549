"""An App under test: nothing runs in the background, and time passes only when the test advances it."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hanbeon.app import App
from hanbeon.clock import MICROS, micros
from hanbeon.domain.lifecycle import TERMINAL, State
from hanbeon.domain.retry import FailureType
from hanbeon.engine.worker import Worker
from hanbeon.errors import AppNotOpen, InvalidInput
from hanbeon.executors.executor import StopCause
from hanbeon.job import Job
from hanbeon.rule import Rule
from hanbeon.settings import Settings
from hanbeon.store.database.postgres import PostgresDatabase
from hanbeon.store.operations.expire import expire
from hanbeon.store.operations.promote import next_due_us
from hanbeon.store.operations.queries import JobFilter, list_jobs
from hanbeon.tasks.request import JobRequest, instant_us
from hanbeon.tasks.task import Task
from hanbeon.testing.clock import START_US, VirtualClock
from hanbeon.testing.factory import Factory

_STOP_SECONDS = 0.2
_EXPIRED_AT_ONCE = 500
_PRUNE_BATCH = 1_000


class TestKit:
    """`async with TestKit(app) as kit:` opens an App on a clock that stands still, with a worker to be ticked.

    The App keeps its tasks and settings, but its database is a new SQLite file, or the one at `url`: then one of the
    test's own, since its clock is replaced for good.
    """

    __test__ = False  # Not a test itself, whatever pytest makes of its name.

    def __init__(
        self,
        app: App,
        url: str | None = None,
        *,
        start: dt.datetime | None = None,
        concurrency: int | None = None,
        limit: float = 30.0,
    ) -> None:
        """`start` is the time on the clock; `limit` how many real seconds to wait for bodies before giving up."""
        self.app = app
        self.clock = VirtualClock(START_US if start is None else instant_us(start, app.settings.zone_of_naive, "start"))
        self._url, self._concurrency, self._limit = url, concurrency, limit
        self._undo = contextlib.AsyncExitStack()
        self._worker: Worker | None = None
        self._factory = Factory(app)

    async def __aenter__(self) -> TestKit:
        if self.app.is_open:
            raise InvalidInput(Rule("app_open"), field="app")
        async with contextlib.AsyncExitStack() as undo:
            url = self._url or undo.enter_context(_new_file())
            undo.callback(self._restore, self.app.settings, self.app.clock)
            changes = {"database_url": url, "listen_url": None, "redis_url": None, "shutdown_grace": 0.0}
            self.app.settings = self.app.settings.model_copy(update=changes)
            self.app.clock = self.clock
            await self.app.migrate()
            await self.app.open()
            undo.push_async_callback(self.app.close)
            await self._reject_used_database()
            await self.clock.attach(self.app.store)
            self._worker = self.app.worker(concurrency=self._concurrency, name="test kit")
            undo.push_async_callback(self._stop)
            self._undo = undo.pop_all()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._undo.aclose()

    @property
    def worker(self) -> Worker:
        """The worker that is ticked; its loops can be stepped one by one."""
        if self._worker is None:
            raise AppNotOpen(Rule("kit_not_open"))
        return self._worker

    # Working

    async def tick(self) -> int:
        """One cycle: start what may start now and wait for all that runs; how many jobs ran."""
        await self.start_ready()
        running = len(self.worker.attempts)
        await self.settle()
        return running

    async def start_ready(self) -> list[Job[Any]]:
        """Start what may start now, without waiting for it: each body has run to its first wait."""
        before = {attempt.job.seq for attempt in self.worker.attempts}
        await self.worker.start_ready()
        return [self.app.job(attempt.job.id) for attempt in self.worker.attempts if attempt.job.seq not in before]

    async def settle(self) -> None:
        """Wait, in real time, until every started body has ended and the database knows how."""
        try:
            async with asyncio.timeout(self._limit):
                await self.worker.settle()
        except TimeoutError:
            running = ", ".join(f"{attempt.job.task} ({attempt.job.id})" for attempt in self.worker.attempts)
            raise AssertionError(
                f"still running after {self._limit:g} real seconds: {running}; set what they wait for, advance the "
                "clock past their timeout, or cancel them"
            ) from None

    async def run_all(self, limit: int = 1_000) -> int:
        """Run everything: tick, and jump to the next due moment, until nothing can run any more; how many ran.

        Retries and delays take no real time. What is paused, blocked or of a task not registered here stays.
        """
        ran = 0
        while True:
            ticked = await self.tick()
            ran += ticked
            if ran > limit:
                raise AssertionError(
                    f"{ran} runs are over the limit of {limit}, and there is more: {await self._unfinished()}; a task "
                    "that starts itself again never ends: use tick() and advance(), or raise the limit"
                )
            if not ticked:
                wait = await self._next_moment()
                if wait is None:
                    return ran
                await self.advance(wait)

    async def advance(self, seconds: float) -> None:
        """Let time pass. Running jobs behave as in production: leases are renewed, and deadlines stop work.

        Starts nothing: what has become due runs with the next tick. `clock.advance` is for an instance that is stuck.
        """
        while seconds > 0:
            step = seconds
            if len(self.worker.attempts):
                step = min(seconds, self.app.settings.heartbeat, await self.worker.guard.run_once())
            await self.clock.advance(step)
            seconds -= step
            await self._catch_up()

    async def prune(self) -> int:
        """Delete what is past its retention; ticks do not. How many rows."""
        store = self.app.store
        # Events go only when they have been counted, which ticks do not do either.
        while await store.number_events() or await store.fold():
            pass
        return await store.prune(micros(self.app.settings.retention), _PRUNE_BATCH)

    # Making

    async def make_job(
        self,
        task: Task[..., Any] | JobRequest[Any] | str = "example",
        args: Mapping[str, Any] | None = None,
        /,
        *,
        state: State | str = State.READY,
        result: Any = None,
        message: str = "made to fail",
        failure_type: str = FailureType.ERROR,
        progress: Any = None,
        **options: Any,
    ) -> Job[Any]:
        """Create a job in any state, with what that implies; the task need not be registered.

        A running one is held by an instance that has gone: it is recovered when its lease has passed.
        """
        return await self._factory.make(
            task,
            State(state),
            args,
            options,
            result=result,
            message=message,
            failure_type=failure_type,
            progress=progress,
        )

    # Inside

    async def _catch_up(self) -> None:
        store = self.app.store
        while await store.write(lambda tx: expire(tx, store.lanes, _EXPIRED_AT_ONCE)):
            pass
        attempts = self.worker.attempts
        if not len(attempts):
            return
        await self.worker.renew.run_once()
        await self.worker.write_logs()
        before = sum(attempt.stopping for attempt in attempts)
        await self.worker.guard.run_once()
        if sum(attempt.stopping for attempt in attempts) > before:
            # Work that obeys has stopped before more time passes; work that does not keeps its slot.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_STOP_SECONDS):
                    await self.worker.settle(stopping_only=True)

    async def _next_moment(self) -> float | None:
        """Seconds until a job is due, or the lease of an instance that has gone ends."""
        store = self.app.store
        due = await store.read(next_due_us)
        running = await store.read(lambda tx: list_jobs(tx, JobFilter(states=(State.RUNNING,))))
        waits = [job.locked_until - self.clock.now_us() for job in running if job.locked_until is not None]
        if due is not None:
            waits.append(due)
        return max(0, min(waits)) / MICROS if waits else None

    async def _unfinished(self) -> str:
        counts = await self.app.counts()
        return ", ".join(f"{count} {state}" for state, count in counts.items() if count and state not in TERMINAL)

    async def _reject_used_database(self) -> None:
        database = self.app.store.database
        if not isinstance(database, PostgresDatabase):
            return
        async with database.connection() as connection:
            used = await connection.fetchval(
                "SELECT to_regclass('hanbeon.test_clock') IS NULL AND EXISTS (SELECT FROM hanbeon.job)"
            )
        if used:
            raise InvalidInput(
                Rule("clock_of_others"),
                field="url",
            )

    async def _stop(self) -> None:
        worker = self.worker
        worker.attempts.stop_all(StopCause.SHUTDOWN)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_STOP_SECONDS):
                await worker.settle()
        await worker.stop()
        self._worker = None

    def _restore(self, settings: Settings, clock: Any) -> None:
        self.app.settings, self.app.clock = settings, clock


@contextlib.contextmanager
def _new_file() -> Any:
    with tempfile.TemporaryDirectory(prefix="hanbeon-test-", ignore_cleanup_errors=True) as folder:
        yield f"sqlite:///{Path(folder).resolve()}/jobs.db"
