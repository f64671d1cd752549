"""Creates jobs in any state, through the transitions that lead there in production."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hanbeon.app import App
from hanbeon.clock import micros
from hanbeon.domain.job import Claimed
from hanbeon.domain.json_text import to_json_text
from hanbeon.domain.lifecycle import State
from hanbeon.domain.outcome import Outcome, Raised, Returned
from hanbeon.job import Job
from hanbeon.store.operations import claim as claims
from hanbeon.store.operations.complete import CompletionReport
from hanbeon.store.operations.instances import NewInstance, register
from hanbeon.store.operations.lease import Lease
from hanbeon.tasks.request import JobRequest
from hanbeon.tasks.task import Task, TaskOptions

_AN_HOUR = 3600.0
_WAITING = ("delay", "run_at", "depends_on", "after")


class Factory:
    """Creates jobs of one open App. Running ones are held by an instance that never renews its leases."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._instance = 0

    async def make(
        self,
        task: Task[..., Any] | JobRequest[Any] | str,
        state: State,
        args: Mapping[str, Any] | None,
        options: dict[str, Any],
        *,
        result: Any,
        message: str,
        failure_type: str,
        progress: Any,
    ) -> Job[Any]:
        """Create a job in `state`, with what the state implies: a lease, an attempt, a result, an end."""
        if state is State.PENDING and not any(name in options for name in _WAITING):
            options["delay"] = _AN_HOUR
        job = await self._enqueue(task, args, options)
        if state is State.CANCELLED:
            await job.cancel()
        elif state is not State.PENDING and state is not State.READY:
            held = await self._claim(job)
            if progress is not None:
                text = to_json_text(progress, "progress", "progress")
                await self._app.store.write_progress(Lease(held.seq, held.fence, held.instance), text)
            if state is State.SUCCEEDED:
                await self._settle(held, Returned(to_json_text(result, "the result", "result")))
            elif state is State.FAILED:
                await self._settle(held, Raised(message, failure_type, permanent=True))
        reached = await job.state()
        if reached is not state:
            raise AssertionError(
                f"a job with {options} is {reached}, it cannot be {state}; leave out what it waits for"
            )
        return job

    async def _enqueue(
        self, task: Task[..., Any] | JobRequest[Any] | str, args: Mapping[str, Any] | None, options: dict[str, Any]
    ) -> Job[Any]:
        if not isinstance(task, str) or task in self._app.tasks.names():
            return await self._app.enqueue(task, args, **options)
        # Of a task that this App does not know, as another one's worker left it.
        stranger: Task[[], None] = Task(task, _nothing, TaskOptions())
        request = JobRequest(task=stranger, args=to_json_text(args or {}, "an argument", "args")).set(**options)
        new = request.to_new_job(self._app.settings.zone_of_naive)
        new.validate(self._app.settings.max_payload_bytes)
        made = await self._app.store.enqueue([new])
        return Job(self._app, made[0].id, stranger, created=made[0].created)

    async def _claim(self, job: Job[Any]) -> Claimed:
        """Claim this job and no other, whatever is before it in its queue."""
        store, record = self._app.store, await job.record()
        if not self._instance:
            self._instance = await store.write(
                lambda tx: register(tx, NewInstance("a test's, now gone", "nowhere", 0, "0", [record.task], 1))
            )
        request = claims.ClaimRequest(self._instance, [record.task], 1, micros(self._app.settings.lease))
        held = await store.write(lambda tx: claims.claim_these(tx, store.lanes, [record.seq], request))
        if not held:
            raise AssertionError(f"job {job.id} is {record.state} and cannot run; leave out what it waits for")
        return held[0]

    async def _settle(self, held: Claimed, outcome: Outcome) -> None:
        await self._app.store.complete([CompletionReport(held.seq, held.fence, outcome, instance=held.instance)])


def _nothing() -> None:
    """Stands for the function of a task that this App does not have."""
