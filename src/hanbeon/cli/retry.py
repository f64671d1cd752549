"""`hanbeon retry`"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hanbeon.cli.options import Database, JobIds, Json

if TYPE_CHECKING:
    from hanbeon.cli.source.source import Source
    from hanbeon.domain.lifecycle import State


def retry(ids: JobIds, database: Database = None, json: Json = False) -> None:
    """Retry failed or cancelled jobs, with their full number of retries."""
    from hanbeon.cli.bulk_jobs import for_each_job

    for_each_job(database, ids, _retry, json=json)


async def _retry(source: Source, job_id: str) -> State:
    return await source.retry(job_id)
