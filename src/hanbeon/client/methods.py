"""Methods that are written once and answered in two ways: at once by a Client, awaited by an AsyncClient."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, overload

from hanbeon.client.calls import Page, RetryConfig, call, each_of
from hanbeon.client.flow import Flow, Stream
from hanbeon.client.route import Fill, Route

P = ParamSpec("P")
T = TypeVar("T")


class SyncLine(Protocol):
    """Drives flows and waits for each step."""

    def run(self, flow: Flow[T]) -> T: ...
    def each(self, stream: Stream[T]) -> Iterator[T]: ...


class AsyncLine(Protocol):
    """The same on an event loop."""

    async def run(self, flow: Flow[T]) -> T: ...
    def each(self, stream: Stream[T]) -> AsyncIterator[T]: ...


class Resource:
    """What methods are asked at: how to ask, and the ids that stand in the paths."""

    def __init__(self, line: Any, retry: RetryConfig, ids: Mapping[str, str]) -> None:
        self._line, self._manner, self._ids = line, retry, ids


class Sync:
    """A desk whose methods answer."""

    _line: SyncLine


class Async:
    """A desk whose methods are awaited."""

    _line: AsyncLine


class Method(Generic[P, T]):
    """Ends with one answer."""

    def __init__(self, route: Route[Any], flow: Callable[Concatenate[Any, P], Flow[T]]) -> None:
        self.route, self._flow = route, flow
        self.__doc__, self.__wrapped__ = flow.__doc__, flow

    @overload
    def __get__(self, desk: None, kind: Any) -> Method[P, T]: ...
    @overload
    def __get__(self, desk: Sync, kind: Any) -> Callable[P, T]: ...
    @overload
    def __get__(self, desk: Async, kind: Any) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, desk: Any, kind: Any) -> Any:
        return self if desk is None else _bound(desk, self._flow, desk._line.run)


class ManyMethod(Generic[P, T]):
    """Iterates over many."""

    def __init__(self, route: Route[Any], stream: Callable[Concatenate[Any, P], Stream[T]]) -> None:
        self.route, self._stream = route, stream
        self.__doc__, self.__wrapped__ = stream.__doc__, stream

    @overload
    def __get__(self, desk: None, kind: Any) -> ManyMethod[P, T]: ...
    @overload
    def __get__(self, desk: Sync, kind: Any) -> Callable[P, Iterator[T]]: ...
    @overload
    def __get__(self, desk: Async, kind: Any) -> Callable[P, AsyncIterator[T]]: ...
    def __get__(self, desk: Any, kind: Any) -> Any:
        return self if desk is None else _bound(desk, self._stream, desk._line.each)


def _bound(desk: Any, function: Callable[..., Any], drive: Callable[[Any], Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        return drive(function(desk, *args, **named))

    return call


def asks(route: Route[T]) -> Callable[[Callable[Concatenate[Any, P], Fill]], Method[P, T]]:
    """The function only says what to fill the route with."""

    def method(fill: Callable[Concatenate[Any, P], Fill]) -> Method[P, T]:
        @functools.wraps(fill)
        def flow(desk: Resource, /, *args: P.args, **named: P.kwargs) -> Flow[T]:
            return call(desk._manner, route, desk._ids, fill(desk, *args, **named))

        return Method(route, flow)

    return method


def pages(route: Route[Page[T]]) -> Callable[[Callable[Concatenate[Any, P], Fill]], ManyMethod[P, T]]:
    """The same for a list, whose pages are asked for one after the other."""

    def method(fill: Callable[Concatenate[Any, P], Fill]) -> ManyMethod[P, T]:
        @functools.wraps(fill)
        def stream(desk: Resource, /, *args: P.args, **named: P.kwargs) -> Stream[T]:
            return each_of(desk._manner, route, desk._ids, fill(desk, *args, **named))

        return ManyMethod(route, stream)

    return method


def runs(route: Route[Any]) -> Callable[[Callable[Concatenate[Any, P], Flow[T]]], Method[P, T]]:
    """For a function that asks more than once: it is the flow itself."""
    return lambda flow: Method(route, flow)


def tells(route: Route[Any]) -> Callable[[Callable[Concatenate[Any, P], Stream[T]]], ManyMethod[P, T]]:
    """For a function that is the stream itself."""
    return lambda stream: ManyMethod(route, stream)
