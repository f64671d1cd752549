"""A job of a chain before it is enqueued."""

from __future__ import annotations

from typing import Any

import msgspec

from hanbeon.surfaces.chains.vocabulary import EMPTY_ARGS, EXPIRED_SECONDS, NO_OPERATION, UNINIT, UNLINK
from hanbeon.surfaces.chains.walk import initial_state


class ChainJob(msgspec.Struct, frozen=True, kw_only=True):
    """A job for `app.chains.enqueue(queue_id, job)`: `ChainJob(forward_operation="book", backward_operation="unbook")`.

    It is linked to other jobs, and gets its number, when it is enqueued. Until then its state is NOLIB if it names no
    library; there it takes the library of its chain.
    """

    forward_operation: str = NO_OPERATION
    backward_operation: str = NO_OPERATION
    arguments: Any = EMPTY_ARGS
    operation_library: str = UNINIT
    expired_time: float = EXPIRED_SECONDS

    @property
    def state(self) -> str:
        return initial_state(self.operation_library)

    @property
    def job_return(self) -> str:
        return UNINIT

    @property
    def next_job(self) -> str:
        return UNLINK

    @property
    def prev_job(self) -> str:
        return UNLINK

    def fields(self) -> dict[str, Any]:
        """Return the fields of a request to enqueue it."""
        return msgspec.structs.asdict(self)
