"""Checks of job ids and queue names given on the command line."""

from __future__ import annotations

from collections.abc import Iterable

from hanbeon.domain.job import is_id
from hanbeon.errors import InvalidInput, NotFound
from hanbeon.quotation import quoted
from hanbeon.rule import Rule
from hanbeon.tasks.options import did_you_mean


def check_ids(ids: Iterable[str]) -> None:
    """Reject the first string that cannot be an id, before anything is done to the other jobs."""
    for job_id in ids:
        if not is_id(job_id):
            raise InvalidInput(
                Rule("must_be", what=Rule("printed_uuid"), got=quoted(job_id)),
                field="id",
            )


def check_queue(name: str, known: Iterable[str], remedy: str = "; `hanbeon queues` lists them") -> None:
    """Reject a queue that does not exist, and suggest the nearest one that does."""
    known = list(known)
    if name not in known:
        raise NotFound(f"there is no queue {quoted(name)}{did_you_mean(name, known) or remedy}")
