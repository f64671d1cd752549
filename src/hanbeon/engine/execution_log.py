"""Log entries of executions: start, end, cause and outcome. Other jobs cost one comparison."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

from hanbeon.clock import iso
from hanbeon.domain.executions import cause_of
from hanbeon.domain.job import Claimed
from hanbeon.domain.lifecycle import TERMINAL
from hanbeon.logs import get_logger
from hanbeon.store.operations.complete import Completed, Recovered

_log = get_logger("hanbeon.engine")


def log_start(job: Claimed, zone: ZoneInfo) -> None:
    """Log the start of an execution's attempt. Call it only if the entry would be written."""
    facts = _facts(job, zone)
    if facts is not None:
        _log.info("execution_started", **facts, retries=job.retry_count)


def log_end(job: Claimed | Recovered, settled: Completed, zone: ZoneInfo) -> None:
    """Log the end of an execution's attempt, and often of the execution."""
    facts = _facts(job, zone)
    if facts is None:
        return
    _log.info(
        "execution_ended" if settled.state in TERMINAL else "execution_retrying",
        **facts,
        ended_at=iso(settled.at, zone, "milliseconds"),
        status=settled.state.value,
        reason=settled.reason.value,
        retries=job.retry_count if settled.retry_count is None else settled.retry_count,
    )


def _facts(job: Claimed | Recovered, zone: ZoneInfo) -> dict[str, Any] | None:
    cause = cause_of(job.idempotency_key)
    if cause is None:
        return None
    return {
        "execution": job.id,
        "task": job.task,
        "type": cause.type.value,
        "schedule": cause.schedule_id,
        "scheduled_at": iso(cause.fire_at, zone, "milliseconds"),
        "started_at": iso(job.started_at, zone, "milliseconds"),
        "attempt": job.fence,
    }
