"""Writes the progress reported by a command: only the latest, and at a limited rate."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

from hanbeon.errors import HanbeonError, InvalidInput
from hanbeon.logs import get_logger
from hanbeon.tasks.context import AttemptBackend

_log = get_logger("hanbeon.tasks")
_EVERY_SECONDS = 0.25
_END_SECONDS = 5.0
_NOTHING: Any = object()


class ProgressWriter:
    def __init__(self, backend: AttemptBackend) -> None:
        self._backend = backend
        self._latest: Any = _NOTHING
        self._writing: asyncio.Task[None] | None = None
        self._ending = asyncio.Event()
        self.error: str | None = None

    def put(self, value: Any) -> None:
        self._latest = value
        if self._writing is None:
            self._writing = asyncio.get_running_loop().create_task(self._write())

    def finish(self, then: Callable[[], None]) -> None:
        """Call `then` when the last of it is written, or cannot be."""
        if self._writing is None:
            return then()
        self._ending.set()
        timeout = asyncio.get_running_loop().call_later(_END_SECONDS, self._writing.cancel)

        def ended(_: asyncio.Task[None]) -> None:
            timeout.cancel()
            then()

        return self._writing.add_done_callback(ended)

    async def _write(self) -> None:
        while self._latest is not _NOTHING:
            value, self._latest = self._latest, _NOTHING
            try:
                await self._backend.write_progress(value)
            except InvalidInput as error:
                self.error = str(error)
            except HanbeonError as error:
                # The lease is lost, or the database is down: the engine finds out by itself.
                _log.info("progress_not_written", job=self._backend.job.id, error=str(error))
            except Exception as error:
                _log.exception("progress_failed", job=self._backend.job.id)
                self.error = f"progress: {type(error).__name__}"
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_EVERY_SECONDS):
                    await self._ending.wait()
        self._writing = None
