"""Worker processes: to race with each other, and to be killed, frozen and replaced while they work."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from typing import Any, Self

from hanbeon import App
from tests.processes.main import Arguments
from tests.processes.process import Process, together
from tests.storm import tasks

# Short leases, so that a dead worker's jobs are taken over soon; the poll is only a safety net.
QUICK = {"lease": 2.0, "poll": 1.0}
# For `kill_all`: leases that no busy machine loses.
LASTING = {"lease": 60.0, "poll": 1.0}
# Log output of a worker whose database refuses.
NOTICED = ("end_not_written", "database_unavailable")
# Log output that means a defect. An unreachable database is none.
DEFECTS = ("loop_failed", "attempt_crashed", "was never retrieved", "was never awaited")


class WorkerProcess(Process):
    """A process with one or more workers; ready when they are registered and claim."""

    @classmethod
    def start(
        cls,
        url: str,
        module: str = "tests.storm.apps",
        *,
        settings: Mapping[str, Any] | None = None,
        concurrency: int = 10,
        workers: int = 1,
        before: str | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Self:
        """Start a process that runs `workers` workers of the App that `module.make_app(url, **settings)` makes.

        `before` names a function, as `module:function`, to call first. Returns at once; see `wait_ready`.
        """
        arguments = Arguments(url, module, dict(settings or {}), concurrency, workers, before)
        return cls("tests.processes.main", [json.dumps(arguments)], environment)


def worker_processes(count: int, url: str, **options: Any) -> AbstractContextManager[list[WorkerProcess]]:
    """Yield several identical worker processes, all ready, with the settings of production unless others are given."""
    return together(count, lambda _: WorkerProcess.start(url, **options))


class Fleet:
    """Worker processes of one database. Only those that the fleet killed may end, and none may report a defect."""

    def __init__(self, url: str, kind: str = "jobs", **options: Any) -> None:
        self._url, self._kind = url, kind
        self._options: dict[str, Any] = {"settings": QUICK} | options
        self.at_work: list[WorkerProcess] = []
        self._ended: list[WorkerProcess] = []

    def start(self, count: int = 1, **options: Any) -> WorkerProcess:
        """Start more workers and return the last; they are not ready yet."""
        chosen = {"url": self._url} | self._options | options
        chosen["settings"] = {"kind": self._kind} | chosen["settings"]
        for _ in range(count):
            self.at_work.append(WorkerProcess.start(**chosen))
        return self.at_work[-1]

    async def ready(self) -> Fleet:
        await asyncio.gather(*(asyncio.to_thread(worker.wait_ready) for worker in self.at_work))
        return self

    def kill(self, worker: WorkerProcess) -> None:
        """Send SIGKILL, and reap."""
        self._remove(worker)
        worker.end()

    async def kill_all(self, app: App) -> None:
        """Kill every worker, and let the time of their leases pass at once: nothing of theirs runs any more."""
        while self.at_work:
            self.kill(self.at_work[0])
        await app.store.write(lambda tx: tx.fetch("expire_leases"))

    def replace_one(self, rng: random.Random) -> None:
        """Kill a random worker, whatever it is doing, and start another."""
        self.kill(rng.choice(self.at_work))
        self.start()

    async def roll_one(self, rng: random.Random) -> None:
        """Start another worker and stop one of the others cleanly."""
        worker = rng.choice(self.at_work)
        self._remove(worker)
        self.start()
        await asyncio.to_thread(worker.wait_ready)  # Before it is ready, SIGTERM simply ends it.
        await asyncio.to_thread(worker.stop)

    @property
    def noticed(self) -> int:
        """How often those at work have said that the database refuses."""
        return sum(worker.output.count(word) for worker in self.at_work for word in NOTICED)

    def ended(self, worker: WorkerProcess) -> None:
        """Note that this worker was asked to stop and has ended."""
        self.at_work.remove(worker)
        self._ended.append(worker)

    def _remove(self, worker: WorkerProcess) -> None:
        assert worker.alive, f"{worker.name} has ended by itself; it said:\n{worker.output}"
        self.ended(worker)

    def assert_healthy(self) -> None:
        for worker in self.at_work:
            assert worker.alive, f"{worker.name} has ended by itself; it said:\n{worker.output}"
        for worker in (*self.at_work, *self._ended):
            before, defect, after = _split_at_defect(worker.output)
            assert not defect, f"{worker.name} reports a defect:\n{before[-1000:]}{defect}{after[:4000]}"

    def end(self) -> None:
        for worker in (*self.at_work, *self._ended):
            worker.end()

    def note(self, error: BaseException) -> None:
        for worker in (*self.at_work, *self._ended):
            error.add_note(f"{worker.name} said:\n{worker.remarkable}")


def _split_at_defect(output: str) -> tuple[str, str, str]:
    return next((output.partition(word) for word in DEFECTS if word in output), (output, "", ""))


@contextmanager
def fleet(url: str, **options: Any) -> Iterator[Fleet]:
    """Yield a fleet whose workers do not outlive the block. If the block fails, their output is added to its error."""
    made = Fleet(url, **options)
    try:
        yield made
        made.assert_healthy()
    except BaseException as error:
        made.note(error)
        raise
    finally:
        made.end()


@asynccontextmanager
async def opened(url: str, **settings: Any) -> AsyncIterator[App]:
    """Open an App without workers on a freshly migrated database."""
    app = tasks.make_app(url, **settings)
    await app.migrate()
    async with app:
        yield app
