"""Findings of an audit: one stable code per kind of inconsistency."""

from __future__ import annotations

import enum
from typing import Any, Self

import msgspec


class Severity(enum.StrEnum):
    """An error contradicts a guarantee; a warning only means that no instance seems to be working."""

    ERROR = "error"
    WARNING = "warning"


class FindingCode(enum.StrEnum):
    """A kind of inconsistency, with its meaning. Surfaces have codes of their own."""

    meaning: str

    def __new__(cls, code: str, meaning: str) -> Self:
        member = str.__new__(cls, code)
        member._value_, member.meaning = code, meaning
        return member


class Code(FindingCode):
    """The kinds of inconsistency of the engine, in the order in which they are reported."""

    EVENT_GAP = "event_gap", "public event ids are missing, or the events stored under them cannot be read"
    DOUBLED_EVENT = "doubled_event", "one public id names two events, or will be assigned again"
    ILLEGAL_TRANSITION = "illegal_transition", "an event that the lifecycle does not allow at its place"
    STATE_MISMATCH = "state_mismatch", "a job is in another state than its last event says"
    LOST_JOB = "lost_job", "an unfinished job is gone, or a job is invisible or has no creation event"
    DOUBLED_JOB = "doubled_job", "one cause made two jobs"
    OVERLAPPING_CLAIMS = "overlapping_claims", "two attempts of one job ran at the same time"
    DOUBLED_CLAIM = "doubled_claim", "one attempt number was claimed or ended twice, or the fence went back"
    MISSING_ATTEMPT = "missing_attempt", "claims, ends and attempts do not match one to one"
    LIMIT_EXCEEDED = "limit_exceeded", "a job started though its queue, role or key was full"
    STARTED_WHILE_PAUSED = "started_while_paused", "a job started though its queue was paused"
    BROKEN_DEPENDENCY = (
        "broken_dependency",
        "a job ran before its dependencies had succeeded, or waits for the wrong number of jobs",
    )
    TALLY_MISMATCH = "tally_mismatch", "the stored counts of a queue differ from a count of its jobs"
    BROKEN_LOG = "broken_log", "a log has lines of an attempt that was never claimed, or the same lines twice"
    BROKEN_INDEX = "broken_index", "the event index of a queue misses a batch with its events, or lists one without"
    BROKEN_DISPATCH = (
        "broken_dispatch",
        "the request of a stream task is missing while its attempt runs, or outlives it",
    )
    STUCK_JOB = "stuck_job", "a job that should have been promoted or recovered a minute ago was not"


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One inconsistency, with the rows that show it."""

    code: FindingCode
    message: str
    severity: Severity = Severity.ERROR
    job_id: str | None = None
    queue: str | None = None
    schedule_id: str | None = None
    rows: tuple[dict[str, Any], ...] = ()
