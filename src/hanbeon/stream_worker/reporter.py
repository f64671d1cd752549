"""The interface between a worker's function and whatever runs it: Redis, or the process of the server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from hanbeon.stream_worker.request import Request

Result = Mapping[str, Any]
"""The fields of a success: `resultUri` and `checksum`, or `result` with any JSON value; all are optional."""


class WorkCancelled(Exception):
    """The job was cancelled, or the attempt is no longer the present one: clean up, and let this pass."""


class WorkFailed(Exception):
    """The attempt failed. `code` becomes the job's `errorCode` and failure type."""

    def __init__(self, code: str, message: str = "", *, permanent: bool = False) -> None:
        super().__init__(message or code)
        self.code, self.permanent = code, permanent


class Reporter(Protocol):
    """Reports to the server while the work goes on, and tells whether it should."""

    @property
    def cancelled(self) -> bool:
        """True once the work should stop. Looked up at least every second, whatever the work does."""
        ...

    async def progress(self, percent: int, phase: str = "", message: str = "") -> None:
        """Report progress from 0 to 100; lower than before is ignored. Raises WorkCancelled if the work should stop."""
        ...


Work = Callable[[Request, Reporter], Awaitable[Result]]
"""The function of a stream task. Any other exception than the two above is a failure of type `error`."""
