"""The system under a run: database, Redis, instances, server and stream workers, each of which a phase may hit."""

from __future__ import annotations

import asyncio
import random
import statistics
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple

from bench.cpu_meter import CpuMeter
from hanbeon import App
from tests.databases.ports import free_port
from tests.databases.postgres import PostgresServer
from tests.databases.valkey import ValkeyServer
from tests.outbound.web import Web
from tests.processes.process import Process
from tests.server.client import Client
from tests.storm.chaos.load import LIMITS, NARROW, Load, nothing_left
from tests.storm.chaos.surfaces import Surfaces
from tests.storm.chaos.tasks import make_app
from tests.storm.fleet import DEFECTS, Fleet, WorkerProcess, fleet
from tests.storm.journal import Journal
from tests.storm.moments import make_ledger, rows_of, until
from tests.storm.observer import query
from tests.storm.sizes import TIMEOUT

LEASE = 5.0
_STREAM_WORKERS = 2
_WINDOW = 400
_ENDS = "SELECT min(j.created_at) AS first, max(j.finished_at) AS last FROM hanbeon.job AS j WHERE j.seq > $1"
_WAITS = """
SELECT j.queue, j.started_at - j.created_at AS us FROM hanbeon.jobs AS j WHERE j.seq > $1 AND j.started_at IS NOT NULL
"""
_WRITING = """
SELECT 1 FROM hanbeon.jobs AS j JOIN hanbeon.instance AS i ON i.id = j.locked_by
WHERE j.state = 'running' AND j.task IN ('ledger', 'ledger_threaded', 'ledger_parent') AND i.pid = $1
"""
_LAST = "SELECT coalesce(max(j.seq), 0) AS seq FROM hanbeon.job AS j"


class Gone(NamedTuple):
    """An instance that was killed or frozen: its process, and the microsecond by the clock of this machine."""

    pid: int
    at_us: int


class Throughput(NamedTuple):
    """Plain jobs in a second, the median of windows, and µs of processor time for each, PostgreSQL included."""

    rate: float
    cpu: float


class Site:
    """The running processes. Phases call the methods that break them; `heal` waits until all work again."""

    def __init__(
        self, app: App, workers: Fleet, valkey: ValkeyServer, folder: Path, rng: random.Random, settings: dict[str, Any]
    ) -> None:
        self.app, self.workers, self.valkey, self.folder, self.rng = app, workers, valkey, folder, rng
        self.url = app.settings.database_url
        self.postgres: PostgresServer | None = None
        """The server, where it is the run's own: it may be restarted and filled up."""
        self.disk: Path | None = None
        """The file system of the SQLite file, where it is a small one of its own."""
        self.clock: Literal["steady", "ahead", "back"] = "steady"
        """How the database's clock was set since the beginning."""
        self.gone: list[Gone] = []
        self.faults = 0
        self.journal = Journal(folder / "journal")
        self.throughput = Throughput(0.0, 0.0)
        """As last measured."""
        self.pace = 0.0
        """Jobs of the last load that were done in a second."""
        self.settings = settings
        self._port = free_port()
        self.client = Client(f"http://127.0.0.1:{self._port}")
        self.surfaces: Surfaces
        self.load: Load
        """Of the present phase."""
        self._server: Process | None = None
        self._stream_workers: list[Process] = []
        self._ended: list[Process] = []

    @property
    def is_postgres(self) -> bool:
        return self.url.startswith("postgresql:")

    async def start(self, instances: int) -> None:
        """Start every process and wait until each works."""
        self.workers.start(instances)
        for _ in range(_STREAM_WORKERS):
            self._start_stream_worker()
        await self._start_server()
        await self.workers.ready()

    # Faults

    async def kill_one(self) -> None:
        """SIGKILL a random process: an instance, now and then the server or a stream worker; start another."""
        victim = self.rng.choice([*["instance"] * 6, "server", "stream worker"])
        self.faults += 1
        match victim:
            case "instance":
                worker = self.rng.choice(self.workers.at_work)
                self.workers.kill(worker)
                self.has_gone(worker)
                self.workers.start()
            case "server":
                assert self._server is not None
                self._server.end()
                self.has_gone(self._server)
                await self._start_server()
            case _:
                worker_of_stream = self._stream_workers.pop(self.rng.randrange(_STREAM_WORKERS))
                worker_of_stream.end()
                self._ended.append(worker_of_stream)
                self._start_stream_worker()

    def has_gone(self, process: Process) -> None:
        """Note that this process works no more from now on: others must take over what it ran."""
        self.gone.append(Gone(process.pid, time.time_ns() // 1000))

    async def heal(self) -> None:
        """Wait until every process works again."""
        await self.workers.ready()
        assert self._server is not None
        assert self._server.alive, "the server has ended by itself"

    # Measurements

    async def last_seq(self) -> int:
        """Return the number of the last job."""
        (row,) = await rows_of(self.app.store, _LAST)
        return int(row["seq"])

    async def measure(self, windows: int) -> Throughput:
        """Have nothing but plain jobs run, window by window; the first warms up."""
        assert self._server is not None
        pids = [self._server.pid, *(worker.pid for worker in self.workers.at_work)]
        meter = CpuMeter(pids, None if self.postgres is None else self.postgres.pid)
        await self._window()
        meter.begin()
        rates = [await self._window() for _ in range(windows)]
        self.throughput = Throughput(statistics.median(rates), sum(meter.per_job(windows * _WINDOW).values()))
        return self.throughput

    async def _window(self) -> float:
        """Return the plain jobs in a second, from the creation of the first to the end of the last."""
        since = await self.last_seq()
        quick = self.app.tasks.get("quick")
        await self.app.enqueue_many([quick.call() for _ in range(_WINDOW)])
        await until("the window has ended", lambda: nothing_left(self.app), TIMEOUT)
        (row,) = await rows_of(self.app.store, _ENDS, since)
        return _WINDOW * 1e6 / max(1, int(row["last"]) - int(row["first"]))

    async def waits(self, since: int, *, flooded: bool) -> float:
        """Return the median seconds from creation to start, of jobs in the flooded queue or in all others."""
        rows = await rows_of(self.app.store, _WAITS, since)
        return statistics.median([int(row["us"]) / 1e6 for row in rows if (row["queue"] == "flood") is flooded])

    async def writes(self, worker: WorkerProcess) -> bool:
        """Return true if the instance runs a job that writes a row. Needs no lock, which that job may hold."""
        return bool(await query(self.url, _WRITING, worker.pid))

    # Processes

    async def _start_server(self) -> None:
        if self._server is not None:
            self._ended.append(self._server)
        words = ["serve", "--app", "tests.storm.chaos.served:app", "--port", str(self._port)]
        environment = {f"HANBEON_{name.upper()}": str(value) for name, value in self.settings.items()}
        self._server = Process("hanbeon", words, environment | {"HANBEON_DATABASE_URL": self.url})
        await asyncio.to_thread(self._server.wait_for, lambda line: "server_started" in line, "server_started", TIMEOUT)

    def _start_stream_worker(self) -> None:
        arguments = [self.valkey.url, str(self.journal)]
        self._stream_workers.append(Process("tests.storm.chaos.stream_worker", arguments))

    def everyone(self) -> list[Process]:
        """The processes beside the instances, those that were killed included."""
        return [*self._ended, *self._stream_workers, *([self._server] if self._server is not None else ())]

    def assert_healthy(self) -> None:
        self.workers.assert_healthy()
        for process in self.everyone():
            for word in DEFECTS:
                assert word not in process.output, f"{process.name} reports a defect:\n{process.output[-4000:]}"


@asynccontextmanager
async def site_on(
    url: str, valkey: ValkeyServer, folder: Path, seed: int, instances: int = 3, postgres: PostgresServer | None = None
) -> AsyncIterator[Site]:
    """Start everything on a migrated, empty database. What fails in the block gets the output of all processes."""
    settings: dict[str, Any] = {"lease": LEASE, "poll": 1.0, "redis_url": valkey.url, "stop_grace": 1.0}
    rng = random.Random(seed)
    async with AsyncExitStack() as stack:
        web = await stack.enter_async_context(Web())
        app = await stack.enter_async_context(make_app(url, **settings))
        await make_ledger(app)
        await app.configure_queue(NARROW, **LIMITS)
        workers = stack.enter_context(fleet(url, kind="chaos", settings=settings))
        site = Site(app, workers, valkey, folder, rng, settings)
        site.postgres = postgres
        site.surfaces = Surfaces(app, site.client, web, folder, rng)
        await site.surfaces.prepare()
        try:
            await site.start(instances)
            yield site
            site.assert_healthy()
        except BaseException as error:
            for process in site.everyone():
                error.add_note(f"{process.name} said:\n{process.remarkable}")
            raise
        finally:
            for process in site.everyone():
                process.end()
