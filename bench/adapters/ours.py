"""Hanbeon: an async task, run on uvloop as by `hanbeon worker`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

from bench.adapters.adapter import Adapter, url
from bench.adapters.marks import mark
from bench.package_graph import package_graph
from hanbeon import App, JobRequest, Task
from hanbeon.cli.event_loop import run

_ROOTS, _WIDTH, _DEPENDENCIES = 8, 1000, 4

app = App(url())


@app.task
async def noop(x: int) -> None:
    mark(x)


def adapter(app: App, noop: Task[[int], None], prepare: Callable[[App], Awaitable[None]] | None = None) -> Adapter:
    """Return the adapter of an App and its measured task. `prepare` is part of its setup."""

    async def setup() -> None:
        await app.migrate()
        if prepare is not None:
            async with app:
                await prepare(app)

    @asynccontextmanager
    async def session() -> AsyncIterator[App]:
        async with app:
            yield app

    async def one(app: App, x: int) -> None:
        await app.enqueue(noop.call(x))

    async def bulk(app: App, xs: Sequence[int]) -> None:
        await app.enqueue_many([noop.call(x) for x in xs])

    def worker(concurrency: int) -> None:
        async def work() -> None:
            async with app:
                await app.worker(concurrency=concurrency).run()

        run(work())

    return Adapter(one, bulk, session, setup, worker, GRAPHS)


Enqueue = Callable[[App], Awaitable[None]]


def graph(count: int) -> Enqueue:
    """Prepare a graph in which all but the first jobs depend on four earlier ones; it widens and then stays wide."""
    requests: list[JobRequest[None]] = []
    for n in range(count):
        request = noop.call(n)
        if n >= _ROOTS:
            first = n - _WIDTH if n >= _WIDTH else n // 2 - _DEPENDENCIES + 1
            request = request.set(after=requests[first : first + _DEPENDENCIES])
        requests.append(request)
    return _enqueue(requests)


def packages(count: int) -> Enqueue:
    """Prepare a graph in the shape of a package archive."""
    requests: list[JobRequest[None]] = []
    for n, dependencies in enumerate(package_graph(count)):
        request = noop.call(n)
        requests.append(request.set(after=[requests[each] for each in dependencies]) if dependencies else request)
    return _enqueue(requests)


def chain(count: int) -> Enqueue:
    """Prepare jobs of which each depends on the one before."""
    requests: list[JobRequest[None]] = []
    for n in range(count):
        request = noop.call(n)
        requests.append(request.set(after=requests[-1:]) if requests else request)
    return _enqueue(requests)


def _enqueue(requests: Sequence[JobRequest[None]]) -> Enqueue:
    async def enqueue(app: App) -> None:
        await app.enqueue_many(requests)

    return enqueue


GRAPHS = {"graph": graph, "packages": packages, "chain": chain}
ADAPTER = adapter(app, noop)
