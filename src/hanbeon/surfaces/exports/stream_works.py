"""The reference worker of exports: renders requests that come over Redis, with no access to the database."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from hanbeon.errors import PermanentError
from hanbeon.settings import Settings
from hanbeon.stream_worker import Reporter, Request, Result, Work, WorkCancelled, WorkFailed
from hanbeon.surfaces.exports.export_run import check_input, render_export
from hanbeon.surfaces.exports.jobs import JobType
from hanbeon.surfaces.exports.paths import export_root, replay_root
from hanbeon.surfaces.exports.rendering.export_work import ProgressPace
from hanbeon.surfaces.exports.rendering.renderer import Cancelled


class _Progress(NamedTuple):
    percent: int
    phase: str
    message: str


class ThreadReport:
    """Carries progress from the thread that renders to the reporter. The thread never waits for Redis."""

    def __init__(self, reporter: Reporter) -> None:
        self._reporter, self._loop = reporter, asyncio.get_running_loop()
        self._pace = ProgressPace()
        self._latest: _Progress | None = None
        self._sent: _Progress | None = None
        self._arrived = asyncio.Event()
        self.abandoned = False

    # Called in the thread.

    @property
    def cancelled(self) -> bool:
        return self.abandoned or self._reporter.cancelled

    def progress(self, percent: int, phase: str, message: str) -> None:
        if self._pace.is_due(percent, phase):
            self._latest = _Progress(percent, phase, message)
            with contextlib.suppress(RuntimeError):  # The loop is gone, and `abandoned` ends the rendering.
                self._loop.call_soon_threadsafe(self._arrived.set)

    # Called in the loop.

    async def send(self) -> None:
        """Report the latest progress whenever there is any, until cancelled."""
        while True:
            await self._arrived.wait()
            self._arrived.clear()
            await self.send_latest()

    async def send_latest(self) -> None:
        """Report the latest progress, unless that has been done."""
        latest = self._latest
        if latest is not None and latest is not self._sent:
            with contextlib.suppress(WorkCancelled):  # The thread sees it, too.
                await self._reporter.progress(*latest)
            self._sent = latest


def stream_works(settings: Settings, pool: ThreadPoolExecutor, types: Collection[JobType]) -> dict[str, Work]:
    """Return the functions that render these types in the threads of the pool, below the folders of the settings.

    A message may come from anybody who can write to Redis: no path outside of these folders is read or written.
    """
    exports, replays = export_root(settings), replay_root(settings)

    async def work(request: Request, reporter: Reporter) -> Result:
        report = ThreadReport(reporter)
        sending = asyncio.create_task(report.send())
        rendering = asyncio.get_running_loop().run_in_executor(pool, _render, exports, replays, request, report)
        try:
            done = await asyncio.shield(rendering)
            # The result ends the attempt: progress that is still on its way would come too late.
            sending.cancel()
            await asyncio.wait([sending])
            await report.send_latest()
            return done
        except Cancelled:
            raise WorkCancelled from None
        except PermanentError as error:
            raise WorkFailed(error.failure_type, str(error), permanent=True) from None
        finally:
            # Where the worker gives up, the thread ends with its next frame.
            report.abandoned = True
            sending.cancel()
            await asyncio.wait([rendering])

    return {each.value: work for each in types}


def _render(exports: Path, replays: Path, request: Request, report: ThreadReport) -> dict[str, Any]:
    check_input(replays, str(request.options.get("inputPath", "")))
    return render_export(exports, request.job_type, request.options, report)
