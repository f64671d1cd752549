"""Enqueues whose answer may be lost with the connection: decision 0030."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hanbeon.domain.job import NewJob
from hanbeon.errors import DatabaseUnavailable

if TYPE_CHECKING:
    from hanbeon.store.operations.enqueue import Enqueued
    from hanbeon.store.store import Store


async def enqueue_once(store: Store, jobs: Sequence[NewJob]) -> list[Enqueued]:
    """Create all of the jobs or none. If the answer is lost, find out: the same ids again create what is missing.

    If that is not answered either, the error has the ids, for the caller to try again.
    """
    try:
        return await store.enqueue(jobs)
    except DatabaseUnavailable:
        try:
            return await store.enqueue(jobs)
        except DatabaseUnavailable as error:
            error.ids = tuple(job.id for job in jobs)
            raise
