"""Runs workflows on the engine's event loop, over the connections of HTTP tasks."""

from __future__ import annotations

import asyncio

from hanbeon.domain.outcome import Outcome
from hanbeon.errors import HanbeonError
from hanbeon.executors.executor import Call, Done, Executor, StopCause, failed, raised, report
from hanbeon.executors.http.executor import HttpExecutor
from hanbeon.guarded_task import guarded_task
from hanbeon.messages import Messenger
from hanbeon.store.store import Store
from hanbeon.surfaces.workflows.worker_pool import WORKFLOWS, NoticeSpec


class WorkflowExecutor:
    """`begun`: the runs that it has worked on, for a caller who asked for them."""

    name = WORKFLOWS
    offers_transactions = False
    start_seconds = 0.0
    stop_seconds = 1.0  # For the end of a process that sends a message.

    def __init__(self, store: Store, http: HttpExecutor, blocking: Executor, messenger: Messenger) -> None:
        self.store, self.http, self.messenger = store, http, messenger
        self.running: set[WorkflowWork] = set()
        self.begun: list[str] = []

    def start(self, call: Call, done: Done) -> WorkflowWork:
        if not isinstance(call.task.spec, NoticeSpec):
            self.begun.append(call.backend.job.id)
        return WorkflowWork(self, call, done)

    async def close(self) -> None:
        """Close it before the executors that it uses."""
        running = [work.task for work in self.running]
        for work in list(self.running):
            work.stop(StopCause.SHUTDOWN)
        if running:
            await asyncio.wait(running)


class WorkflowWork:
    def __init__(self, executor: WorkflowExecutor, call: Call, done: Done) -> None:
        self._executor, self._call, self._done = executor, call, done
        self.task = guarded_task(_body(executor, call), name=call.backend.job.id)
        self.task.add_done_callback(self._ended)
        executor.running.add(self)

    def stop(self, cause: StopCause) -> None:
        self.task.cancel()

    def escalate(self) -> None:
        self.task.cancel()

    def _ended(self, task: asyncio.Task[Outcome]) -> None:
        self._executor.running.discard(self)
        report(self._done, lambda: None if task.cancelled() else task.result())


async def _body(executor: WorkflowExecutor, call: Call) -> Outcome:
    """Return the outcome; any error is a failure of this run and of nothing else."""
    try:
        # Imported late: most workers never send a message.
        from hanbeon.surfaces.workflows.notice import send_notice
        from hanbeon.surfaces.workflows.run_body import run_steps
        from hanbeon.surfaces.workflows.steps import StepHandlers

        if isinstance(call.task.spec, NoticeSpec):
            return await send_notice(executor.store, executor.messenger, call.arguments)
        handlers = StepHandlers(executor.http, executor.messenger)
        return await run_steps(executor.store, call.backend, handlers.by_type())
    except HanbeonError as error:
        return raised(error)
    except Exception as error:
        return failed(error)
