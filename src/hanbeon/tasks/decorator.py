"""The types of `@app.task(…)`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Concatenate, ParamSpec, TypeVar, overload

from hanbeon.tasks.context import Context, SyncContext
from hanbeon.tasks.task import Task

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
