"""A desk without an engine behind it."""

import asyncio
from collections.abc import Callable
from typing import Any, cast

import msgspec

from hanbeon.clock import Clock
from hanbeon.domain.json_text import to_json_text
from hanbeon.domain.outcome import ExceptionText, Outcome, Raised
from hanbeon.engine.attempt import Attempt
from hanbeon.executors.executor import Call, Executor, StopCause
from hanbeon.tasks.context import AttemptBackend
from hanbeon.tasks.task import Task
from tests.engine.attempts import new_attempt


def new_call(
    task: Task[..., Any],
    *,
    max_result_bytes: int = 1024,
    clock: Clock | None = None,
    backend: dict[str, Any] | None = None,
    **arguments: Any,
) -> tuple[Call, Attempt]:
    attempt = new_attempt(
        args=to_json_text(arguments, "arguments", "args"),
        claimed_at=0.0 if clock is None else clock.monotonic(),
        **backend or {},
    )
    return Call(task, arguments, cast(AttemptBackend, attempt), max_result_bytes), attempt


class Started:
    """A body that an executor runs, and how it ended: reported once, or the future complains."""

    def __init__(self, executor: Executor, call: Call) -> None:
        self.exception: ExceptionText | None = None
        self._ended: asyncio.Future[Outcome | None] = asyncio.get_running_loop().create_future()
        self._work = executor.start(call, self._ended.set_result)

    def stop(self, cause: StopCause) -> None:
        self._work.stop(cause)

    def escalate(self) -> None:
        self._work.escalate()

    async def outcome(self) -> Outcome | None:
        return await self._ended

    async def within(self, seconds: float = 30.0) -> Outcome | None:
        """Return the outcome, but for the text of its exception: that is `exception`."""
        async with asyncio.timeout(seconds):
            outcome = await self._ended
        if isinstance(outcome, Raised):
            self.exception = outcome.exception
            return msgspec.structs.replace(outcome, exception=None)
        return outcome

    def when_over(self, then: Callable[[], None]) -> None:
        self._ended.add_done_callback(lambda _: then())
