"""A task: a function with a name, and how its jobs are to be run."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Generic, ParamSpec, TypeVar

import msgspec

from hanbeon.domain.job import DEFAULT_QUEUE
from hanbeon.domain.retry import Backoff, OnLost, RetryPolicy
from hanbeon.errors import TaskDefinitionError
from hanbeon.tasks.context import Context, SyncContext
from hanbeon.tasks.request import JobRequest
from hanbeon.tasks.signature import TaskSignature

P = ParamSpec("P")
R = TypeVar("R")

ASYNC, THREAD, PROCESS = "async", "thread", "process"


class TaskOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a task's jobs run unless a job says otherwise. Durations are seconds."""

    queue: str = DEFAULT_QUEUE
    role: str = ""
    priority: int = 0
    timeout: float | None = None
    retries: int = 3
    retry_delay: float = 60.0
    backoff: Backoff = Backoff.EXPONENTIAL
    jitter: float = 0.0
    on_lost: OnLost = OnLost.RETRY
    executor: str | None = None

    def policy(self, retries: int | None = None) -> RetryPolicy:
        return RetryPolicy(
            max_retries=self.retries if retries is None else retries,
            backoff=self.backoff,
            base_us=round(self.retry_delay * 1_000_000),
            jitter=self.jitter,
            on_lost=self.on_lost,
        )


class Task(Generic[P, R]):
    """Registered logic. Call `task.function` to run it here and now; `task.call(…)` describes a job of it."""

    def __init__(self, name: str, function: Callable[..., Awaitable[R] | R], options: TaskOptions) -> None:
        self.name = name
        self.function = function
        self.options = options
        self.is_async = inspect.iscoroutinefunction(function)
        self.signature = TaskSignature(name, function, (Context, SyncContext))
        self.executor = options.executor or self._default_executor()
        if self.is_async and self.signature.context_type is SyncContext:
            raise TaskDefinitionError(
                f"task {name!r} is async, so its first parameter must be a Context, not a SyncContext"
            )
        if not self.is_async and self.signature.context_type is Context:
            raise TaskDefinitionError(f"task {name!r} is not async, so its first parameter must be a SyncContext")

    def _default_executor(self) -> str:
        if self.is_async:
            return ASYNC
        return THREAD if self.options.timeout is None else PROCESS

    def call(self, *args: P.args, **kwargs: P.kwargs) -> JobRequest[R]:
        """A job of this task with these arguments, checked now; enqueue it with the App."""
        return JobRequest(task=self, args=self.signature.pack(args, kwargs))

    def __repr__(self) -> str:
        return f"<Task {self.name}>"
