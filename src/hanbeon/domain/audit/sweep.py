"""Check a queue's limits and pauses at every start, in one sweep over its attempts in order of time.

It counts by itself: it must not share a rule with the engine's admission.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from struct import Struct
from typing import Any, NamedTuple

import msgspec

from hanbeon.domain.audit.findings import EngineInvariant, Finding
from hanbeon.domain.audit.moves import id_text
from hanbeon.domain.limits import QueueLimits

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


class Interval(NamedTuple):
    """The time in which an attempt took a slot of its queue. The order is by start; an earlier end counts first."""

    start: int
    end: int
    job: bytes
    attempt: int
    lane: int

    def row(self, lane: Lane) -> dict[str, Any]:
        return {
            "job_id": id_text(self.job),
            "attempt": self.attempt,
            "role": lane.role,
            "key": lane.key,
            "started_at": self.start,
            "ended_at": None if self.end == STILL_RUNNING else self.end,
        }


class Lane(NamedTuple):
    """The role and the key of a lane; either may be empty."""

    role: str
    key: str


_NONE = Lane("", "")
_INTERVAL = Struct(">IQQ16sqq")
_ORIGIN = 2**63


def pack_interval(queue: int, interval: Interval) -> bytes:
    """Return a record; the order of records is that of queues, and in one queue that of intervals."""
    start, end = max(interval.start + _ORIGIN, 0), interval.end + _ORIGIN
    return _INTERVAL.pack(queue, start, end, interval.job, interval.attempt, interval.lane)


def unpack_interval(record: bytes) -> tuple[int, Interval]:
    queue, start, end, job, attempt, lane = _INTERVAL.unpack(record)
    return queue, Interval(start - _ORIGIN, end - _ORIGIN, job, attempt, lane)


INTERVAL_SIZE = _INTERVAL.size


class _Slots:
    """The slots taken in a queue, by role and by key."""

    def __init__(self) -> None:
        self.total = 0
        self.roles: Counter[str] = Counter()
        self.keys: Counter[str] = Counter()

    def take(self, lane: Lane) -> None:
        self.total += 1
        if lane.role:
            self.roles[lane.role] += 1
        if lane.key:
            self.keys[lane.key] += 1

    def leave(self, lane: Lane) -> None:
        self.total -= 1
        for counter, name in ((self.roles, lane.role), (self.keys, lane.key)):
            if name:
                counter[name] -= 1
                if not counter[name]:
                    del counter[name]

    def full(self, limits: QueueLimits, lane: Lane) -> list[tuple[EngineInvariant, str]]:
        """Return the limits that leave no room for one more job of this lane, each with a text."""
        counts = [
            (EngineInvariant.QUEUE_LIMIT, self.total, "of its queue", limits.max_concurrent),
            (EngineInvariant.ROLE_LIMIT, self.roles[lane.role], f"of role {lane.role!r}", limits.roles.get(lane.role)),
            (
                EngineInvariant.KEY_LIMIT,
                self.keys[lane.key],
                f"of key {lane.key!r}",
                limits.keys.get(lane.key, limits.max_per_key) if lane.key else None,
            ),
        ]
        # 0 stands for no limit.
        full = [each for each in counts if each[3] and each[1] >= each[3]]
        return [(rule, f"{used} {of} ran already (limit {most})") for rule, used, of, most in full]


def sweep(
    queue: str, timeline: Timeline, intervals: Iterable[Interval], lanes: Mapping[int, Lane]
) -> Iterator[Finding]:
    """Yield every start that the queue's limits or a pause forbade, of intervals in their order.

    Limits apply at starts only: lowering one stops no running job. A job that ends makes room for a start at the same
    instant.
    """
    slots = _Slots()
    running: list[tuple[int, Interval]] = []
    for interval in intervals:
        start, lane = interval.start, lanes.get(interval.lane, _NONE)
        while running and running[0][0] <= start:
            slots.leave(lanes.get(heapq.heappop(running)[1].lane, _NONE))
        settings = timeline.at(start)
        full = [slots.full(each.limits, lane) if each and start >= each.limits_from else [] for each in settings]
        if all(full):
            others = [other.row(lanes.get(other.lane, _NONE)) for _, other in running[: _ROWS_SHOWN - 1]]
            yield full[0][0][0].broken(
                f"started though {' and '.join(text for _, text in full[0])}",
                job_id=id_text(interval.job),
                queue=queue,
                rows=(interval.row(lane), *others),
            )
        if all(_paused(setting, start) for setting in settings):
            yield EngineInvariant.PAUSE.broken(
                "started though its queue was paused",
                job_id=id_text(interval.job),
                queue=queue,
                rows=(interval.row(lane),),
            )
        slots.take(lane)
        heapq.heappush(running, (interval.end, interval))


def _paused(setting: LimitSetting | None, start: int) -> bool:
    return setting is not None and setting.paused_from is not None and start > setting.paused_from
