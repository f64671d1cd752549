"""The request of one attempt, as it travels in a stream: top-level fields of text, and `options` as JSON text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
