"""Runs of workflows in the process that is asked for them: with its own worker, or with one for this call only."""

from __future__ import annotations

import asyncio
import contextlib

from hanbeon.domain.lifecycle import TERMINAL, State
from hanbeon.engine.tick import grace_within, tick
from hanbeon.engine.worker import Worker
from hanbeon.surfaces.service import SurfaceApp
from hanbeon.surfaces.workflows.executor import WorkflowExecutor
from hanbeon.surfaces.workflows.run_rows import run_by_id
from hanbeon.surfaces.workflows.vocabulary import STEP_QUEUE
from hanbeon.wait import until

_LONGEST_PAUSE = 0.5
SURFACE = "workflows"


class LocalRuns:
    """`worker`: that of this process; without one, a call works by itself."""

    def __init__(self, app: SurfaceApp, worker: Worker | None) -> None:
        self._app, self._worker = app, worker

    async def run_due(self, budget: float) -> list[str]:
        """Work on what is due of workflows, until nothing is left or the time is over; return the runs."""
        return await self._work(budget, asyncio.Event())

    async def until_ended(self, run_id: str, seconds: float) -> None:
        """Wait for the end of a run, within the time; work on it, if no worker of this process does."""
        if self._worker is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._ended(run_id)
            return
        stop = asyncio.Event()
        working = asyncio.create_task(self._work(seconds, stop))
        ended = asyncio.create_task(self._ended(run_id))
        try:
            await asyncio.wait((working, ended), return_when=asyncio.FIRST_COMPLETED)
        finally:
            stop.set()
            ended.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await ended
            await working

    async def _work(self, budget: float, stop: asyncio.Event) -> list[str]:
        app = self._app
        settings = app.settings.model_copy(update={"shutdown_grace": grace_within(budget, app.settings)})
        worker, executors = app.surface_worker(SURFACE, settings, (STEP_QUEUE,))
        (executor,) = (each for each in executors if isinstance(each, WorkflowExecutor))
        await tick(worker, app.store, settings, budget, stop)
        return list(dict.fromkeys(executor.begun))

    async def _ended(self, run_id: str) -> None:
        async def read() -> State:
            return (await self._app.store.read(lambda tx: run_by_id(tx, None, run_id))).state

        await until(read, TERMINAL.__contains__, self._app.hub.hints, longest=_LONGEST_PAUSE)
