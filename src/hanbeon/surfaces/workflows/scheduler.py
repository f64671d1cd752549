"""The endpoints that a serverless cron and the card of the home page call, and runs in the process that is asked."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter

from hanbeon.domain.lifecycle import TERMINAL, State
from hanbeon.engine.tick import grace_within, tick
from hanbeon.engine.worker import Worker
from hanbeon.errors import NotFound
from hanbeon.store.operations import tallies
from hanbeon.store.operations.queries import now_us
from hanbeon.store.tx import Tx
from hanbeon.surfaces.service import Service, SurfaceApp
from hanbeon.surfaces.workflows import rows, run_rows, schemas
from hanbeon.surfaces.workflows.errors import WorkflowNotFound
from hanbeon.surfaces.workflows.executor import WorkflowExecutor
from hanbeon.surfaces.workflows.run_rows import Registration, in_rounds, run_by_id
from hanbeon.surfaces.workflows.serializers import Serializer
from hanbeon.surfaces.workflows.times import LATE_US
from hanbeon.surfaces.workflows.vocabulary import QUEUE, STEP_QUEUE, WorkflowStatus
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


_LISTED = 20
_DAY_US = 86_400 * 1_000_000
_AT_ONCE = 100


class SchedulerEndpoints(Service):
    """Registration, execution and monitoring of all workflows; the base of `Workflows`."""

    async def cron(self) -> schemas.Registered:
        """Register the next run of every active workflow, where that is not the registered one."""
        done: Counter[Registration | None] = Counter()
        after = 0
        while True:
            page = await self._read(
                lambda tx, after=after: rows.workflows(tx, after, _AT_ONCE)  # type: ignore[misc]
            )
            for each in page.items:
                if each.status is WorkflowStatus.ACTIVE or each.run_id is not None:
                    done[await self._register(each.id)] += 1
                after = each.seq
            if not page.more:
                return schemas.Registered(**{kind.value: done[kind] for kind in Registration})

    async def execute_due(self) -> schemas.Executed:
        """Run the workflows that are due, in this process and within the budget."""
        begun = await self._local.run_due(self._app.settings.workflow_budget)
        found = await self._read(lambda tx: run_rows.runs_by_id(tx, begun))
        results = [self._serializer.executed(each.run) for each in found]
        return schemas.Executed(executed=len(results), results=results)

    async def monitor(self) -> schemas.Monitor:
        """Counts of runs, what is delayed, what is next, and what failed in the last day."""

        async def read(tx: Tx) -> schemas.Monitor:
            try:
                counts = await tallies.counts(tx, QUEUE, self._store.unfolded)
            except NotFound:
                counts = dict.fromkeys(State, 0)
            since = await now_us(tx) - _DAY_US
            show = self._serializer
            return schemas.Monitor(
                pending=counts[State.PENDING] + counts[State.READY],
                running=counts[State.RUNNING],
                completed=counts[State.SUCCEEDED],
                failed=counts[State.FAILED] + counts[State.CANCELLED],
                delayed=[show.delayed(row) for row in await tx.fetch("delayed_workflow_runs", LATE_US, _LISTED)],
                next=[show.next(row) for row in await tx.fetch("next_workflow_runs", _LISTED)],
                recent_failures=[show.failed(row) for row in await tx.fetch("failed_workflow_runs", since, _LISTED)],
            )

        return await self._read(read)

    async def _register(self, workflow_id: str) -> Registration | None:
        lanes = self._store.lanes
        try:
            return await in_rounds(lambda: self._write(lambda tx: run_rows.register(tx, lanes, workflow_id)))
        except WorkflowNotFound:
            return None  # It was deleted since it was listed.

    @property
    def _local(self) -> LocalRuns:
        return LocalRuns(self._app, self.worker)

    @property
    def _serializer(self) -> Serializer:
        return Serializer(self._zone, self._stored_json)
