"""Admission of ready jobs: order within a queue, limits per queue, role and key, and round-robin between queues."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from hanbeon.domain.job import check_name, check_whole
from hanbeon.errors import InvalidInput
from hanbeon.quotation import quoted
from hanbeon.rule import Rule

NO_LIMIT = 0
_MOST = 2**31 - 1


class QueueLimits(msgspec.Struct, frozen=True):
    """The concurrency limits of a queue; 0 means no limit."""

    max_concurrent: int = NO_LIMIT
    max_per_key: int = NO_LIMIT
    roles: Mapping[str, int] = msgspec.field(default_factory=dict)
    keys: Mapping[str, int] = msgspec.field(default_factory=dict)

    @property
    def limited(self) -> bool:
        return bool(self.max_concurrent or self.max_per_key or self.roles or self.keys)

    def for_role(self, role: str) -> int:
        return self.roles.get(role, NO_LIMIT) if role else NO_LIMIT

    def for_key(self, key: str) -> int:
        return self.keys.get(key, self.max_per_key) if key else NO_LIMIT


def check_limits(limits: Mapping[str, Any]) -> dict[str, Any]:
    """Validate limits given by the field names of `QueueLimits`; raises for the first invalid one."""
    for field, limit in limits.items():
        if field in ("max_concurrent", "max_per_key"):
            check_whole(field, limit, NO_LIMIT, _MOST)
            continue
        if not isinstance(limit, Mapping):
            raise InvalidInput(Rule("must_be", what=Rule("name_to_integer"), got=quoted(limit)), field=field)
        for name, number in limit.items():
            check_name(field, name, required=True)
            check_whole(f"{field}.{name}", number, NO_LIMIT, _MOST)
    return {field: dict(limit) if isinstance(limit, Mapping) else limit for field, limit in limits.items()}


class Usage:
    """The number of running jobs of a queue, per role and per key; grows as jobs are admitted."""

    def __init__(self) -> None:
        self.total = 0
        self.roles: Counter[str] = Counter()
        self.keys: Counter[str] = Counter()

    def add(self, role: str, key: str, count: int = 1) -> None:
        self.total += count
        self.roles[role] += count
        self.keys[key] += count

    def room(self, limits: QueueLimits, role: str, key: str) -> bool:
        """True if the limits leave room for one more job with this role and key."""
        return (
            _fits(self.total, limits.max_concurrent)
            and _fits(self.roles[role], limits.for_role(role))
            and _fits(self.keys[key], limits.for_key(key))
        )


class Candidate(NamedTuple):
    """A ready job at the head of its lane. `more`: it is the last one that was read, and others may follow it."""

    seq: int
    queue_id: int
    role: str
    key: str
    rank: int
    more: bool = False

    @property
    def order(self) -> tuple[int, int]:
        """Lower rank first (urgent before all others, then by priority), then older first."""
        return self.rank, self.seq


def admit(
    candidates: Iterable[Candidate],
    limits: Mapping[int, QueueLimits],
    usage: Mapping[int, Usage],
    turns: Sequence[int],
    want: int,
) -> list[int]:
    """Select at most `want` jobs to start: each queue in its own order, the queues of `turns` round-robin.

    `usage` grows with each admitted job, which takes room from those that follow. A queue's turns end where the next
    job in its order may be one that was not read.
    """
    lines: dict[int, deque[Candidate]] = {queue: deque() for queue in turns}
    for candidate in sorted(candidates, key=lambda c: c.order):
        if candidate.queue_id in lines:
            lines[candidate.queue_id].append(candidate)
    admitted: list[int] = []
    waiting = deque(queue for queue in turns if lines[queue])
    while waiting and len(admitted) < want:
        queue = waiting.popleft()
        taken = _next_fitting(lines[queue], limits[queue], usage.get(queue))
        if taken is not None:
            admitted.append(taken.seq)
            if lines[queue] and not _hides_the_next(taken, limits[queue], usage.get(queue)):
                waiting.append(queue)
    return admitted


def _next_fitting(line: deque[Candidate], limits: QueueLimits, usage: Usage | None) -> Candidate | None:
    """Return the first job that the limits admit; those skipped stay inadmissible for the rest of this claim."""
    while line:
        candidate = line.popleft()
        if usage is None:
            return candidate
        if usage.room(limits, candidate.role, candidate.key):
            usage.add(candidate.role, candidate.key)
            return candidate
    return None


def _hides_the_next(taken: Candidate, limits: QueueLimits, usage: Usage | None) -> bool:
    return taken.more and (usage is None or usage.room(limits, taken.role, taken.key))


def _fits(running: int, limit: int) -> bool:
    return limit == NO_LIMIT or running < limit
