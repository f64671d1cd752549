"""Writes results in batches: while one flush is under way, the next batch gathers."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Protocol

import msgspec

from hanbeon.chance import chance
from hanbeon.clock import Clock
from hanbeon.domain.job import Claimed
from hanbeon.domain.outcome import Outcome, Returned
from hanbeon.engine.attempt import Attempt
from hanbeon.engine.loop import AGAIN
from hanbeon.errors import DatabaseUnavailable
from hanbeon.logs import get_logger
from hanbeon.rule import Rule
from hanbeon.store.operations.complete import Completed, CompletionReport
from hanbeon.store.store import Store

_log = get_logger("hanbeon.engine")
_BATCH = 500
Answer = Completed | Exception | None
"""The database's answer to a report: None if it was refused, an error if it was not reached."""


class _Waiting(msgspec.Struct, frozen=True):
    report: CompletionReport
    until: float
    callback: Callable[[Answer], None]


Success = tuple[Attempt, Returned]
"""An attempt of which only the result is left to write."""


class Successes(Protocol):
    """Takes the answers to successes."""

    def succeeded(self, successes: list[Success], at: int) -> None:
        """All of these were recorded, at this instant."""
        ...

    def answered(self, success: Success, answer: Answer) -> None:
        """This one was answered by itself."""
        ...


class CompletionBuffer:
    """Calls back when the database has acknowledged a report; only then the slot of its job is free."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._waiting: deque[_Waiting] = deque()
        self._successes: list[Success] = []
        self._owner: Successes
        self._arrived = asyncio.Event()

    @property
    def waiting(self) -> bool:
        return bool(self._waiting or self._successes)

    def hand_in(self, report: CompletionReport, until: float, callback: Callable[[Answer], None]) -> None:
        """Have it settled; `callback` is called once with the answer. Its lease is held until `until` (monotonic)."""
        self._waiting.append(_Waiting(report, until, callback))
        self._arrived.set()

    def hand_in_success(self, success: Success, owner: Successes) -> None:
        """Have it settled, together with others for which one statement is enough; `owner` gets the answer."""
        if not self._successes:
            self._owner = owner
            self._arrived.set()
        self._successes.append(success)

    async def settle(self, report: CompletionReport, until: float) -> Completed | None:
        """Write a report and return the result; None if it was refused. Raises DatabaseUnavailable."""
        answered: asyncio.Future[Completed | None] = asyncio.get_running_loop().create_future()

        def resolve(answer: Answer) -> None:
            if answered.done():
                return
            if isinstance(answer, Exception):
                answered.set_exception(answer)
            else:
                answered.set_result(answer)

        self.hand_in(report, until, resolve)
        return await answered

    async def run_once(self) -> float:
        """Wait for reports, then flush them."""
        while not self.waiting:
            self._arrived.clear()
            await self._arrived.wait()
        await self.flush()
        return AGAIN

    async def flush(self) -> None:
        """Write the next reports, and then the next successes, for which there is a faster path.

        In that order, because a loop that ends with the last attempt must not leave out jobs that never became one.
        """
        batch, others = _next_batch(self._successes)
        reports = [self._waiting.popleft() for _ in range(min(_BATCH, len(self._waiting)))] + self._each(others)
        try:
            if reports:
                await self._flush_part(reports)
        except BaseException:
            _fail(self._each(batch), DatabaseUnavailable(Rule("worker_stopped")))
            raise
        if batch:
            await self._flush_batch(batch)

    async def _flush_batch(self, batch: list[Success]) -> None:
        """Write successes by one statement. If it refuses them, they are written like all other reports."""
        until = min([attempt.lease_until for attempt, _ in batch])
        jobs, results = [attempt.job for attempt, _ in batch], [outcome.result for _, outcome in batch]
        try:
            async with asyncio.timeout(max(0.0, until - self._clock.monotonic())):
                at = await self._store.succeed(jobs, results)
        except (DatabaseUnavailable, TimeoutError) as error:
            return _fail(self._each(batch), error)  # Each attempt tries again by itself for as long as its lease lasts.
        except Exception:
            at = None  # There may be one that the database cannot take.
        except BaseException:
            _fail(self._each(batch), DatabaseUnavailable(Rule("worker_stopped")))
            raise
        if at is None:
            return await self._flush_part(self._each(batch))
        try:
            self._owner.succeeded(batch, at)
        except Exception:
            _log.exception("answer_failed", successes=len(batch))

    def _each(self, successes: list[Success]) -> list[_Waiting]:
        return [
            _Waiting(report_of(each[0].job, each[1]), each[0].lease_until, partial(self._owner.answered, each))
            for each in successes
        ]

    async def _flush_part(self, reports: list[_Waiting]) -> None:
        try:
            await self._flush(reports)
        except (DatabaseUnavailable, TimeoutError) as error:
            _fail(reports, error)  # Each attempt tries again by itself for as long as its lease lasts.
        except Exception:
            # One report the database cannot take must not fail the others: each goes alone.
            for item in reports:
                try:
                    await self._flush([item])
                except Exception as error:
                    _fail([item], error)
        except BaseException:
            _fail(reports, DatabaseUnavailable(Rule("worker_stopped")))
            raise

    async def _flush(self, reports: list[_Waiting]) -> None:
        # Within the leases: a connection that died silently would keep the slots forever.
        async with asyncio.timeout(max(0.0, min(item.until for item in reports) - self._clock.monotonic())):
            settled = await self._store.complete([item.report for item in reports])
        answers = {(item.seq, item.fence): item for item in settled}
        for item in reports:
            _answer(item, answers.get((item.report.seq, item.report.fence)))


def report_of(job: Claimed, outcome: Outcome) -> CompletionReport:
    return CompletionReport(job.seq, job.fence, outcome, chance.random(), job.instance)


def _next_batch(successes: list[Success]) -> tuple[list[Success], list[Success]]:
    """Remove the next successes; return the most that can be written by one statement, and the others."""
    taken = successes[:_BATCH]
    del successes[:_BATCH]
    alike: dict[tuple[int, int], list[Success]] = {}
    for success in taken:
        job = success[0].job
        key = (job.instance, job.fence)
        if key in alike:
            alike[key].append(success)
        else:
            alike[key] = [success]
    if len(alike) < 2:
        return taken, []
    largest = max(alike, key=lambda key: len(alike[key]))
    return alike.pop(largest), [success for part in alike.values() for success in part]


def _fail(reports: list[_Waiting], error: Exception) -> None:
    for item in reports:
        _answer(item, error)


def _answer(item: _Waiting, answer: Answer) -> None:
    try:
        item.callback(answer)
    except Exception:
        # A defect; but the answers of the others in the batch must reach them.
        _log.exception("answer_failed", seq=item.report.seq, attempt=item.report.fence)
