"""Results go to the database in batches: while one flush is under way, the next gathers."""

from __future__ import annotations

import asyncio
from collections import deque

from hanbeon.engine.loop import AGAIN
from hanbeon.errors import DatabaseUnavailable
from hanbeon.store.operations.settle import Report, Settled
from hanbeon.store.port import Store

_BATCH = 500
_Waiting = tuple[Report, asyncio.Future[Settled | None]]


class Completion:
    """Whoever hands a report in waits until the database has acknowledged it, and only then is its slot free."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: deque[_Waiting] = deque()
        self._arrived = asyncio.Event()

    @property
    def waiting(self) -> bool:
        return bool(self._waiting)

    async def settle(self, report: Report) -> Settled | None:
        """What the database made of it; None if it was refused. Raises DatabaseUnavailable if it cannot be asked."""
        answer: asyncio.Future[Settled | None] = asyncio.get_running_loop().create_future()
        self._waiting.append((report, answer))
        self._arrived.set()
        return await answer

    async def run_once(self) -> float:
        """Flush what is there, after waiting for something to be there."""
        while not self._waiting:
            self._arrived.clear()
            await self._arrived.wait()
        await self.flush()
        return AGAIN

    async def flush(self) -> None:
        batch = [self._waiting.popleft() for _ in range(min(_BATCH, len(self._waiting)))]
        try:
            await self._flush(batch)
        except DatabaseUnavailable as error:
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
        settled = {(item.seq, item.fence): item for item in await self._store.settle([report for report, _ in batch])}
        for report, answer in batch:
            if not answer.done():
                answer.set_result(settled.get((report.seq, report.fence)))


def _fail(batch: list[_Waiting], error: Exception) -> None:
    for _, answer in batch:
        if not answer.done():
            answer.set_exception(error)
