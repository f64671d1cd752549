"""Writes results in batches: while one flush is under way, the next batch gathers."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

import msgspec

from hanbeon.clock import Clock
from hanbeon.engine.loop import AGAIN
from hanbeon.errors import DatabaseUnavailable
from hanbeon.logs import get_logger
from hanbeon.store.operations.complete import Completed, CompletionReport
from hanbeon.store.store import Store
from hanbeon.store.strips import strip_key

_log = get_logger("hanbeon.engine")
_BATCH = 500
Answer = Completed | Exception | None
"""The database's answer to a report: None if it was refused, an error if it was not reached."""


class _Waiting(msgspec.Struct, frozen=True):
    report: CompletionReport
    until: float
    callback: Callable[[Answer], None]


class CompletionBuffer:
    """Calls back when the database has acknowledged a report; only then the slot of its job is free."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._waiting: deque[_Waiting] = deque()
        self._arrived = asyncio.Event()

    @property
    def waiting(self) -> bool:
        return bool(self._waiting)

    def hand_in(self, report: CompletionReport, until: float, callback: Callable[[Answer], None]) -> None:
        """Have it settled; `callback` is called once with the answer. Its lease is held until `until` (monotonic)."""
        self._waiting.append(_Waiting(report, until, callback))
        self._arrived.set()

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
        while not self._waiting:
            self._arrived.clear()
            await self._arrived.wait()
        await self.flush()
        return AGAIN

    async def flush(self) -> None:
        """Write the next reports: plain successes by themselves, for which there is a faster path."""
        batch = [self._waiting.popleft() for _ in range(min(_BATCH, len(self._waiting)))]
        parts = _parts(batch)
        try:
            while parts:
                await self._flush_part(parts.pop(0))
        except BaseException:
            for part in parts:
                _fail(part, DatabaseUnavailable("the worker was stopped"))
            raise

    async def _flush_part(self, batch: list[_Waiting]) -> None:
        try:
            await self._flush(batch)
        except (DatabaseUnavailable, TimeoutError) as error:
            _fail(batch, error)  # Each attempt tries again by itself for as long as its lease lasts.
        except Exception:
            # One report the database cannot take must not fail the others: each goes alone.
            for item in batch:
                try:
                    await self._flush([item])
                except Exception as error:
                    _fail([item], error)
        except BaseException:
            _fail(batch, DatabaseUnavailable("the worker was stopped"))
            raise

    async def _flush(self, batch: list[_Waiting]) -> None:
        # Within the leases: a connection that died silently would keep the slots forever.
        async with asyncio.timeout(max(0.0, min(item.until for item in batch) - self._clock.monotonic())):
            settled = await self._store.complete([item.report for item in batch])
        answers = {(item.seq, item.fence): item for item in settled}
        for item in batch:
            _answer(item, answers.get((item.report.seq, item.report.fence)))


def _parts(batch: list[_Waiting]) -> list[list[_Waiting]]:
    """Return the largest strip of plain successes, and before it all the others.

    That order, because a loop that ends with the last attempt must not leave out jobs that never became one.
    """
    alike: dict[object, list[_Waiting]] = {}
    for item in batch:
        alike.setdefault(strip_key(item.report), []).append(item)
    if len(alike) < 2:
        return [batch] if batch else []
    largest = max((key for key in alike if key is not None), key=lambda key: len(alike[key]))
    others = [item for key, part in alike.items() if key != largest for item in part]
    return [others, alike[largest]]


def _fail(batch: list[_Waiting], error: Exception) -> None:
    for item in batch:
        _answer(item, error)


def _answer(item: _Waiting, answer: Answer) -> None:
    try:
        item.callback(answer)
    except Exception:
        # A defect; but the answers of the others in the batch must reach them.
        _log.exception("answer_failed", seq=item.report.seq, attempt=item.report.fence)
