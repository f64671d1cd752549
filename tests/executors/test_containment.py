"""SystemExit and KeyboardInterrupt of a body fail its attempt; the event loop and the other jobs on it go on."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest
import uvloop

from hanbeon import App, State
from hanbeon.domain.outcome import Outcome, Raised, Returned
from hanbeon.executors.coroutine import AsyncExecutor
from hanbeon.executors.executor import StopCause
from hanbeon.guarded_task import guard_all_tasks
from tests.cli.workers import Running
from tests.executors.backend import Started, new_call

T = TypeVar("T")
FOREVER = 3600.0
LOOPS = {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}


class Fuse:
    """Raises when it is called."""

    def __init__(self, error: type[BaseException]) -> None:
        self._error = error

    def __call__(self, *_: Any) -> None:
        raise self._error(3)

    async def later(self) -> None:
        await asyncio.sleep(0)
        self()


async def directly(fuse: Fuse) -> None:
    await fuse.later()


async def after_a_pause(fuse: Fuse) -> None:
    await asyncio.sleep(0.001)
    fuse()


async def of_its_own_task(fuse: Fuse) -> None:
    """Raise in a method of the body's task that is no step of it."""

    class Explosive(asyncio.Future[None]):
        used = False

        def cancel(self, msg: Any = None) -> bool:
            if not self.used:
                self.used = True
                fuse()
            return super().cancel(msg)

    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().call_soon(task.cancel)
    await Explosive()


async def awaited(fuse: Fuse) -> None:
    await asyncio.create_task(fuse.later())


async def left_alone(fuse: Fuse) -> None:
    child = asyncio.create_task(fuse.later())
    await asyncio.sleep(FOREVER)
    await child


async def nested(fuse: Fuse) -> None:
    async def child() -> None:
        await asyncio.gather(fuse.later(), asyncio.sleep(FOREVER))

    await asyncio.create_task(child())


async def group(fuse: Fuse) -> None:
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(fuse.later())
        tasks.create_task(asyncio.sleep(FOREVER))


async def timed_out(fuse: Fuse) -> None:
    await asyncio.wait_for(fuse.later(), FOREVER)


async def soon(fuse: Fuse) -> None:
    asyncio.get_running_loop().call_soon(fuse)
    await asyncio.sleep(FOREVER)


async def timer(fuse: Fuse) -> None:
    asyncio.get_running_loop().call_later(0.001, fuse)
    await asyncio.sleep(FOREVER)


async def instant(fuse: Fuse) -> None:
    loop = asyncio.get_running_loop()
    loop.call_at(loop.time() + 0.001, fuse)
    await asyncio.sleep(FOREVER)


async def threadsafe(fuse: Fuse) -> None:
    loop = asyncio.get_running_loop()
    await asyncio.to_thread(loop.call_soon_threadsafe, fuse)
    await asyncio.sleep(FOREVER)


async def of_a_future(fuse: Fuse) -> None:
    future = asyncio.get_running_loop().create_future()
    future.add_done_callback(fuse)
    future.set_result(None)
    await asyncio.sleep(FOREVER)


async def reader(fuse: Fuse) -> None:
    ours, theirs = os.pipe()
    loop = asyncio.get_running_loop()
    os.write(theirs, b"x")
    loop.add_reader(ours, fuse)
    try:
        await asyncio.sleep(FOREVER)
    finally:
        loop.remove_reader(ours)
        os.close(ours)
        os.close(theirs)


async def swallowed(fuse: Fuse) -> str:
    with contextlib.suppress(SystemExit, KeyboardInterrupt):
        await asyncio.create_task(fuse.later())
    return "a success?"


WAYS: list[Callable[[Fuse], Awaitable[Any]]] = [
    directly,
    after_a_pause,
    of_its_own_task,
    awaited,
    left_alone,
    nested,
    group,
    timed_out,
    soon,
    timer,
    instant,
    threadsafe,
    of_a_future,
    reader,
    swallowed,
]


def run(loop: str, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run it on a loop of this kind; an exit that reaches the loop is a failure of the test and no end of it."""
    with asyncio.Runner(loop_factory=LOOPS[loop]) as runner:
        try:
            return runner.run(work())
        except (SystemExit, KeyboardInterrupt) as error:
            pytest.fail(f"the loop was ended by {error!r}")


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt])
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("loop", LOOPS)
def test_exits_of_a_body_are_failures(loop: str, way: Any, error: type[BaseException]) -> None:
    @App().task
    async def work(explode: bool) -> Any:
        if explode:
            return await way(Fuse(error))
        return await asyncio.sleep(0.01, "unharmed")

    async def both() -> list[Outcome | None]:
        executor = AsyncExecutor()
        started = [Started(executor, new_call(work, explode=each)[0]) for each in (True, False)]
        outcomes = [await each.within() for each in started]
        # Bodies of a task that waits have tasks of their own from now on.
        own = [Started(executor, new_call(work, explode=each)[0]) for each in (False, True)]
        return outcomes + [await each.within() for each in own]

    failure, unharmed = Raised(f"{error.__name__}: 3"), Returned('"unharmed"')
    assert run(loop, both) == [failure, unharmed, unharmed, failure]


class Exploding(asyncio.Protocol):
    def data_received(self, data: bytes) -> None:
        raise SystemExit(3)


@pytest.mark.parametrize("loop", LOOPS)
def test_exits_of_a_protocol_do_not_end_the_loop(loop: str) -> None:
    @App().task
    async def work() -> None:
        server = await asyncio.get_running_loop().create_server(Exploding, "127.0.0.1", 0)
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        try:
            writer.write(b"x")
            await reader.read()  # Until the other side is closed, which uvloop does by itself.
        finally:
            writer.close()
            server.close()

    async def main() -> Outcome | None:
        return await Started(AsyncExecutor(), new_call(work)[0]).within()

    assert run(loop, main) == (Returned() if loop == "uvloop" else Raised("SystemExit: 3"))


@pytest.mark.parametrize("loop", LOOPS)
def test_exits_outside_of_bodies_end_the_loop(loop: str) -> None:
    @App().task
    async def work() -> None:
        await asyncio.sleep(0)

    async def main() -> None:
        await Started(AsyncExecutor(), new_call(work)[0]).within()
        asyncio.get_running_loop().call_soon(Fuse(SystemExit))
        await asyncio.sleep(FOREVER)

    with asyncio.Runner(loop_factory=LOOPS[loop]) as runner, pytest.raises(SystemExit):
        runner.run(main())


PROGRAM = """
import asyncio
import sys

from hanbeon import App, State

app = App()


@app.task(retries=0)
async def explode(a: int, b: int) -> None:
    asyncio.get_running_loop().call_soon(sys.exit, 3)
    asyncio.create_task(child())
    await asyncio.sleep(3600)


async def child() -> None:
    raise KeyboardInterrupt


@app.task
async def add(a: int, b: int) -> int:
    return a + b
"""


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM], ids=lambda each: each.name)
async def test_worker_outlives_exits_and_obeys_signals(database_url: str, tmp_path: Path, stop: signal.Signals) -> None:
    (tmp_path / "exiting.py").write_text(PROGRAM)
    program = ("worker", "--app", "exiting:app", "--database", database_url, "--concurrency", "1")
    async with App(database_url) as app:
        for name in ("explode", "add"):
            app.task(name=name, retries=0)(_stranger)
        with Running(*program, cwd=tmp_path) as worker:
            worker.until("worker_started")
            for _ in range(2):
                failed = await app.enqueue("explode", {"a": 0, "b": 0})
                assert (await failed.wait(60)).error_message in ("SystemExit: 3", "KeyboardInterrupt: ")
            assert await (await app.enqueue("add", {"a": 2, "b": 3})).result(60) == 5
            worker.process.send_signal(stop)
            worker.until("worker_stopped")
            assert worker.process.wait(60) == 0


async def _stranger(a: int, b: int) -> int:
    raise AssertionError("it runs in the worker")


async def cancels_all() -> str:
    """Cancel everything that the loop has, and wait for the others to end."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in [*others, *asyncio.all_tasks()]:
        task.cancel()
    await asyncio.sleep(FOREVER)
    return "not cancelled"


async def cancels_all_later() -> str:
    async def child() -> None:
        for task in asyncio.all_tasks():
            task.cancel()

    await asyncio.create_task(child())
    await asyncio.sleep(FOREVER)
    return "not cancelled"


async def cancels_all_by_timer() -> str:
    asyncio.get_running_loop().call_later(0.001, lambda: [task.cancel() for task in asyncio.all_tasks()])
    await asyncio.sleep(FOREVER)
    return "not cancelled"


async def cancels_all_from_a_thread() -> str:
    loop = asyncio.get_running_loop()
    await asyncio.to_thread(loop.call_soon_threadsafe, lambda: [task.cancel() for task in asyncio.all_tasks()])
    await asyncio.sleep(FOREVER)
    return "not cancelled"


async def stops_the_loop() -> str:
    asyncio.get_running_loop().stop()
    return "not refused"


async def shuts_the_executor_down() -> str:
    await asyncio.get_running_loop().shutdown_default_executor()
    return "not refused"


ITSELF = Raised("RuntimeError: the task cancelled itself")
ENDS: dict[Callable[[], Awaitable[Any]], Outcome] = {
    cancels_all: ITSELF,
    cancels_all_later: ITSELF,
    cancels_all_by_timer: ITSELF,
    cancels_all_from_a_thread: ITSELF,
    stops_the_loop: Raised("RuntimeError: a task must not call stop() of the event loop: its worker runs there"),
    shuts_the_executor_down: Raised(
        "RuntimeError: a task must not call shutdown_default_executor() of the event loop: its worker runs there"
    ),
}


@pytest.mark.parametrize("waits", [False, True], ids=["at once", "after a wait"])
@pytest.mark.parametrize("way", ENDS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("loop", LOOPS)
def test_body_that_ends_the_loop_fails_alone(loop: str, way: Any, waits: bool) -> None:
    @App().task
    async def work(harm: bool) -> Any:
        if not harm:
            return await asyncio.sleep(0.05, "unharmed")
        if waits:
            await asyncio.sleep(0)
        return await way()

    async def all_three() -> list[Outcome | None]:
        executor = AsyncExecutor()
        started = [Started(executor, new_call(work, harm=each)[0]) for each in (False, True, False)]
        outcomes = [await each.within() for each in started]
        await asyncio.to_thread(lambda: None)
        return outcomes

    with asyncio.Runner(loop_factory=LOOPS[loop]) as runner:
        guard_all_tasks(runner.get_loop())
        outcomes = runner.run(all_three())
    assert outcomes == [Returned('"unharmed"'), ENDS[way], Returned('"unharmed"')]


@pytest.mark.parametrize("loop", LOOPS)
def test_stop_of_a_body_reaches_no_other_task(loop: str) -> None:
    """A body that waits for all tasks of the loop passes the cancellation on to them."""

    async def main() -> tuple[bool, Outcome | None]:
        mine, free = asyncio.current_task(), asyncio.Event()

        @App().task
        async def work() -> None:
            await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task(), mine})

        other = asyncio.create_task(free.wait())
        started = Started(AsyncExecutor(), new_call(work)[0])
        await asyncio.sleep(0.01)
        started.stop(StopCause.DEADLINE)
        started.escalate()
        await asyncio.sleep(0.01)
        assert not other.done()
        free.set()
        return await other, await started.within()

    with asyncio.Runner(loop_factory=LOOPS[loop]) as runner:
        guard_all_tasks(runner.get_loop())
        assert runner.run(main()) == (True, None)


HARMFUL = """
import asyncio

from hanbeon import App, State

app = App()


@app.task(retries=0)
async def harm(way: str) -> None:
    if way == "cancel":
        for task in asyncio.all_tasks():
            task.cancel()
        await asyncio.sleep(3600)
    if way == "later":
        await asyncio.sleep(0.01)
        for task in asyncio.all_tasks():
            task.cancel()
    asyncio.get_running_loop().stop()


@app.task
async def beside(way: str) -> str:
    await asyncio.sleep(0.5)
    return way
"""


@pytest.mark.parametrize("command", ["worker", "serve"])
async def test_process_outlives_a_body_that_cancels_all(database_url: str, tmp_path: Path, command: str) -> None:
    (tmp_path / "harmful.py").write_text(HARMFUL)
    program = [command, "--app", "harmful:app", "--database", database_url]
    program += ["--port", "0"] if command == "serve" else []
    async with App(database_url) as app:
        for name in ("harm", "beside"):
            app.task(name=name, retries=0)(_bystander)
        with Running(*program, cwd=tmp_path) as process:
            process.until("worker_started")
            beside = await app.enqueue("beside", {"way": "unharmed"})
            for way in ("cancel", "later", "stop"):
                failed = await app.enqueue("harm", {"way": way})
                record = await failed.wait(60)
                assert record.state == State.FAILED, record
            assert await beside.result(60) == "unharmed"
            assert len(await beside.attempts()) == 1
            assert await (await app.enqueue("beside", {"way": "again"})).result(60) == "again"
            process.process.send_signal(signal.SIGTERM)
            process.until("worker_stopped")
            assert process.process.wait(60) == 0


async def _bystander(way: str) -> str:
    raise AssertionError("it runs in the worker")


async def test_embedded_worker_outlives_cancelled_tasks(sqlite_url: str) -> None:
    """In a program of somebody else, the program's own tasks are its own; the worker's are guarded."""
    mine = asyncio.current_task()
    async with App(sqlite_url) as app:

        @app.task(retries=0)
        async def harm() -> None:
            for task in asyncio.all_tasks():
                if task is not mine:
                    task.cancel()
            await asyncio.sleep(FOREVER)

        @app.task
        async def add(a: int, b: int) -> int:
            return a + b

        async with app.worker():
            for _ in range(3):
                failed = await (await app.enqueue(harm.call())).wait(60)
                assert failed.error_message == "RuntimeError: the task cancelled itself"
                assert await (await app.enqueue(add.call(2, 3))).result(60) == 5
