"""Clean-ups that are cancelled twice, at every await of theirs: nothing stays open."""

import asyncio
import contextlib
import os
import threading
import types
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import psutil
import pytest

from hanbeon.app import App
from hanbeon.cleanup import cleanup, pending, to_the_end
from hanbeon.engine.stream.wire import Wire
from hanbeon.executors.supervisor_client import SupervisorClient
from hanbeon.server.context import ServerContext
from hanbeon.server.server import Server, bound
from tests.databases.valkey import ValkeyServer

CleanUp = Callable[[], Coroutine[Any, Any, Any]]
MOST_STEPS = 200


@types.coroutine
def cancelled_at(work: Coroutine[Any, Any, Any], step: int) -> Generator[Any, Any, int]:
    """Run the work, cancelled where it waits for the nth time and where it waits next; return how often it waited."""
    waits, error = 0, None
    while True:
        try:
            waited = work.send(None) if error is None else work.throw(error)
        except StopIteration:
            return waits
        except asyncio.CancelledError:
            return waits
        waits += 1
        if waits in {step, step + 1}:
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
        if waits == step + 1:  # A program that ends cancels all tasks.
            for other in pending:
                other.cancel()
        error = None
        try:
            yield waited
        except BaseException as raised:
            error = raised


def held() -> Counter[str]:
    """Return what this process holds: threads of connections, files and sockets, and processes."""
    files = []
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):  # That of the folder itself.
            files.append(os.readlink(f"/proc/self/fd/{name}").split(":")[0])
    threads = [each.name for each in threading.enumerate() if each.name.startswith("hanbeon")]
    processes = [str(each.pid) for each in psutil.Process().children()]
    return Counter([*files, *threads, *processes])


@asynccontextmanager
async def store_close(app: App) -> AsyncIterator[CleanUp]:
    await app.open()
    await app.counts()
    transaction = await app.store.begin()
    await transaction.execute("SELECT 1")
    yield app.store.close


@asynccontextmanager
async def abandon(app: App) -> AsyncIterator[CleanUp]:
    async with app:
        yield (await app.store.begin()).abandon


@asynccontextmanager
async def transaction(app: App) -> AsyncIterator[CleanUp]:
    async def block() -> None:
        async with app.transaction() as tx:
            await tx.execute("SELECT 1")

    async with app:
        yield block


@asynccontextmanager
async def opening(app: App) -> AsyncIterator[CleanUp]:
    """One that is stopped before it has ended: all that was opened by then is closed."""

    async def open_and_close() -> None:
        async with app:
            pass

    yield open_and_close


@asynccontextmanager
async def worker_stop(app: App) -> AsyncIterator[CleanUp]:
    await app.open()

    async def stop() -> None:
        async with app:
            await worker.stop()

    worker = app.worker()
    await worker.start()
    yield stop


@asynccontextmanager
async def server(app: App) -> AsyncIterator[CleanUp]:
    with bound("127.0.0.1", 0) as sockets:
        async with app:
            context = ServerContext(app, app.worker())
            context.stopping.set()
            yield Server(context, sockets).run


CASES = [store_close, abandon, transaction, opening, worker_stop]


async def cancel_everywhere(case: Callable[[], AbstractAsyncContextManager[CleanUp]]) -> None:
    async with case() as work:  # Once undisturbed: imports, pools of threads, the event loop's own.
        most = await cancelled_at(work(), MOST_STEPS)
    assert most < MOST_STEPS
    await _until(lambda: not any(each.name.startswith("hanbeon") for each in threading.enumerate()))
    before = held()
    for step in range(1, most + 1):
        async with case() as work:
            await asyncio.create_task(_run(work, step))
            if pending:
                await asyncio.wait(set(pending))
        await _until(lambda: not held() - before)
        assert not held() - before, f"cancelled at await {step}"


async def _run(work: CleanUp, step: int) -> None:
    await cancelled_at(work(), step)


async def _until(met: Callable[[], bool]) -> None:
    """Wait: sockets are closed by the loop's next steps, threads end by themselves."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(20):
            while not met():  # noqa: ASYNC110 - the system tells nobody
                await asyncio.sleep(0.005)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
async def test_nothing_stays_open(database_url: str, case: Any) -> None:
    await cancel_everywhere(lambda: case(App(database_url, shutdown_grace=0.1)))


async def test_no_server_stays_open(sqlite_url: str) -> None:
    await cancel_everywhere(lambda: server(App(sqlite_url, shutdown_grace=0.1)))


async def test_no_process_is_left() -> None:
    @asynccontextmanager
    async def supervised() -> AsyncIterator[CleanUp]:
        supervisor = SupervisorClient()
        running = asyncio.Event()
        supervisor.start(["sleep", "3600"], env=os.environ, gone=lambda _: None, started=running.set)
        await running.wait()
        yield supervisor.close

    await cancel_everywhere(supervised)


async def test_no_wire_stays_open(valkey: ValkeyServer) -> None:
    @asynccontextmanager
    async def connected() -> AsyncIterator[CleanUp]:
        wire = Wire(valkey.url, "test")
        await asyncio.gather(*(wire.epoch() for _ in range(3)))
        yield wire.close

    await cancel_everywhere(connected)


async def test_time_limits_inside_of_a_cleanup_hold() -> None:
    """A clean-up refuses to be cancelled from outside; what it limits itself is another matter."""

    @cleanup
    async def close() -> str:
        try:
            async with asyncio.timeout(0.01):
                await asyncio.get_running_loop().create_future()
        except TimeoutError:
            return "limited"
        return "endless"

    assert await close() == "limited"


async def test_a_cancelled_caller_waits_and_hurries() -> None:
    insisted, done = asyncio.Event(), []

    async def work() -> None:
        await insisted.wait()
        done.append(True)

    task = asyncio.create_task(to_the_end(work(), insisted.set))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert done
