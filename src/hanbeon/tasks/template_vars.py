"""The facts of an attempt for templates, commands and HTTP calls."""

from __future__ import annotations

from typing import Any

from hanbeon.domain.job import Claimed, session_id


def template_vars(job: Claimed) -> dict[str, Any]:
    """Return the values of `{job.…}`, and of `HANBEON_…` for a command."""
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
