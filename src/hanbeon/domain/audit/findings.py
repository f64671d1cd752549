"""What an audit can find: one stable code per kind of unsoundness."""

from __future__ import annotations

import enum
from typing import Any

import msgspec


class Severity(enum.StrEnum):
    """An error contradicts a promise; a warning only says that nobody seems to be at work."""

    ERROR = "error"
    WARNING = "warning"


class Code(enum.StrEnum):
    """The kinds of unsoundness, in the order in which they are reported."""

    EVENT_GAP = "event_gap"
    DOUBLED_EVENT = "doubled_event"
    ILLEGAL_TRANSITION = "illegal_transition"
    STATE_MISMATCH = "state_mismatch"
    LOST_JOB = "lost_job"
    DOUBLED_JOB = "doubled_job"
    OVERLAPPING_CLAIMS = "overlapping_claims"
    DOUBLED_CLAIM = "doubled_claim"
    MISSING_ATTEMPT = "missing_attempt"
    LIMIT_EXCEEDED = "limit_exceeded"
    STARTED_WHILE_PAUSED = "started_while_paused"
    BROKEN_DEPENDENCY = "broken_dependency"
    TALLY_MISMATCH = "tally_mismatch"
    BROKEN_LOG = "broken_log"
    BROKEN_INDEX = "broken_index"
    LOST_FIRE = "lost_fire"
    DOUBLED_FIRE = "doubled_fire"
    WRONG_FIRE = "wrong_fire"
    OVERLAPPING_EXECUTIONS = "overlapping_executions"
    STUCK_JOB = "stuck_job"
    STUCK_SCHEDULE = "stuck_schedule"


MEANINGS: dict[Code, str] = {
    Code.EVENT_GAP: "public event ids are missing, or what is written under them cannot be read",
    Code.DOUBLED_EVENT: "one public id stands for two events, or will be given out again",
    Code.ILLEGAL_TRANSITION: "an event that the lifecycle does not allow where it stands",
    Code.STATE_MISMATCH: "a job is in another state than its last event says",
    Code.LOST_JOB: "an unfinished job is gone, or a job nobody can see or has heard of being created",
    Code.DOUBLED_JOB: "one cause made two jobs",
    Code.OVERLAPPING_CLAIMS: "two attempts of one job ran at the same time",
    Code.DOUBLED_CLAIM: "one attempt number was claimed or ended twice, or the fence went back",
    Code.MISSING_ATTEMPT: "claims, ends and attempts do not match one to one",
    Code.LIMIT_EXCEEDED: "a job started though its queue, role or key was full",
    Code.STARTED_WHILE_PAUSED: "a job started though its queue was paused",
    Code.BROKEN_DEPENDENCY: "a job ran before what it depends on had succeeded, or waits for the wrong number of jobs",
    Code.TALLY_MISMATCH: "the numbers that are kept of a queue differ from a count of its jobs",
    Code.BROKEN_LOG: "a log has lines of an attempt that was never claimed, or the same lines twice",
    Code.BROKEN_INDEX: "the index of an office's events misses a batch that tells of it, or names one that does not",
    Code.LOST_FIRE: "a fire came to nothing, or its execution or its line in the history is gone",
    Code.DOUBLED_FIRE: "one fire made two executions, or waits although it was decided",
    Code.WRONG_FIRE: "a schedule fired at an instant that is none of its times, or by a definition of the past",
    Code.OVERLAPPING_EXECUTIONS: "two executions of one task ran at the same time, though each was to run alone",
    Code.STUCK_JOB: "a job that should have been promoted or recovered a minute ago was not",
    Code.STUCK_SCHEDULE: "a schedule that should have been seen to a minute ago was not",
}


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One unsoundness, with the rows that show it."""

    code: Code
    message: str
    severity: Severity = Severity.ERROR
    job_id: str | None = None
    queue: str | None = None
    schedule_id: str | None = None
    rows: tuple[dict[str, Any], ...] = ()
