"""A run of many exports over real processes: a server, workers and a Valkey, all of which are killed.

Everything is driven by how many exports have ended, never by the clock, so that a slow machine has the same run.
"""

from __future__ import annotations

import asyncio
import http.client
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from hanbeon import App
from hanbeon.domain.lifecycle import TERMINAL
from hanbeon.errors import NotFound
from hanbeon.surfaces.exports.jobs import QUEUE
from tests.databases.ports import free_port
from tests.databases.valkey import ValkeyServer
from tests.processes.process import Process
from tests.server.client import Client, Response
from tests.storm.exports.messages import ExportMessages
from tests.storm.exports.stream_worker import Fate
from tests.storm.moments import rows_of, until
from tests.surfaces.exports.export_kit import uploaded

PATIENCE = 240.0
_CREATORS, _WORKERS = 4, 2
_THUMBNAIL_EVERY = 100
_LAST_WIPE = 0.6
"""Exports beyond this share are created after the last loss of Redis: their dead letters are all kept."""


class ExportStorm:
    """Creates exports and disturbs everything. `app` is the test's own view of the database."""

    def __init__(
        self, app: App, valkey: ValkeyServer, folder: Path, *, seed: int, jobs: int, faults: list[str]
    ) -> None:
        self.app, self.valkey, self.folder, self.count = app, valkey, folder, jobs
        self.random = random.Random(seed)
        self.port = free_port()
        self.client = Client(f"http://127.0.0.1:{self.port}")
        self.journal = folder / "journal"
        self.fates: dict[int, Fate | None] = {}
        """By export; None: a thumbnail, which is really rendered."""
        self.cancels: dict[int, bool | None] = {}
        """True: it was accepted; False: it came too late; None: the answer was lost."""
        self.late: set[int] = set()
        """Exports that were created after the last loss of Redis."""
        self.messages = ExportMessages(valkey, self.random)
        self._faults = list(faults)
        self._wiped = asyncio.Event()
        self._server: Process | None = None
        self._workers: list[Process] = []
        self._renderer: Process | None = None
        self._everyone: list[Process] = []

    async def run(self) -> None:
        """Create all exports while the faults happen, and wait until all have ended."""
        replay = await uploaded(self.client)
        order = iter(range(self.count))
        async with asyncio.TaskGroup() as group:
            for _ in range(_CREATORS):
                group.create_task(self._create(replay, order))
            group.create_task(self._disturb())
        await until("the end of all exports", self._all_ended, PATIENCE)

    # Exports

    async def _create(self, replay: int, order: Any) -> None:
        for n in order:
            late = n >= self.count * _LAST_WIPE
            if late:
                await self._wiped.wait()
            thumbnail = n % _THUMBNAIL_EVERY == 5
            fate = None if thumbnail else self.random.choices(list(Fate), [58, 20, 10, 6, 6])[0]
            size = {"width": 160 if fate is None else int(fate), "height": 90}
            path = f"/api/replays/{replay}/exports/{'thumbnail' if thumbnail else 'mp4'}"
            made = await self._surely(partial(self.client.post, path, size, Idempotency_Key=f"{n}"))
            assert made.status == 202, made
            self.fates[made.json["jobId"]] = fate
            if late:
                self.late.add(made.json["jobId"])

    async def _surely(self, ask: Callable[[], Awaitable[Response]]) -> Response:
        """Ask until there is an answer; the key makes it one request."""

        async def once() -> Response | None:
            try:
                answer = await ask()
            except (OSError, http.client.HTTPException):
                return None
            # A repeat may meet the first request, which goes on after its client is gone.
            return None if answer.status in (409, 503) else answer

        return await until("an answer", once, PATIENCE)

    async def ended(self) -> int:
        """How many; from the tallies, since it is asked all the time."""
        try:
            counts = await self.app.counts(QUEUE)
        except NotFound:  # Before the first export.
            return 0
        return sum(counts[state] for state in TERMINAL)

    async def _all_ended(self) -> bool | None:
        return True if await self.ended() == self.count == len(self.fates) else None

    # Faults

    async def _disturb(self) -> None:
        wipes = self._faults.count("lose_redis")
        for n, fault in enumerate(self._faults):
            # All but the last wait are for exports that are created before the last loss of Redis.
            share = (n + 1) / (len(self._faults) + 1) * (1.0 if self._wiped.is_set() else _LAST_WIPE)

            async def reached(share: float = share) -> bool | None:
                return True if await self.ended() >= self.count * share * 0.9 else None

            await until(f"{share:.0%} of the exports", reached, PATIENCE)
            await getattr(self, f"_{fault}")()
            wipes -= fault == "lose_redis"
            if not wipes:
                self._wiped.set()

    async def _lose_redis(self) -> None:
        """Kill Redis with all its data, once what was unreadable so far is known to be in the dead letters."""
        await self.messages.check_letters()
        self.messages.forget_letters()
        self.valkey.restart()

    async def _kill_server(self) -> None:
        assert self._server is not None
        self._server.kill()
        await self.start_server()

    async def _kill_worker(self) -> None:
        self._workers.pop(self.random.randrange(len(self._workers))).kill()
        self._start_worker()

    async def _kill_renderer(self) -> None:
        assert self._renderer is not None
        self._renderer.kill()
        self._start_renderer()

    async def _spoil_messages(self) -> None:
        await self.messages.spoil(sorted(self.fates))

    async def _cancel(self) -> None:
        """Cancel an export, and have its worker report a success all the same."""
        left = sorted(set(self.fates) - set(self.cancels))
        job = max((each for each in left if self.fates[each] is Fate.LONG), default=left[-1])
        try:
            answer = await self.client.post(f"/api/jobs/{job}/cancel")
        except (OSError, http.client.HTTPException):
            self.cancels[job] = None
            return
        assert answer.status in (200, 202, 409), answer
        self.cancels[job] = answer.status != 409
        await self.messages.report_success(job, await self._output_path(job))

    async def _output_path(self, job: int) -> str:
        """Return the path that the first attempt of an export is given."""
        (row,) = await rows_of(self.app.store, f"SELECT root, folder FROM hanbeon.export WHERE id = {job}")
        return str(Path(row["root"], row["folder"], "1.mp4"))

    # Processes

    @property
    def _environment(self) -> dict[str, str]:
        return {
            "HANBEON_REDIS_URL": self.valkey.url,
            "HANBEON_JOBS_EXPORT_PATH": str(self.folder / "exports"),
            "HANBEON_REPLAY_PATH": str(self.folder / "replays"),
            "HANBEON_STOP_GRACE": "1",
        }

    async def start_server(self) -> None:
        words = ["serve", "--database", self.app.settings.database_url, "--port", str(self.port)]
        self._server = self._started(Process("hanbeon", words, self._environment))
        await asyncio.to_thread(
            self._server.wait_for, lambda line: "server_started" in line, "server_started", PATIENCE
        )

    def _start_worker(self) -> None:
        arguments = [self.valkey.url, str(self.journal)]
        self._workers.append(self._started(Process("tests.storm.exports.stream_worker", arguments)))

    def _start_renderer(self) -> None:
        words = ["export-worker", "--type", "THUMBNAIL"]
        # A URL that nobody can open: it has no access to the database.
        without = {**self._environment, "HANBEON_DATABASE_URL": "postgresql://nowhere"}
        self._renderer = self._started(Process("hanbeon", words, without))

    def _started(self, process: Process) -> Process:
        self._everyone.append(process)
        return process

    @asynccontextmanager
    async def started(self) -> AsyncIterator[ExportStorm]:
        try:
            for _ in range(_WORKERS):
                self._start_worker()
            self._start_renderer()
            await self.start_server()
            yield self
        except BaseException as error:
            for process in self._everyone:
                error.add_note(f"{process.name} said:\n{process.remarkable}")
            raise
        finally:
            for process in self._everyone:
                process.end()

    def assert_healthy(self) -> None:
        """Assert that no process reports a defect."""
        for process in self._everyone:
            for word in ("loop_failed", "reply_failed", "Traceback", "was never retrieved"):
                assert word not in process.output, f"{process.name}: {process.output[-4_000:]}"
