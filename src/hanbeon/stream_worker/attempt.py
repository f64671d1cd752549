"""One request under way: the reporter of its function."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Any, Protocol

import msgspec

from hanbeon.stream_worker.request import Request, Result, Work, WorkCancelled, WorkFailed

_TEXT_LIMIT = 4_000


class Line(Protocol):
    """The part of a worker that an attempt uses."""

    down: tuple[type[Exception], ...]

    async def add_progress(self, request: Request, fields: Mapping[str, Any]) -> None: ...

    async def is_cancelled(self, request: Request) -> bool: ...


class Attempt:
    """Runs the function of one request. `entries` are those of the stream that ask for it."""

    def __init__(self, line: Line, request: Request, entry_id: str, began_at: float) -> None:
        self._line, self.request, self.entries = line, request, {entry_id}
        self.task: asyncio.Task[None] | None = None
        self.cancelled = False
        self.reported_at: float | None = None
        self.began_at = began_at
        self.last: dict[str, Any] = {"progress": 0, "phase": "", "message": ""}

    @property
    def key(self) -> tuple[str, int]:
        return self.request.job_id, self.request.fence

    async def progress(self, percent: int, phase: str = "", message: str = "") -> None:
        with contextlib.suppress(*self._line.down):
            self.cancelled = self.cancelled or await self._line.is_cancelled(self.request)
        if self.cancelled:
            raise WorkCancelled
        if percent >= self.last["progress"]:
            self.reported_at = asyncio.get_running_loop().time()
            self.last = {"progress": percent, "phase": phase, "message": message[:_TEXT_LIMIT]}
            await self._line.add_progress(self.request, self.last)

    def abandon(self) -> None:
        if self.task is not None:
            self.task.cancel()

    async def result(self, work: Work) -> dict[str, Any]:
        """Do the work, and return the fields of its result."""
        try:
            if self.cancelled:
                raise WorkCancelled
            return {"status": "SUCCEEDED", **_encoded(await work(self.request, self))}
        except WorkCancelled:
            return {"status": "CANCELLED"}
        except WorkFailed as error:
            permanent = {"permanent": "true"} if error.permanent else {}
            return {"status": "FAILED", "errorCode": error.code, "errorMessage": str(error)[:_TEXT_LIMIT], **permanent}
        except Exception as error:
            return {"status": "FAILED", "errorMessage": f"{type(error).__name__}: {error}"[:_TEXT_LIMIT]}


def _encoded(result: Result) -> dict[str, str]:
    fields = {name: str(result[name]) for name in ("resultUri", "checksum") if result.get(name) is not None}
    if "result" in result:
        fields["result"] = msgspec.json.encode(result["result"]).decode()
    return fields
