"""Results go out in batches, and whoever waits for one learns exactly what the database said."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import cast

import pytest

from hanbeon.clock import SystemClock
from hanbeon.domain.job import Claimed
from hanbeon.domain.lifecycle import Reason, State
from hanbeon.domain.outcome import Returned
from hanbeon.engine.attempt import Attempt
from hanbeon.engine.completion import Answer as CompletionAnswer
from hanbeon.engine.completion import CompletionBuffer, Success
from hanbeon.engine.loop import Loop
from hanbeon.errors import DatabaseUnavailable
from hanbeon.store.operations.complete import Completed, CompletionReport
from hanbeon.store.store import Store
from hanbeon.testing import VirtualClock
from tests.engine.attempts import new_attempt

Answer = Callable[[Sequence[CompletionReport]], list[Completed]]


def report(seq: int, fence: int = 1) -> CompletionReport:
    return CompletionReport(seq, fence, Returned())


async def settle(completion: CompletionBuffer, item: CompletionReport, seconds: float = 30.0) -> Completed | None:
    return await completion.settle(item, SystemClock().monotonic() + seconds)


def accepted(reports: Sequence[CompletionReport]) -> list[Completed]:
    return [Completed(each.seq, each.fence, State.SUCCEEDED, Reason.SUCCEEDED) for each in reports]


class SlowStore:
    """Settles when the test says so, and in the way the test says."""

    def __init__(self, answer: Answer = accepted) -> None:
        self.batches: list[list[int]] = []
        self.asked = asyncio.Event()
        self.gate = asyncio.Event()
        self.answer = answer

    async def complete(self, reports: Sequence[CompletionReport]) -> list[Completed]:
        self.batches.append([each.seq for each in reports])
        self.asked.set()
        await self.gate.wait()
        return self.answer(reports)


@asynccontextmanager
async def completing(store: SlowStore) -> AsyncIterator[CompletionBuffer]:
    completion = CompletionBuffer(cast(Store, store), SystemClock())
    running = asyncio.create_task(Loop("complete", completion.run_once).run())
    try:
        async with asyncio.timeout(5):
            yield completion
    finally:
        running.cancel()
        await asyncio.wait([running])


async def test_while_one_flush_is_under_way_the_next_gathers() -> None:
    store = SlowStore()
    async with completing(store) as completion:
        waiting = [asyncio.create_task(settle(completion, report(1)))]
        await store.asked.wait()
        waiting += [asyncio.create_task(settle(completion, report(seq))) for seq in range(2, 6)]
        await asyncio.sleep(0)
        assert completion.waiting
        assert store.batches == [[1]]
        store.gate.set()
        answers = await asyncio.gather(*waiting)
        assert [answer.seq for answer in answers if answer] == [1, 2, 3, 4, 5]
        assert store.batches == [[1], [2, 3, 4, 5]]
        assert not completion.waiting


async def test_a_batch_has_its_limit() -> None:
    store = SlowStore()
    store.gate.set()
    async with completing(store) as completion:
        await asyncio.gather(*(settle(completion, report(seq)) for seq in range(1_100)))
    assert [len(batch) for batch in store.batches] == [500, 500, 100]


async def test_refused_report_is_none_and_others_are_settled() -> None:
    store = SlowStore(lambda reports: accepted([each for each in reports if each.seq != 2]))
    store.gate.set()
    async with completing(store) as completion:
        answers = await asyncio.gather(*(settle(completion, report(seq)) for seq in (1, 2, 3)))
    assert [answer and answer.seq for answer in answers] == [1, None, 3]


async def test_late_report_does_not_answer_the_next_attempt() -> None:
    store = SlowStore(lambda reports: accepted([each for each in reports if each.fence == 2]))
    store.gate.set()
    async with completing(store) as completion:
        late, good = await asyncio.gather(settle(completion, report(1, 1)), settle(completion, report(1, 2)))
    assert late is None
    assert good is not None
    assert good.fence == 2


async def test_flush_fails_all_waiters_while_the_database_is_down() -> None:
    def away(reports: Sequence[CompletionReport]) -> list[Completed]:
        store.answer = accepted
        raise DatabaseUnavailable("gone")

    store = SlowStore(away)
    store.gate.set()
    async with completing(store) as completion:
        answers = await asyncio.gather(*(settle(completion, report(seq)) for seq in (1, 2)), return_exceptions=True)
        assert [str(answer) for answer in answers] == ["gone", "gone"]
        assert await settle(completion, report(1)) is not None


async def test_an_invalid_report_does_not_fail_the_others() -> None:
    def picky(reports: Sequence[CompletionReport]) -> list[Completed]:
        if any(each.seq == 2 for each in reports):
            raise ValueError("a report that no database takes")
        return accepted(reports)

    store = SlowStore(picky)
    store.gate.set()
    async with completing(store) as completion:
        answers = await asyncio.gather(*(settle(completion, report(seq)) for seq in (1, 2, 3)), return_exceptions=True)
    assert [type(answer) for answer in answers] == [Completed, ValueError, Completed]


async def test_stop_fails_those_who_wait_for_a_flush() -> None:
    store = SlowStore()
    async with completing(store) as completion:
        waiting = asyncio.create_task(settle(completion, report(1)))
        await store.asked.wait()
    with pytest.raises(DatabaseUnavailable, match="the worker was stopped"):
        await waiting


async def test_a_waiter_that_has_gone_does_not_disturb() -> None:
    store = SlowStore()
    async with completing(store) as completion:
        gone, stays = (asyncio.create_task(settle(completion, report(seq))) for seq in (1, 2))
        await store.asked.wait()
        gone.cancel()
        store.gate.set()
        assert await stays is not None


async def test_unanswered_flush_times_out_with_the_first_lease() -> None:
    store = SlowStore()
    async with completing(store) as completion:
        with pytest.raises(TimeoutError):
            await settle(completion, report(1), seconds=0.05)
        store.gate.set()
        assert await settle(completion, report(2)) is not None


class BatchStore:
    """Answers batches from a script: an instant, None to refuse them, or an error; and accepts every report."""

    def __init__(self, *script: int | BaseException | None) -> None:
        self._script = list(script)
        self.asked: list[tuple[str, list[int]]] = []

    async def succeed(self, jobs: Sequence[Claimed], results: Sequence[str | None]) -> int | None:
        self.asked.append(("succeed", [job.seq for job in jobs]))
        answer = self._script.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    async def complete(self, reports: Sequence[CompletionReport]) -> list[Completed]:
        self.asked.append(("complete", [each.seq for each in reports]))
        return accepted(reports)


class Owner:
    """Keeps the answers to successes."""

    def __init__(self) -> None:
        self.batches: list[tuple[list[int], int]] = []
        self.single: dict[int, CompletionAnswer] = {}

    def succeeded(self, successes: list[Success], at: int) -> None:
        self.batches.append(([attempt.job.seq for attempt, _ in successes], at))

    def answered(self, success: Success, answer: CompletionAnswer) -> None:
        self.single[success[0].job.seq] = answer


def handed_in(store: BatchStore, *attempts: Attempt) -> tuple[CompletionBuffer, Owner]:
    completion, owner = CompletionBuffer(cast(Store, store), VirtualClock()), Owner()
    for attempt in attempts:
        completion.hand_in_success((attempt, Returned()), owner)
    return completion, owner


async def test_successes_are_written_and_answered_at_once() -> None:
    store = BatchStore(7)
    completion, owner = handed_in(store, new_attempt(seq=1), new_attempt(seq=2))
    assert completion.waiting
    await completion.run_once()
    assert store.asked == [("succeed", [1, 2])]
    assert (owner.batches, owner.single) == ([([1, 2], 7)], {})
    assert not completion.waiting


async def test_successes_with_other_fences_go_as_reports_first() -> None:
    store = BatchStore(7)
    completion, owner = handed_in(
        store, new_attempt(seq=1), new_attempt(seq=2, fence=2), new_attempt(seq=3), new_attempt(seq=4, fence=3)
    )
    completion.hand_in(report(5), 30.0, lambda answer: None)
    await completion.flush()
    assert store.asked == [("complete", [5, 2, 4]), ("succeed", [1, 3])]
    assert owner.batches == [([1, 3], 7)]
    assert {seq for seq, answer in owner.single.items() if isinstance(answer, Completed)} == {2, 4}


@pytest.mark.parametrize("refused", [None, ValueError("a result that no database takes")])
async def test_refused_successes_are_written_as_reports(refused: Exception | None) -> None:
    store = BatchStore(refused)
    completion, owner = handed_in(store, new_attempt(seq=1), new_attempt(seq=2))
    await completion.flush()
    assert store.asked == [("succeed", [1, 2]), ("complete", [1, 2])]
    assert [type(answer) for answer in owner.single.values()] == [Completed, Completed]
    assert owner.batches == []


async def test_each_success_learns_that_the_database_is_down() -> None:
    """The statement may have committed or not, which is found out by trying again."""
    store = BatchStore(DatabaseUnavailable("gone"))
    completion, owner = handed_in(store, new_attempt(seq=1), new_attempt(seq=2))
    await completion.flush()
    assert store.asked == [("succeed", [1, 2])]
    assert [str(answer) for answer in owner.single.values()] == ["gone", "gone"]


@pytest.mark.parametrize("first", ["reports", "successes"])
async def test_stop_fails_the_successes_that_wait(first: str) -> None:
    class Stopped(BatchStore):
        async def complete(self, reports: Sequence[CompletionReport]) -> list[Completed]:
            raise asyncio.CancelledError

    completion, owner = handed_in(Stopped(asyncio.CancelledError()), new_attempt(seq=1), new_attempt(seq=2))
    if first == "reports":
        completion.hand_in(report(3), 30.0, lambda answer: None)
    with pytest.raises(asyncio.CancelledError):
        await completion.flush()
    assert [str(answer) for answer in owner.single.values()] == ["the worker was stopped"] * 2


async def test_a_batch_of_successes_has_its_limit() -> None:
    store = BatchStore(7, 7)
    completion, owner = handed_in(store, *[new_attempt(seq=seq) for seq in range(600)])
    await completion.flush()
    assert completion.waiting
    await completion.flush()
    assert [len(seqs) for seqs, _ in owner.batches] == [500, 100]
