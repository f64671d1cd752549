"""Check a queue's limits and pauses at every start, in one sweep over its attempts in order of time."""

from __future__ import annotations

import heapq
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from hanbeon.domain.audit.findings import Code, Finding
from hanbeon.domain.limits import NO_LIMIT, QueueLimits, Usage

GRACE_US = 1_000_000
"""Tolerance for a claim that began before its queue was limited or paused, and therefore took no lock."""
STILL_RUNNING = 2**63 - 1
_ROWS_SHOWN = 20


class SlotChange(msgspec.Struct, frozen=True, kw_only=True):
    """A queue's limits and pause from an instant on."""

    at: int
    limits: QueueLimits
    paused: bool = False


class LimitSetting(NamedTuple):
    """A change, and the instant from which on starts must obey it."""

    limits: QueueLimits
    limits_from: int
    paused_from: int | None


class Timeline:
    """A queue's limits over time. Exact between one limit and the next, because both are set under the queue's lock.

    A queue without limits is claimed from without that lock. So a claim that began before a limit or a pause was set
    may start a job just after it: starts within a second of the first limit, or of the pause, are not reported.
    """

    def __init__(self, changes: Sequence[SlotChange], *, whole: bool) -> None:
        """`whole`: there was no limit before the first of these changes; otherwise that is unknown."""
        self._instants: list[int] = []
        self._settings: list[LimitSetting | None] = [LimitSetting(QueueLimits(), 0, None) if whole else None]
        for change in sorted(changes, key=lambda change: change.at):
            self._instants.append(change.at)
            self._settings.append(_following(self._settings[-1], change))

    @property
    def matters(self) -> bool:
        """True if the queue was ever limited or paused."""
        return any(each is not None and (each.limits.limited or each.paused_from) for each in self._settings)

    def at(self, instant: int) -> list[LimitSetting | None]:
        """Return the settings in force at an instant: several if they changed in that very microsecond."""
        first, last = bisect_left(self._instants, instant), bisect_right(self._instants, instant)
        return self._settings[first : last + 1]


def _following(before: LimitSetting | None, change: SlotChange) -> LimitSetting:
    limited = before is not None and before.limits.limited
    limits_from = before.limits_from if before is not None and limited else change.at + GRACE_US
    paused_from: int | None = None
    if change.paused:
        paused_from = before.paused_from if before is not None else None
        paused_from = change.at + GRACE_US if paused_from is None else paused_from
    return LimitSetting(change.limits, limits_from, paused_from)


class Intervals:
    """The run times of a queue's attempts, in columns, so that a million of them fit into memory."""

    def __init__(self) -> None:
        self._starts = array("q")
        self._ends = array("q")
        self._attempts = array("q")
        self._lanes = array("q")
        self._jobs: list[str] = []
        self._lane_numbers: dict[tuple[str, str], int] = {}
        self._lane_names: list[tuple[str, str]] = []

    def add(self, job_id: str, attempt: int, role: str, key: str, start: int, end: int = STILL_RUNNING) -> None:
        lane = self._lane_numbers.setdefault((role, key), len(self._lane_numbers))
        if lane == len(self._lane_names):
            self._lane_names.append((role, key))
        self._starts.append(start)
        self._ends.append(end)
        self._attempts.append(attempt)
        self._lanes.append(lane)
        self._jobs.append(job_id)

    def by_start(self) -> list[int]:
        return sorted(range(len(self._starts)), key=self._starts.__getitem__)

    def start(self, index: int) -> int:
        return self._starts[index]

    def end(self, index: int) -> int:
        return self._ends[index]

    def lane(self, index: int) -> tuple[str, str]:
        """Role and key."""
        return self._lane_names[self._lanes[index]]

    def job(self, index: int) -> str:
        return self._jobs[index]

    def row(self, index: int) -> dict[str, Any]:
        role, key = self.lane(index)
        end = self._ends[index]
        return {
            "job_id": self._jobs[index],
            "attempt": self._attempts[index],
            "role": role,
            "key": key,
            "started_at": self._starts[index],
            "ended_at": None if end == STILL_RUNNING else end,
        }


def sweep(queue: str, timeline: Timeline, intervals: Intervals) -> Iterator[Finding]:
    """Yield every start that the queue's limits or a pause forbade.

    Limits apply at starts only: lowering one stops no running job. A job that ends makes room for a start at the same
    instant.
    """
    usage = Usage()
    running: list[tuple[int, int]] = []
    for index in intervals.by_start():
        start, (role, key) = intervals.start(index), intervals.lane(index)
        while running and running[0][0] <= start:
            _, ended = heapq.heappop(running)
            usage.add(*intervals.lane(ended), -1)
        settings = timeline.at(start)
        if all(_full(setting, start, usage, role, key) for setting in settings):
            limits = next(setting.limits for setting in settings if setting is not None)
            others = [intervals.row(other) for _, other in running[: _ROWS_SHOWN - 1]]
            yield Finding(
                code=Code.LIMIT_EXCEEDED,
                message=f"started though {_wording(usage, limits, role, key)}",
                job_id=intervals.job(index),
                queue=queue,
                rows=(intervals.row(index), *others),
            )
        if all(_paused(setting, start) for setting in settings):
            yield Finding(
                code=Code.STARTED_WHILE_PAUSED,
                message="started though its queue was paused",
                job_id=intervals.job(index),
                queue=queue,
                rows=(intervals.row(index),),
            )
        usage.add(role, key)
        heapq.heappush(running, (intervals.end(index), index))


def _full(setting: LimitSetting | None, start: int, usage: Usage, role: str, key: str) -> bool:
    return setting is not None and start >= setting.limits_from and not usage.room(setting.limits, role, key)


def _paused(setting: LimitSetting | None, start: int) -> bool:
    return setting is not None and setting.paused_from is not None and start > setting.paused_from


def _wording(usage: Usage, limits: QueueLimits, role: str, key: str) -> str:
    counts = [
        ("of its queue", usage.total, limits.max_concurrent),
        (f"of role {role!r}", usage.roles[role], limits.for_role(role)),
        (f"of key {key!r}", usage.keys[key], limits.for_key(key)),
    ]
    full = [f"{used} {what} ran already (limit {most})" for what, used, most in counts if NO_LIMIT != most <= used]
    return " and ".join(full)
