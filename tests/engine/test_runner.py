"""From a claim to its acknowledged end: the outcome written for every way in which a body can end."""

import asyncio
from collections.abc import Sequence
from typing import Any, cast

import pytest

from hanbeon import App, Context, PermanentError, State, TaskError
from hanbeon.domain.lifecycle import AttemptStatus, Reason
from hanbeon.domain.outcome import HandedBack, Outcome, PutOff, Raised, Returned, TimedOut
from hanbeon.engine.attempt import Attempt
from hanbeon.engine.completion import CompletionBuffer
from hanbeon.engine.runner import Runner, _classify
from hanbeon.errors import DatabaseUnavailable
from hanbeon.executors.executor import StopCause
from hanbeon.store.operations.complete import Completed, CompletionReport
from hanbeon.store.store import Store
from hanbeon.tasks.task import Task
from hanbeon.testing import TestKit, VirtualClock
from tests.engine.attempts import LEASE, HandExecutor, NoBatches, new_attempt

STOPPED = None
RETURNED, PUT_OFF = Returned('"x"'), PutOff(5)
ERROR, PERMANENT, OWN = Raised("x"), Raised("x", permanent=True), Raised("x", "git_conflict")
TIMED_OUT, HANDED_BACK, NOTHING = TimedOut(), HandedBack(), None

CLASSIFIED: dict[StopCause | None, dict[Outcome | None, Outcome | None]] = {
    None: {each: each for each in (RETURNED, PUT_OFF, ERROR, PERMANENT, OWN)},
    StopCause.DEADLINE: dict.fromkeys((STOPPED, RETURNED, PUT_OFF, ERROR, PERMANENT, OWN), TIMED_OUT),
    StopCause.LEASE_LOST: dict.fromkeys((STOPPED, RETURNED, PUT_OFF, ERROR, PERMANENT, OWN), NOTHING),
    # What it returned counts; an error was the interruption, unless it says more than that.
    StopCause.SHUTDOWN: {
        STOPPED: HANDED_BACK,
        ERROR: HANDED_BACK,
        **{each: each for each in (RETURNED, PUT_OFF, PERMANENT, OWN)},
    },
    # The database knows that it was cancelled, and ends it so whatever the outcome.
    StopCause.CANCELLED: {STOPPED: HANDED_BACK, **{each: each for each in (RETURNED, PUT_OFF, ERROR, PERMANENT, OWN)}},
}
CASES = [(cause, outcome, written) for cause, rows in CLASSIFIED.items() for outcome, written in rows.items()]


@pytest.mark.parametrize(("cause", "outcome", "written"), CASES)
async def test_outcome_written_to_the_database(
    cause: StopCause | None, outcome: Outcome | None, written: Outcome | None
) -> None:
    attempt = new_attempt()
    if cause is not None:
        attempt.stop(cause)
    assert _classify(attempt, outcome) == written


def test_every_cause_has_its_row() -> None:
    assert CLASSIFIED.keys() == {None, *StopCause}


class Settling(NoBatches):
    """Answers settlements from a script: an error to raise, or whether to accept."""

    def __init__(self, *script: Exception | bool) -> None:
        self._script = list(script)
        self.written: list[Outcome] = []

    async def complete(self, reports: Sequence[CompletionReport]) -> list[Completed]:
        self.written += [each.outcome for each in reports]
        answer = self._script.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return [Completed(each.seq, each.fence, State.SUCCEEDED, Reason.SUCCEEDED) for each in reports if answer]


class World:
    """A runner around work by hand."""

    def __init__(self, *script: Exception | bool, **given: Any) -> None:
        self.clock = VirtualClock()
        self.store = Settling(*script)
        self.completion = CompletionBuffer(cast(Store, self.store), self.clock)
        self.executor = HandExecutor()
        self.attempt = new_attempt(executor=self.executor, **given)
        self.ended: list[Attempt] = []
        self.all_ended = asyncio.Event()
        self.runner = Runner(
            cast(Store, self.store), self.completion, self.clock, max_result_bytes=1024, ended=self._ended
        )
        self.task: Task[..., Any] = App().task(_work)

    async def run(self, outcome: Outcome | None = RETURNED) -> None:
        completing = asyncio.create_task(self._complete())
        try:
            async with asyncio.timeout(10):
                self.runner.start(self.attempt, self.task)
                if self.executor.started:
                    self.executor.started[0].end(outcome)
                await self.all_ended.wait()
            assert self.ended == [self.attempt]
        finally:
            completing.cancel()
            await asyncio.wait([completing])

    def _ended(self, attempts: Sequence[Attempt]) -> None:
        self.ended += attempts
        self.all_ended.set()

    async def _complete(self) -> None:
        while True:
            await self.completion.run_once()


async def _work(number: int = 1) -> None: ...


async def test_a_result_is_told_once_and_acknowledged() -> None:
    world = World(True)
    await world.run()
    assert world.store.written == [RETURNED]


async def test_a_refused_result_is_not_insisted_on() -> None:
    world = World(False)
    await world.run()
    assert world.store.written == [RETURNED]


async def test_a_result_is_told_again_while_the_lease_lasts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hanbeon.engine.runner._RETRY_SECONDS", 0.001)
    world = World(DatabaseUnavailable("gone"), DatabaseUnavailable("gone"), True)
    await world.run()
    assert world.store.written == [RETURNED] * 3


async def test_and_no_longer_than_that(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hanbeon.engine.runner._RETRY_SECONDS", 0.001)
    world = World(DatabaseUnavailable("gone"), True)
    world.attempt.lease_until = world.clock.monotonic() + LEASE
    settle = world.store.complete

    async def slowly(reports: Sequence[CompletionReport]) -> list[Completed]:
        await world.clock.advance(LEASE)
        return await settle(reports)

    monkeypatch.setattr(world.store, "complete", slowly)
    await world.run()
    assert world.store.written == [RETURNED], "by then the job may be somebody else's"


async def test_invalid_arguments_fail_the_job_without_running_it() -> None:
    world = World(True, args='{"number": "one"}')
    await world.run()
    assert world.executor.started == []
    (written,) = world.store.written
    assert isinstance(written, Raised)
    assert written.failure_type == "invalid"
    assert "Expected `int" in written.message


@pytest.mark.parametrize(
    ("cause", "written"),
    [(StopCause.SHUTDOWN, [HANDED_BACK]), (StopCause.CANCELLED, [HANDED_BACK]), (StopCause.LEASE_LOST, [])],
)
async def test_attempt_stopped_before_it_began_never_begins(cause: StopCause, written: list[Outcome]) -> None:
    world = World(True)
    world.attempt.stop(cause)
    await world.run()
    assert world.executor.started == []
    assert world.store.written == written


async def test_an_end_that_cannot_be_written_at_all_becomes_a_failure() -> None:
    world = World(ValueError("no database takes this"), ValueError("no database takes this"), True)
    await world.run()
    assert world.store.written[-1] == Raised("ValueError: no database takes this")


@pytest.mark.parametrize(
    ("error", "status", "state"),
    [
        (None, AttemptStatus.RELEASED, State.READY),
        (ConnectionError("the body's way of ending"), AttemptStatus.RELEASED, State.READY),
        (TaskError("its own words", failure_type="session_error"), AttemptStatus.FAILED, State.PENDING),
        (PermanentError("for good"), AttemptStatus.FAILED, State.FAILED),
    ],
    ids=["cancelled", "an error", "a typed error", "a permanent error"],
)
async def test_interrupted_by_a_shutdown_is_no_failure(
    app: App, error: Exception | None, status: AttemptStatus, state: State
) -> None:
    started = asyncio.Event()

    @app.task
    async def work(ctx: Context) -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            if error is not None:
                raise error from None
            raise

    async with app.worker():
        job = await app.enqueue(work)
        await asyncio.wait_for(started.wait(), 10)
    record = await job.record()
    assert (record.state, [attempt.status for attempt in await job.attempts()]) == (state, [status])
    assert record.retry_count == (1 if state is State.PENDING else 0)


async def test_cancel_wins_over_a_success_with_children(kit: TestKit) -> None:
    @kit.app.task
    async def parent(ctx: Context) -> None:
        await ctx.enqueue(parent.call())
        await kit.app.cancel(ctx.job_id)

    job = await kit.app.enqueue(parent)
    assert await kit.run_all() == 1
    assert await job.state() is State.CANCELLED
    assert len(await kit.app.jobs()) == 1
