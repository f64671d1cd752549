"""Conversion of rows to records, and the numbering of lanes."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, TypeVar

import msgspec

from hanbeon.domain.job import OF_EXCEPTION, AttemptRecord, JobRecord
from hanbeon.domain.outcome import ExceptionText
from hanbeon.domain.retry import RetryPolicy

R = TypeVar("R", bound=msgspec.Struct)
LANE_BITS = 32
LANE_MASK = (1 << LANE_BITS) - 1
ALL_LANES = (0, 2**63 - 1)

_policies = msgspec.json.Decoder(RetryPolicy)


def lane_number(queue_id: int, n: int) -> int:
    """Return a lane as one number that sorts by queue first."""
    return queue_id << LANE_BITS | n


def queue_of(lane: int) -> int:
    return lane >> LANE_BITS


def lanes_of_queue(queue_id: int) -> tuple[int, int]:
    """Return the half-open range of a queue's lanes."""
    return queue_id << LANE_BITS, (queue_id + 1) << LANE_BITS


def free_since(row: Any) -> int:
    """Return the instant since when the job was only waiting for a worker."""
    since: int = max(row["run_at"], row["created_at"], row["free_at"] or 0)
    return since


@lru_cache(maxsize=1024)
def policy_of(text: str) -> RetryPolicy:
    return _policies.decode(text)


@lru_cache(maxsize=1024)
def policy_text(policy: RetryPolicy) -> str:
    return msgspec.json.encode(policy).decode()


def job_record(row: Any) -> JobRecord:
    return _record(JobRecord, row, policy=policy_of(row["policy"]), **dict.fromkeys(OF_EXCEPTION))


def attempt_record(row: Any, exception: ExceptionText | None = None) -> AttemptRecord:
    if exception is None:
        return _record(AttemptRecord, row, exception=None, traceback=None)
    return _record(AttemptRecord, row, exception=exception.name, traceback=exception.traceback)


def _record(kind: type[R], row: Any, **given: Any) -> R:
    values: dict[str, Any] = {name: row[name] for name in kind.__struct_fields__ if name not in given}
    for name in ("id", "job_id", "replaced_by"):
        if values.get(name) is not None:
            values[name] = str(values[name])
    # Not strict: SQLite has no booleans of its own.
    return msgspec.convert(values | given, kind, strict=False)
