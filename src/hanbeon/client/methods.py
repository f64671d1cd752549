"""Methods that are written once for both clients: blocking in `Client`, awaited in `AsyncClient`."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, overload

from hanbeon.client.calls import Page, RetryConfig, call, each_of
from hanbeon.client.flow import Flow, Stream
from hanbeon.client.route import Fill, Route

P = ParamSpec("P")
T = TypeVar("T")


class SyncTransport(Protocol):
    """Runs flows and blocks at each step."""

    def run(self, flow: Flow[T]) -> T: ...
    def each(self, stream: Stream[T]) -> Iterator[T]: ...


class AsyncTransport(Protocol):
    """Runs flows on an event loop."""

    async def run(self, flow: Flow[T]) -> T: ...
    def each(self, stream: Stream[T]) -> AsyncIterator[T]: ...


class Resource:
    """Base of what methods belong to: the transport, the retries, and the ids for the paths."""

    def __init__(self, transport: Any, retry: RetryConfig, ids: Mapping[str, str]) -> None:
        self._transport, self._retry, self._ids = transport, retry, ids


class Sync:
    """A resource whose methods block."""

    _transport: SyncTransport


class Async:
    """A resource whose methods are awaited."""

    _transport: AsyncTransport


class Method(Generic[P, T]):
    """A method that returns one result."""

    def __init__(self, route: Route[Any], flow: Callable[Concatenate[Any, P], Flow[T]]) -> None:
        self.route, self._flow = route, flow
        self.__doc__, self.__wrapped__ = flow.__doc__, flow

    @overload
    def __get__(self, resource: None, kind: Any) -> Method[P, T]: ...
    @overload
    def __get__(self, resource: Sync, kind: Any) -> Callable[P, T]: ...
    @overload
    def __get__(self, resource: Async, kind: Any) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, resource: Any, kind: Any) -> Any:
        return self if resource is None else _bound(resource, self._flow, resource._transport.run)


class ManyMethod(Generic[P, T]):
    """A method that iterates over many results."""

    def __init__(self, route: Route[Any], stream: Callable[Concatenate[Any, P], Stream[T]]) -> None:
        self.route, self._stream = route, stream
        self.__doc__, self.__wrapped__ = stream.__doc__, stream

    @overload
    def __get__(self, resource: None, kind: Any) -> ManyMethod[P, T]: ...
    @overload
    def __get__(self, resource: Sync, kind: Any) -> Callable[P, Iterator[T]]: ...
    @overload
    def __get__(self, resource: Async, kind: Any) -> Callable[P, AsyncIterator[T]]: ...
    def __get__(self, resource: Any, kind: Any) -> Any:
        return self if resource is None else _bound(resource, self._stream, resource._transport.each)


def _bound(resource: Any, function: Callable[..., Any], drive: Callable[[Any], Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        return drive(function(resource, *args, **named))

    return call


def asks(route: Route[T]) -> Callable[[Callable[Concatenate[Any, P], Fill]], Method[P, T]]:
    """Decorate a function that only returns what fills the route."""

    def method(fill: Callable[Concatenate[Any, P], Fill]) -> Method[P, T]:
        @functools.wraps(fill)
        def flow(resource: Resource, /, *args: P.args, **named: P.kwargs) -> Flow[T]:
            return call(resource._retry, route, resource._ids, fill(resource, *args, **named))

        return Method(route, flow)

    return method


def pages(route: Route[Page[T]]) -> Callable[[Callable[Concatenate[Any, P], Fill]], ManyMethod[P, T]]:
    """Decorate a function that fills the route of a list, whose pages are read in turn."""

    def method(fill: Callable[Concatenate[Any, P], Fill]) -> ManyMethod[P, T]:
        @functools.wraps(fill)
        def stream(resource: Resource, /, *args: P.args, **named: P.kwargs) -> Stream[T]:
            return each_of(resource._retry, route, resource._ids, fill(resource, *args, **named))

        return ManyMethod(route, stream)

    return method


def runs(route: Route[Any]) -> Callable[[Callable[Concatenate[Any, P], Flow[T]]], Method[P, T]]:
    """Decorate a function that is a flow itself, because it sends several requests."""
    return lambda flow: Method(route, flow)


def tells(route: Route[Any]) -> Callable[[Callable[Concatenate[Any, P], Stream[T]]], ManyMethod[P, T]]:
    """Decorate a function that is a stream itself."""
    return lambda stream: ManyMethod(route, stream)
