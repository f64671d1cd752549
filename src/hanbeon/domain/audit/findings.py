"""Findings of an audit: the invariants of a sound database, and one stable code per kind of inconsistency."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterable
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
    STUCK_JOB = "stuck_job", "a job that should have been promoted, recovered or ended a minute ago was not"


class Invariant(enum.StrEnum):
    """A rule that every sound database keeps: its name, the code of what breaks it, and the rule as a sentence.

    Surfaces have invariants of their own.
    """

    code: FindingCode
    rule: str

    def __new__(cls, name: str, code: FindingCode, rule: str) -> Self:
        member = str.__new__(cls, name)
        member._value_, member.code, member.rule = name, code, rule
        return member

    def broken(self, message: str, **fields: Any) -> Finding:
        """Return the finding that this does not hold, with the fields of a `Finding`."""
        return Finding(code=self.code, invariant=self, message=message, **fields)


class EngineInvariant(Invariant):
    """The invariants of the engine, in the order of their codes."""

    NO_HOLE = "no_hole", Code.EVENT_GAP, "public ids are dense from the lowest that is left"
    NO_END_MISSING = "no_end_missing", Code.EVENT_GAP, "the last public id is the counter's"
    READABLE_BATCH = "readable_batch", Code.EVENT_GAP, "every batch of events can be read"
    FULL_BATCH = "full_batch", Code.EVENT_GAP, "a batch holds an event for each of its ids"
    READABLE_CHANGE = "readable_change", Code.EVENT_GAP, "every change of a queue can be read"
    ONE_BATCH_AN_ID = "one_batch_an_id", Code.DOUBLED_EVENT, "no public id is in two batches"
    COUNTER_AHEAD = "counter_ahead", Code.DOUBLED_EVENT, "the counter is not behind an id that was assigned"
    ID_FOR_EACH = "id_for_each", Code.DOUBLED_EVENT, "a batch has an id for each of its events"
    KNOWN_MOVE = "known_move", Code.ILLEGAL_TRANSITION, "every event with a state is a move of the lifecycle"
    MOVE_OF_A_JOB = "move_of_a_job", Code.ILLEGAL_TRANSITION, "every move names a job"
    LEGAL_MOVE = "legal_move", Code.ILLEGAL_TRANSITION, "each move of a job is allowed after the one before it"
    CREATED_FIRST = "created_first", Code.ILLEGAL_TRANSITION, "the first event of a job is its creation"
    STATE_OF_LAST_EVENT = "state_of_last_event", Code.STATE_MISMATCH, "a job is in the state of its last event"
    UNFINISHED_KEPT = "unfinished_kept", Code.LOST_JOB, "a job that has not ended has its row"
    FOUND_BY_ID = "found_by_id", Code.LOST_JOB, "the id of a job leads to its row"
    HAS_LANE = "has_lane", Code.LOST_JOB, "a job has its lane and its queue"
    CREATION_KNOWN = "creation_known", Code.LOST_JOB, "a job has its creation event"
    NO_ORPHAN = (
        "no_orphan",
        Code.LOST_JOB,
        "ids, attempts, dependencies, executions, expiries, logs and traces have their job",
    )
    CREATED_ONCE = "created_once", Code.DOUBLED_JOB, "a job has one creation event"
    UNIQUE_KEY = "unique_key", Code.DOUBLED_JOB, "one unfinished job holds a `unique_key`"
    IDEMPOTENCY_KEY = "idempotency_key", Code.DOUBLED_JOB, "one job holds an `idempotency_key`"
    ENDS_AFTER_START = "ends_after_start", Code.OVERLAPPING_CLAIMS, "no attempt ends before it starts"
    ONE_AT_A_TIME = "one_at_a_time", Code.OVERLAPPING_CLAIMS, "an attempt starts after the one before it has ended"
    RUNS_ALONE = "runs_alone", Code.OVERLAPPING_CLAIMS, "the running attempt started after all others had ended"
    FENCE_AHEAD = "fence_ahead", Code.DOUBLED_CLAIM, "the fence is not behind the number of an attempt"
    ENDS_ONCE = "ends_once", Code.DOUBLED_CLAIM, "an attempt has one row"
    RUNNING_OPEN = "running_open", Code.DOUBLED_CLAIM, "the running attempt has no row yet"
    CLAIMS_GROW = "claims_grow", Code.DOUBLED_CLAIM, "the numbers of a job's claims grow"
    ENDS_GROW = "ends_grow", Code.DOUBLED_CLAIM, "the numbers of a job's ends grow"
    DISPATCHES_GROW = "dispatches_grow", Code.DOUBLED_CLAIM, "the numbers of a job's dispatches grow"
    CLAIM_KEPT = "claim_kept", Code.MISSING_ATTEMPT, "an attempt that was claimed runs or has its row"
    END_KEPT = "end_kept", Code.MISSING_ATTEMPT, "an attempt that ended has its row"
    ATTEMPT_CLAIMED = "attempt_claimed", Code.MISSING_ATTEMPT, "the row of an attempt has the event of its claim"
    ATTEMPT_ENDED = "attempt_ended", Code.MISSING_ATTEMPT, "the row of an attempt has the event of its end"
    RUNNING_CLAIMED = "running_claimed", Code.MISSING_ATTEMPT, "the running attempt has the event of its claim"
    ATTEMPT_NAMED = "attempt_named", Code.MISSING_ATTEMPT, "the event of a claim or an end names the attempt"
    END_AGREES = "end_agrees", Code.MISSING_ATTEMPT, "the status of an attempt is that of the event of its end"
    SUCCESS_BY_ATTEMPT = (
        "success_by_attempt",
        Code.MISSING_ATTEMPT,
        "a job has succeeded by its last attempt, or a user marked it as done",
    )
    QUEUE_LIMIT = "queue_limit", Code.LIMIT_EXCEEDED, "no job starts while its queue is full"
    ROLE_LIMIT = "role_limit", Code.LIMIT_EXCEEDED, "no job starts while its role is full"
    KEY_LIMIT = "key_limit", Code.LIMIT_EXCEEDED, "no job starts while its key is full"
    LIMITS_IN_FORCE = "limits_in_force", Code.LIMIT_EXCEEDED, "claims obey the limits of a queue that has some"
    PAUSE = "pause", Code.STARTED_WHILE_PAUSED, "no job starts while its queue is paused"
    DEPENDENCY_KEPT = "dependency_kept", Code.BROKEN_DEPENDENCY, "the dependencies of a job are kept with it"
    DEPENDENCY_SUCCEEDED = (
        "dependency_succeeded",
        Code.BROKEN_DEPENDENCY,
        "a job that ran depends on none that has not succeeded",
    )
    DEPENDENCY_FIRST = "dependency_first", Code.BROKEN_DEPENDENCY, "a job starts after its dependencies have succeeded"
    WAITS_FOR_AS_MANY = "waits_for_as_many", Code.BROKEN_DEPENDENCY, "a job waits for as many as have not succeeded"
    BLOCKED_WHILE_WAITING = "blocked_while_waiting", Code.BROKEN_DEPENDENCY, "a job is blocked while it waits for any"
    TALLY_OF_JOBS = "tally_of_jobs", Code.TALLY_MISMATCH, "the tallies of a queue are a count of its jobs by state"
    TALLY_OF_TIME = "tally_of_time", Code.TALLY_MISMATCH, "the run time of a queue's tally is the sum of its jobs'"
    LOG_OF_ATTEMPT = "log_of_attempt", Code.BROKEN_LOG, "a log is of an attempt that was claimed"
    LOG_LINES_GROW = "log_lines_grow", Code.BROKEN_LOG, "no line of a log is in two of its rows"
    INDEXED = "indexed", Code.BROKEN_INDEX, "the event index of a queue has each folded batch with its events"
    INDEX_LEADS = "index_leads", Code.BROKEN_INDEX, "an entry of an event index leads to a folded batch of its queue"
    REQUEST_KEPT = "request_kept", Code.BROKEN_DISPATCH, "an attempt of stream workers has its request"
    REQUEST_CLOSED = "request_closed", Code.BROKEN_DISPATCH, "a request is closed when its attempt is over"
    PROMOTED = "promoted", Code.STUCK_JOB, "a job that is due and waits for nothing is promoted within a minute"
    RECOVERED = "recovered", Code.STUCK_JOB, "a job whose lease has ended is recovered within a minute"
    EXPIRED = "expired", Code.STUCK_JOB, "a job that has expired is ended or stopped within a minute"


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One inconsistency, with the rows that show it."""

    code: FindingCode
    invariant: Invariant
    message: str
    severity: Severity = Severity.ERROR
    job_id: str | None = None
    queue: str | None = None
    schedule_id: str | None = None
    rows: tuple[dict[str, Any], ...] = ()


_KEPT = 1_000


class Findings:
    """The findings of an audit, at most a thousand of each code: a database that lost a table must not fill memory."""

    def __init__(self, kept: Iterable[Finding] = (), omitted: dict[str, int] | None = None) -> None:
        self.kept: list[Finding] = []
        self._counts: Counter[str] = Counter()
        self.omitted: Counter[str] = Counter(omitted)
        self.add(kept)

    def add(self, findings: Iterable[Finding]) -> None:
        for finding in findings:
            self._counts[finding.code] += 1
            if self._counts[finding.code] > _KEPT:
                self.omitted[finding.code] += 1
            else:
                self.kept.append(finding)
