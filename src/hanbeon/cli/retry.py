"""`hanbeon retry`"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hanbeon.cli.options import Database, JobIds, Json

if TYPE_CHECKING:
    from hanbeon.domain.lifecycle import State
    from hanbeon.surfaces.installation import Installation


def retry(ids: JobIds, database: Database = None, json: Json = False) -> None:
    """Retry failed or cancelled jobs, with their full number of retries."""
    from hanbeon.cli.bulk_jobs import for_each_job

    for_each_job(database, ids, _retry, json=json)


async def _retry(installation: Installation, job_id: str) -> State:
    return (await installation.engine.retry(job_id)).state
