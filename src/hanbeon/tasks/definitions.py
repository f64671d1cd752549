"""Definitions of tasks: functions, commands, HTTP calls and stream tasks, put into a registry."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, Unpack, overload

from hanbeon.errors import TaskDefinitionError
from hanbeon.rule import Rule
from hanbeon.stream_worker.request import Work
from hanbeon.tasks.command import command_task
from hanbeon.tasks.context import Context, SyncContext
from hanbeon.tasks.http_call import http_task_at
from hanbeon.tasks.registry import Registry
from hanbeon.tasks.stream_call import stream_task_of
from hanbeon.tasks.task import Task, TaskOptions

if TYPE_CHECKING:
    from hanbeon.tasks.keywords import TaskOptionFields

P = ParamSpec("P")
R = TypeVar("R")


class Decorator:
    """The return type of `@app.task(…)`; only its types matter."""

    @overload
    def __call__(self, function: Callable[Concatenate[Context, P], Awaitable[R]], /) -> Task[P, R]: ...
    @overload
    def __call__(self, function: Callable[Concatenate[SyncContext, P], R], /) -> Task[P, R]: ...
    @overload
    def __call__(self, function: Callable[P, Awaitable[R]], /) -> Task[P, R]: ...
    @overload
    def __call__(self, function: Callable[P, R], /) -> Task[P, R]: ...
    def __call__(self, function: Any, /) -> Any: ...


class TaskDefinitions:
    """The part of an App that defines tasks."""

    tasks: Registry

    @overload
    def task(self, function: Callable[Concatenate[Context, P], Awaitable[R]], /) -> Task[P, R]: ...
    @overload
    def task(self, function: Callable[Concatenate[SyncContext, P], R], /) -> Task[P, R]: ...
    @overload
    def task(self, function: Callable[P, Awaitable[R]], /) -> Task[P, R]: ...
    @overload
    def task(self, function: Callable[P, R], /) -> Task[P, R]: ...
    @overload
    def task(self, *, name: str | None = None, **options: Unpack[TaskOptionFields]) -> Decorator: ...
    def task(self, function: Any = None, *, name: str | None = None, **options: Any) -> Any:
        """Register a function as a task; plain or with options. The function's first parameter may be a context."""

        def register(function: Callable[..., Any]) -> Task[..., Any]:
            if not inspect.isfunction(function):
                raise TaskDefinitionError(Rule("decorator_without_function"))
            chosen = function.__name__ if name is None else name
            if not isinstance(chosen, str):
                raise TaskDefinitionError(Rule("must_be", what=Rule("string"), got=repr(chosen)), field="name")
            task: Task[..., Any] = Task(chosen, function, TaskOptions.of(chosen, options))
            self.tasks.add(task)
            return task

        return register if function is None else register(function)

    def command(self, name: str, argv: Sequence[str], **options: Any) -> Task[..., Any]:
        """Register a program as a task: `app.command("build", ["make", "{args.target}"], timeout="10m")`."""
        task = command_task(name, argv, options)
        self.tasks.add(task)
        return task

    def http(self, name: str, url: str, **options: Any) -> Task[..., Any]:
        """Register an HTTP call as a task: `app.http("ping", "https://example.org/hook", method="POST", retries=5)`."""
        task = http_task_at(name, url, options)
        self.tasks.add(task)
        return task

    def stream(self, name: str, stream: str, *, work: Work | None = None, **options: Any) -> Task[..., Any]:
        """Register a task that stream workers do: `app.stream("thumb", "thumbs", timeout="10m")`.

        `work` is the function that does it in-process where no Redis is configured.
        """
        task = stream_task_of(name, stream, work, options)
        self.tasks.add(task)
        return task
