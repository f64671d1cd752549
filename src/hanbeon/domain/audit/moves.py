"""Moves of jobs as records of fixed size, and their replay, job by job.

The table of moves is the audit's own: it must not share a rule with the engine that it audits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from struct import Struct
from typing import Any
from uuid import UUID

from hanbeon.domain.audit.findings import EngineInvariant, Finding
from hanbeon.domain.lifecycle import TERMINAL, AttemptStatus, Reason, State

MOVE = Struct("<16sqqqBB")
"""The job's id, the instant, the public number (0: none yet), the attempt (-1: none), the reason, the state after."""
NO_ATTEMPT = -1
REASONS, STATES = tuple(Reason), tuple(State)
REASON_NUMBERS = {reason.value: number for number, reason in enumerate(REASONS)}
STATE_NUMBERS = {state.value: number for number, state in enumerate(STATES)}

_UNFINISHED = "pending ready running"
_STEPS: dict[str, tuple[str, str]] = {
    "enqueued": ("", "ready"),
    "scheduled": ("", "pending"),
    "promoted": ("pending", "ready"),
    "dispatched": ("ready", "="),
    "claimed": ("ready", "running"),
    "succeeded": ("running", "succeeded"),
    "retried": ("running", "pending"),
    "failed": ("running", "failed"),
    "released": ("running", "ready"),
    "postponed": ("running", "pending"),
    "overdue": ("running", "="),
    "stop_requested": ("running", "="),
    "stopped": ("running", "cancelled"),
    "cancelled": ("pending ready", "cancelled"),
    "replaced": ("pending ready", "cancelled"),
    "dependency_failed": ("pending", "failed"),
    "expired": ("pending ready", "failed"),
    "requeued": ("failed cancelled", "pending"),
    "reprioritised": (_UNFINISHED, "="),
    "marked_done": ("failed cancelled", "succeeded"),
}
"""The states before and after each reason. No state before: the job is new. `=`: the state stays."""
_FAILURES = frozenset((AttemptStatus.FAILED, AttemptStatus.TIMEOUT, AttemptStatus.LOST))
_STATUSES: Mapping[Reason, frozenset[AttemptStatus]] = {
    Reason.SUCCEEDED: frozenset((AttemptStatus.COMPLETED,)),
    Reason.RETRIED: _FAILURES,
    Reason.FAILED: _FAILURES,
    Reason.RELEASED: frozenset((AttemptStatus.RELEASED,)),
    Reason.POSTPONED: frozenset((AttemptStatus.RELEASED,)),
    Reason.STOPPED: frozenset((AttemptStatus.CANCELLED,)),
}
"""The statuses of an attempt that each end allows."""
_NEW = -1
_CREATIONS = frozenset(REASON_NUMBERS[word] for word, (before, _) in _STEPS.items() if not before)
_ENDINGS = frozenset(REASONS.index(reason) for reason in _STATUSES)
_CLAIMED, _DISPATCHED = REASON_NUMBERS["claimed"], REASON_NUMBERS["dispatched"]
_COUNTED = _ENDINGS | {_CLAIMED, _DISPATCHED}
_TERMINAL = frozenset(STATE_NUMBERS[state.value] for state in TERMINAL)


def _legal() -> frozenset[tuple[int, int, int]]:
    legal = set()
    for word, (before, after) in _STEPS.items():
        for source in before.split():
            legal.add((REASON_NUMBERS[word], STATE_NUMBERS[source], STATE_NUMBERS[source if after == "=" else after]))
        if not before:
            legal.add((REASON_NUMBERS[word], _NEW, STATE_NUMBERS[after]))
    return frozenset(legal)


LEGAL = _legal()
"""Reason, state before (-1: new) and state after, by number."""


def id_bytes(job_id: str) -> bytes:
    """Return an id in 16 bytes; ValueError if it is none."""
    raw = bytes.fromhex(job_id.replace("-", ""))
    if len(raw) != 16:
        raise ValueError(job_id)
    return raw


def id_text(raw: bytes) -> str:
    return str(UUID(bytes=raw))


class Trace:
    """The history of one job: its state, and the numbers of its attempts in the order of their events."""

    __slots__ = ("claims", "created", "dispatches", "ends", "first_at", "reasons", "state_number")

    def __init__(self, state_number: int, *, created: bool, first_at: int) -> None:
        self.state_number = state_number
        self.created = created
        self.first_at = first_at
        self.claims: list[int] = []
        self.ends: list[int] = []
        self.reasons: list[int] = []
        """How each of `ends` came about."""
        self.dispatches: dict[int, int] | None = None
        """When each attempt was sent to stream workers: it takes its slot from then on."""

    @property
    def state(self) -> State:
        return STATES[self.state_number]

    def allows(self, attempt: int, status: AttemptStatus) -> bool:
        """True unless the event of the attempt's end tells of another end than this status."""
        if attempt not in self.ends:
            return True
        return status in _STATUSES[REASONS[self.reasons[self.ends.index(attempt)]]]


class Replay:
    """Follows the moves of some jobs in their order."""

    def __init__(self, *, whole: bool) -> None:
        """`whole`: nothing of the history was pruned."""
        self.traces: dict[bytes, Trace] = {}
        self._whole = whole

    def follow(self, moves: Iterable[tuple[bytes, int, int, int, int, int]]) -> Iterator[Finding]:
        """Follow the moves, by the fields of `MOVE`, and yield each that is not allowed at its place."""
        traces, legal = self.traces, LEGAL
        for move in moves:
            raw, at, _, _, reason, after = move
            trace = traces.get(raw)
            if reason in _CREATIONS:
                # An id may be reused once its first job was pruned; events of that one may outlive it for a while.
                if trace is not None and (self._whole or trace.state_number not in _TERMINAL):
                    yield _broken(EngineInvariant.CREATED_ONCE, move, "it has two creation events")
                    continue
                trace = None
            if trace is None:
                before = _NEW
                trace = traces[raw] = Trace(after, created=reason in _CREATIONS, first_at=at)
                allowed = reason not in _CREATIONS and not self._whole
            else:
                before, allowed = trace.state_number, False
                trace.state_number = after
            if not allowed and (reason, before, after) not in legal:
                rule = EngineInvariant.LEGAL_MOVE
                if before == _NEW and reason not in _CREATIONS:
                    rule = EngineInvariant.CREATED_FIRST
                start = "nothing" if before == _NEW else STATES[before]
                yield _broken(rule, move, f"`{REASONS[reason]}` leads from {start} to {STATES[after]}")
            if reason in _COUNTED:
                yield from _count(trace, move)


def _count(trace: Trace, move: tuple[bytes, int, int, int, int, int]) -> Iterator[Finding]:
    _, at, _, attempt, reason, _ = move
    if reason == _CLAIMED:
        rule, last = EngineInvariant.CLAIMS_GROW, trace.claims[-1:]
    elif reason == _DISPATCHED:
        rule, last = EngineInvariant.DISPATCHES_GROW, [*trace.claims[-1:], *list(trace.dispatches or ())[-1:]]
    else:
        rule, last = EngineInvariant.ENDS_GROW, trace.ends[-1:]
    verb = REASONS[reason] if reason in (_CLAIMED, _DISPATCHED) else "ended"
    if attempt == NO_ATTEMPT:
        yield _broken(EngineInvariant.ATTEMPT_NAMED, move, f"was {verb}, but the event names no attempt")
        return
    if last and attempt <= last[-1]:
        yield _broken(rule, move, f"attempt {attempt} was {verb} after attempt {last[-1]} had been")
    if reason == _CLAIMED:
        trace.claims.append(attempt)
    elif reason == _DISPATCHED:
        trace.dispatches = (trace.dispatches or {}) | {attempt: at}
    else:
        trace.ends.append(attempt)
        trace.reasons.append(reason)


def _broken(rule: EngineInvariant, move: tuple[bytes, int, int, int, int, int], message: str) -> Finding:
    raw, at, number, attempt, reason, after = move
    row: dict[str, Any] = {"id": number, "type": REASONS[reason].value, "at": at, "job_id": id_text(raw)}
    row |= {"state": STATES[after].value, "attempt": None if attempt == NO_ATTEMPT else attempt}
    return rule.broken(message, job_id=row["job_id"], rows=(row,))
