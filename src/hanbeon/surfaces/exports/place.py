"""Where operators find a job that is an export."""

from __future__ import annotations

import msgspec

from hanbeon.domain.job import JobRecord
from hanbeon.surfaces.exports.jobs import PREFIX, ExportArgs
from hanbeon.surfaces.surface import JobPlace


def place_of_job(job: JobRecord) -> JobPlace | None:
    """An operator may cancel an export as a job; only its owner finds it at its path."""
    if not job.task.startswith(f"{PREFIX}:"):
        return None
    return JobPlace(f"/api/jobs/{msgspec.json.decode(job.args, type=ExportArgs).export_id}", private=True)
