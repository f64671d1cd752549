"""What templates, programs and servers are told of an attempt."""

from __future__ import annotations

from typing import Any

from hanbeon.domain.job import Claimed, session_id


def template_vars(job: Claimed) -> dict[str, Any]:
    """What `{job.…}` stands for, and `HANBEON_…` of a command."""
    return {
        "id": job.id,
        "task": job.task,
        "queue": job.queue,
        "role": job.role,
        "attempt": job.fence,
        "fence": job.fence,
        "retry_count": job.retry_count,
        "session_id": session_id(job.id, job.fence),
    }
