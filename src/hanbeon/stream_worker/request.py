"""The request of one attempt, as it travels in a stream, and the interface between a worker's function and runner."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

import msgspec

_FIELDS = frozenset({"jobId", "jobType", "options"})


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt of a job. `options["fence"]` is the number of the attempt; `options["args"]` a job's arguments.

    `more` holds the other top-level fields of the message, such as `replayId`.
    """

    job_id: str
    job_type: str
    options: dict[str, Any] = {}
    more: dict[str, str] = {}

    @property
    def fence(self) -> int:
        """The number of the attempt; echoed by progress and results, so that late ones are told from present ones."""
        return int(self.options["fence"])

    @property
    def args(self) -> dict[str, Any]:
        """The arguments of the job."""
        return dict(self.options.get("args", {}))

    def to_fields(self) -> dict[str, str]:
        """Return the fields of the stream's entry."""
        options = msgspec.json.encode(self.options).decode()
        return {"jobId": self.job_id, "jobType": self.job_type, **self.more, "options": options}

    @classmethod
    def from_fields(cls, fields: Mapping[str, str]) -> Request:
        """Read an entry. Raises ValueError if it is not a request."""
        try:
            options = msgspec.json.decode(fields["options"])
            int(options["fence"])
            more = {name: value for name, value in fields.items() if name not in _FIELDS}
            return cls(job_id=fields["jobId"], job_type=fields["jobType"], options=dict(options), more=more)
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"not a request: {type(error).__name__}: {error}") from error


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
