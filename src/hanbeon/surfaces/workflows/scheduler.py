"""The endpoints that a serverless cron and the card of the home page call."""

from __future__ import annotations

from collections import Counter

from hanbeon.domain.lifecycle import State
from hanbeon.errors import NotFound
from hanbeon.store.operations import tallies
from hanbeon.store.operations.queries import now_us
from hanbeon.store.tx import Tx
from hanbeon.surfaces.service import Service
from hanbeon.surfaces.workflows import rows, run_rows, schemas
from hanbeon.surfaces.workflows.errors import WorkflowNotFound
from hanbeon.surfaces.workflows.local_runs import LocalRuns
from hanbeon.surfaces.workflows.run_rows import Registration, in_rounds
from hanbeon.surfaces.workflows.serializers import Serializer
from hanbeon.surfaces.workflows.times import LATE_US
from hanbeon.surfaces.workflows.vocabulary import QUEUE, WorkflowStatus

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
