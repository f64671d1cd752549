"""Attempts that break on the way to their body or to their end: each is a failure of its own, and frees its slot."""

import asyncio
import datetime as dt
import logging
import threading
from collections.abc import Callable, Sequence
from typing import Any, cast

import msgspec
import pytest

from hanbeon import App, Context, State, SyncContext
from hanbeon.domain.lifecycle import Reason
from hanbeon.domain.outcome import Returned
from hanbeon.engine.completion import Answer, CompletionBuffer
from hanbeon.engine.worker import Worker
from hanbeon.errors import LeaseLost
from hanbeon.executors.coroutine import AsyncExecutor
from hanbeon.executors.executor import StopCause
from hanbeon.store.operations.complete import Completed, CompletionReport
from hanbeon.store.operations.lease import Lease
from hanbeon.store.store import Store
from hanbeon.tasks.context import PutOffRequest
from hanbeon.testing import VirtualClock
from tests.engine.attempts import HandWork, new_attempt
from tests.engine.nasty import ERRORS, OddZone
from tests.engine.test_running_attempts import IDLE, running

WAIT = 60.0


ODD_ERRORS: dict[str, Callable[[], BaseException]] = ERRORS | {
    "huge": lambda: ValueError("x" * 5_000_000),
    "put off oddly": lambda: PutOffRequest(3600.0, {"not": "text"}),  # type: ignore[arg-type]
}


FAILURE_TYPES = {"zone": "invalid", "put off oddly": None, "evil type": "y"}


async def tick(worker: Worker) -> None:
    """Run what is ready, until every slot is free again."""
    async with asyncio.timeout(WAIT):
        await worker.tick()
    assert len(worker.attempts) == len(worker.main.running) == 0


async def test_odd_errors_and_results_end_their_attempts(app: App, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL, "hanbeon")  # A lone surrogate in a log breaks some test runners.

    def end(kind: str) -> Any:
        if kind == "zone":
            return dt.datetime(2026, 1, 1, tzinfo=OddZone())
        raise ODD_ERRORS[kind]()

    @app.task(retries=0)
    async def in_loop(kind: str) -> Any:
        return end(kind)

    @app.task(retries=0)
    def in_thread(kind: str) -> Any:
        return end(kind)

    kinds = [(task, kind) for kind in [*ODD_ERRORS, "zone"] for task in (in_loop, in_thread)]
    jobs = await app.enqueue_many(task.call(kind) for task, kind in kinds)
    worker = app.worker(concurrency=len(jobs))
    await tick(worker)
    for job, (task, kind) in zip(jobs, kinds, strict=True):
        record, attempts = await job.record(), await job.attempts()
        state = State.PENDING if kind == "put off oddly" else State.FAILED
        assert (record.state, len(attempts)) == (state, 1), (task.name, kind, record)
        assert record.failure_type == FAILURE_TYPES.get(kind, "error"), (kind, record)
    await worker.stop()


async def test_arguments_that_cannot_be_read_fail_their_job_alone(app: App) -> None:
    class Point(msgspec.Struct):
        x: int

        def __post_init__(self) -> None:
            if broken:
                raise broken[0]

    @app.task(retries=0)
    async def work(point: Point | None = None) -> int:
        return 1

    work.function.__annotations__["point"] = Point | None
    broken: list[BaseException] = []
    worker = app.worker()
    for error in (KeyError("point"), SystemExit(3), KeyboardInterrupt()):
        broken.clear()
        odd, even = await app.enqueue(work.call(Point(1))), await app.enqueue(work.call())
        broken.append(error)
        await tick(worker)
        assert (await odd.record()).state is State.FAILED
        assert await even.result(WAIT) == 1
    await worker.stop()


async def test_a_thread_that_cannot_start_is_a_session_error(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[int] = []

    @app.task(retries=0)
    def work(number: int) -> int:
        ran.append(number)
        return number

    start = threading.Thread.start

    def refuse(thread: threading.Thread) -> None:
        if thread.name.startswith("hanbeon-task"):
            raise RuntimeError("can't start new thread")
        start(thread)

    worker = app.worker()
    refused = await app.enqueue(work.call(1))
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        await tick(worker)
    record = await refused.record()
    assert (record.state, record.failure_type) == (State.FAILED, "session_error")
    assert record.error_message == "no thread can be started: can't start new thread"
    other = await app.enqueue(work.call(2))
    await tick(worker)
    assert await other.result(WAIT) == 2
    assert ran == [2], "the pool had queued the first one, and runs it no more"
    await worker.stop()


class LeavingZone(OddZone):
    def __init__(self, error: type[BaseException]) -> None:
        self._error = error

    def utcoffset(self, moment: dt.datetime | None) -> dt.timedelta:
        raise self._error("zone")


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt])
async def test_values_that_exit_on_the_event_loop_fail(app: App, error: type[BaseException]) -> None:
    """Progress of a thread is encoded on the event loop, with the code of its values."""

    @app.task(retries=0)
    def in_thread(ctx: SyncContext) -> None:
        ctx.progress(dt.datetime(2026, 1, 1, tzinfo=LeavingZone(error)))

    @app.task(retries=0)
    async def in_loop(ctx: Context) -> None:
        await ctx.progress(dt.datetime(2026, 1, 1, tzinfo=LeavingZone(error)))

    @app.task(retries=0)
    def result() -> Any:
        return dt.datetime(2026, 1, 1, tzinfo=LeavingZone(error))

    jobs = [await app.enqueue(each) for each in (in_thread, in_loop, result)]
    worker = app.worker()
    await tick(worker)
    assert [await job.state() for job in jobs] == [State.FAILED] * 3
    await worker.stop()


async def test_one_that_cannot_begin_takes_no_other_with_it(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    @app.task(retries=0)
    async def work(number: int) -> int:
        return number

    start = AsyncExecutor.start

    def refuse(self: AsyncExecutor, call: Any, done: Any) -> Any:
        if call.arguments["number"] == 1:
            raise KeyError("slot")
        return start(self, call, done)

    monkeypatch.setattr(AsyncExecutor, "start", refuse)
    jobs = await app.enqueue_many(work.call(number) for number in range(3))
    worker = app.worker()
    await tick(worker)
    assert [await job.state() for job in jobs] == [State.SUCCEEDED, State.FAILED, State.SUCCEEDED]
    assert (await jobs[1].record()).error_message == "KeyError: 'slot'"
    await worker.stop()


async def test_a_claimed_task_that_is_unknown_fails_its_job_alone(app: App) -> None:
    @app.task(retries=0)
    async def known() -> int:
        return 1

    @app.task(retries=0)
    async def unknown() -> int:
        return 2

    class Forgetful(dict[str, Any]):
        def __getitem__(self, name: str) -> Any:
            if name == "unknown":
                raise KeyError(name)
            return super().__getitem__(name)

    jobs = [await app.enqueue(unknown), await app.enqueue(known)]
    worker = app.worker()
    worker.main.tasks = Forgetful(worker.main.tasks)
    await tick(worker)
    await worker._completion.flush()
    assert [await job.state() for job in jobs] == [State.FAILED, State.SUCCEEDED]
    await worker.stop()


async def test_an_answer_that_fails_reaches_the_others() -> None:
    class Settled:
        async def complete(self, reports: Sequence[CompletionReport]) -> list[Completed]:
            return [Completed(each.seq, each.fence, State.SUCCEEDED, Reason.SUCCEEDED) for each in reports]

    completion, answers = CompletionBuffer(cast(Store, Settled()), VirtualClock()), list[Answer]()

    def fail(answer: Answer) -> None:
        raise KeyError

    for number, callback in enumerate((fail, answers.append, fail, answers.append)):
        completion.hand_in(CompletionReport(number, 1, Returned(), 0.0, 1), 30.0, callback)
    await completion.flush()
    assert [isinstance(each, Completed) for each in answers] == [True, True]


async def test_the_guard_stops_others_after_one_that_fails() -> None:
    class Broken(HandWork):
        def stop(self, cause: StopCause) -> None:
            raise KeyError

    clock = VirtualClock()
    broken, other = new_attempt(seq=1, timeout=2), new_attempt(seq=2, timeout=2)
    held = running(clock, broken, other, store=Notes())
    broken.work, other.work = Broken(), HandWork()
    await clock.advance(2)
    await held.guard()
    assert other.work.stops == [StopCause.DEADLINE]


async def test_the_guard_insists_on_what_does_not_end() -> None:
    clock, attempt = VirtualClock(), new_attempt(timeout=2, lease=1_000)
    held = running(clock, attempt, store=Notes())
    attempt.work = work = HandWork()
    await clock.advance(2)
    await held.guard()
    for times, seconds in enumerate((5, 5, 10)):
        assert (work.stops, work.insisted) == ([StopCause.DEADLINE], times)
        assert await held.guard() == min(seconds, IDLE), "the next look is when it matters"
        await clock.advance(seconds)
        await held.guard()
    attempt.settling = True
    await clock.advance(50)
    await held.guard()
    assert work.insisted == 3, "it has ended"


class Notes:
    async def note_overdue(self, lease: Lease) -> bool:
        return True


async def test_a_body_that_swallows_one_cancellation_is_ended(app_url: str) -> None:
    async with App(app_url, stop_grace=0.2) as app:
        swallowed = 0

        @app.task(retries=0, timeout=0.1)
        async def work() -> None:
            nonlocal swallowed
            while True:
                try:
                    await asyncio.sleep(3600)
                except asyncio.CancelledError:
                    swallowed += 1
                    if swallowed == 2:
                        raise

        job = await app.enqueue(work)
        worker = app.worker()
        await tick(worker)
        assert (swallowed, (await job.record()).failure_type) == (2, "timeout")
        await worker.stop()


async def test_a_context_is_refused_after_its_body(app: App) -> None:
    refused: list[str] = []
    late: list[asyncio.Task[None]] = []

    @app.task(retries=0)
    async def work(ctx: Context) -> None:
        async def use() -> None:
            for call in (ctx.transaction, lambda: ctx.enqueue(work.call()), lambda: ctx.progress(1)):
                try:
                    await call()
                except LeaseLost:
                    refused.append("late")

        async def use_later() -> None:
            await ended.wait()
            await use()

        late.append(asyncio.create_task(use_later()))

    ended = asyncio.Event()
    job = await app.enqueue(work)
    worker = app.worker()
    await tick(worker)
    ended.set()
    await asyncio.wait_for(late[0], WAIT)
    assert refused == ["late"] * 3
    assert await job.state() is State.SUCCEEDED
    await asyncio.wait_for(app.enqueue(work), WAIT)  # No transaction was left open.
    await worker.stop()


async def test_a_transaction_begun_too_late_is_given_back(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    late: list[asyncio.Task[Any]] = []
    gate, begin = asyncio.Event(), app.store.begin

    async def begin_later() -> Any:
        await gate.wait()
        return await begin()

    monkeypatch.setattr(app.store, "begin", begin_later)

    @app.task(retries=0)
    async def work(ctx: Context) -> None:
        late.append(asyncio.create_task(ctx.transaction()))
        await asyncio.sleep(0)

    job = await app.enqueue(work)
    worker = app.worker()
    await tick(worker)
    assert await job.state() is State.SUCCEEDED
    gate.set()
    with pytest.raises(LeaseLost):
        await asyncio.wait_for(late[0], WAIT)
    for _ in range(3):
        await asyncio.wait_for(app.enqueue(work), WAIT)
    await worker.stop()
