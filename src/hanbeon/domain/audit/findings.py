"""Findings of an audit: one stable code per kind of inconsistency."""

from __future__ import annotations

import enum
from typing import Any

import msgspec


class Severity(enum.StrEnum):
    """An error contradicts a guarantee; a warning only means that no instance seems to be working."""

    ERROR = "error"
    WARNING = "warning"


class Code(enum.StrEnum):
    """The kinds of inconsistency, in the order in which they are reported."""

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
    STRANDED_CHAIN = "stranded_chain"
    BROKEN_WALK = "broken_walk"
    BROKEN_CHAIN = "broken_chain"
    BROKEN_DISPATCH = "broken_dispatch"
    STRANDED_EXPORT = "stranded_export"
    MISSING_FILE = "missing_file"
    WRONG_USAGE = "wrong_usage"
    STRANDED_WORKFLOW = "stranded_workflow"
    BROKEN_RUN = "broken_run"
    STUCK_JOB = "stuck_job"
    STUCK_SCHEDULE = "stuck_schedule"


MEANINGS: dict[Code, str] = {
    Code.EVENT_GAP: "public event ids are missing, or the events stored under them cannot be read",
    Code.DOUBLED_EVENT: "one public id names two events, or will be assigned again",
    Code.ILLEGAL_TRANSITION: "an event that the lifecycle does not allow at its place",
    Code.STATE_MISMATCH: "a job is in another state than its last event says",
    Code.LOST_JOB: "an unfinished job is gone, or a job is invisible or has no creation event",
    Code.DOUBLED_JOB: "one cause made two jobs",
    Code.OVERLAPPING_CLAIMS: "two attempts of one job ran at the same time",
    Code.DOUBLED_CLAIM: "one attempt number was claimed or ended twice, or the fence went back",
    Code.MISSING_ATTEMPT: "claims, ends and attempts do not match one to one",
    Code.LIMIT_EXCEEDED: "a job started though its queue, role or key was full",
    Code.STARTED_WHILE_PAUSED: "a job started though its queue was paused",
    Code.BROKEN_DEPENDENCY: "a job ran before its dependencies had succeeded, or waits for the wrong number of jobs",
    Code.TALLY_MISMATCH: "the stored counts of a queue differ from a count of its jobs",
    Code.BROKEN_LOG: "a log has lines of an attempt that was never claimed, or the same lines twice",
    Code.BROKEN_INDEX: "the event index of a queue misses a batch with its events, or lists one without",
    Code.LOST_FIRE: "a fire had no effect, or its execution or its line in the history is gone",
    Code.DOUBLED_FIRE: "one fire made two executions, or waits although it was decided",
    Code.WRONG_FIRE: "a schedule fired at an instant that is not one of its times, or by an earlier definition",
    Code.OVERLAPPING_EXECUTIONS: "two executions of one task ran at the same time, though each was to run alone",
    Code.STRANDED_CHAIN: "a chain is running, but no unfinished job of the engine runs its step",
    Code.BROKEN_WALK: "a run of a chain did other operations than its walk, or in another order",
    Code.BROKEN_CHAIN: "a job of a chain shows a state that its steps did not leave, or a step ended unlike its job",
    Code.BROKEN_DISPATCH: "the request of a stream task is missing while its attempt goes on, or outlives it",
    Code.STRANDED_EXPORT: "an export without its job or its replay, or a job of an export without it",
    Code.MISSING_FILE: "a replay, or an export that has succeeded, without its file",
    Code.WRONG_USAGE: "the space noted for a user's replays is not their sum",
    Code.STRANDED_WORKFLOW: "a workflow waits for a registered run that has ended or is gone",
    Code.BROKEN_RUN: "a run of a workflow and its job disagree, or a step began before the one before it had ended",
    Code.STUCK_JOB: "a job that should have been promoted or recovered a minute ago was not",
    Code.STUCK_SCHEDULE: "a schedule that was due a minute ago has not been processed",
}


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One inconsistency, with the rows that show it."""

    code: Code
    message: str
    severity: Severity = Severity.ERROR
    job_id: str | None = None
    queue: str | None = None
    schedule_id: str | None = None
    rows: tuple[dict[str, Any], ...] = ()
