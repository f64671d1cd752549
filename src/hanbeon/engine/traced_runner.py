"""Runs attempts with a span each. Used only while tracing is on, so that it costs nothing otherwise."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

from hanbeon.clock import Clock
from hanbeon.domain.outcome import Outcome, Raised, Returned
from hanbeon.engine.attempt import Attempt
from hanbeon.engine.completion import CompletionBuffer
from hanbeon.engine.runner import Ended, Mask, Runner
from hanbeon.errors import HanbeonError
from hanbeon.store.operations.complete import Completed
from hanbeon.store.operations.traces import keep_traces
from hanbeon.store.store import Store
from hanbeon.tasks.task import Task
from hanbeon.telemetry.tracer import Tracer


class TracedRunner(Runner):
    """A runner whose attempts are spans, from before their bodies start until the database has their ends."""

    def __init__(
        self,
        tracer: Tracer,
        store: Store,
        completion: CompletionBuffer,
        clock: Clock,
        max_result_bytes: int,
        *,
        ended: Ended,
        mask: Mask,
    ) -> None:
        self._tracer = tracer

        def end(attempts: Sequence[Attempt]) -> None:
            for attempt in attempts:
                if attempt.trace is not None:
                    tracer.end(attempt.trace)
            ended(attempts)

        super().__init__(store, completion, clock, max_result_bytes, ended=end, mask=mask)

    def _start(self, attempt: Attempt, task: Task[..., Any]) -> None:
        attempt.trace = self._tracer.begin(attempt.job)
        with self._within(attempt):
            super()._start(attempt, task)

    def _stopped(self, attempt: Attempt, outcome: Outcome | None) -> None:
        if isinstance(outcome, Raised) and attempt.trace is not None:
            attempt.trace.failure = attempt.trace.failure or outcome.failure_type
        super()._stopped(attempt, outcome)

    async def _finish(self, attempt: Attempt, outcome: Outcome | None, error: Exception | None) -> None:
        with self._within(attempt):
            await super()._finish(attempt, outcome, error)

    async def _persist(self, attempt: Attempt, outcome: Outcome, error: Exception | None) -> None:
        root = None if attempt.trace is None else attempt.trace.root
        if root is not None and not isinstance(outcome, Returned):
            # The next attempt belongs to the same trace. If this cannot be written now, it begins another.
            with contextlib.suppress(HanbeonError):
                await self._store.write(lambda tx: keep_traces(tx, {attempt.job.seq: root.text}))
        await super()._persist(attempt, outcome, error)

    def _log_end(self, attempt: Attempt, settled: Completed | None) -> None:
        if settled is not None and attempt.trace is not None:
            attempt.trace.outcome = settled.reason
        with self._within(attempt):
            super()._log_end(attempt, settled)

    def _within(self, attempt: Attempt) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext() if attempt.trace is None else self._tracer.within(attempt.trace)
