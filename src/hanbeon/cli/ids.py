"""Ids of jobs on a command line."""

from __future__ import annotations

from collections.abc import Iterable

from hanbeon.domain.job import is_id
from hanbeon.errors import InvalidInput


def check_ids(ids: Iterable[str]) -> None:
    """Refuse the first that cannot be an id, before anything is done to the others."""
    for job_id in ids:
        if not is_id(job_id):
            raise InvalidInput(
                f"{job_id!r} is not the id of a job; it is a UUID in lower case, as `hanbeon jobs` prints it",
                field="id",
            )
