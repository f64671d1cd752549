"""Who may start now: order within a queue, limits per queue, role and key, and turns between queues."""

from __future__ import annotations

import reprlib
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from hanbeon.domain.job import check_name, check_whole
from hanbeon.errors import InvalidInput

NO_LIMIT = 0
_MOST = 2**31 - 1


class QueueLimits(msgspec.Struct, frozen=True):
    """What a queue allows at once; 0 means no limit."""

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
    """Limits as somebody wrote them, by the names of `QueueLimits`; the first that does not fit is refused."""
    for field, limit in limits.items():
        if field in ("max_concurrent", "max_per_key"):
            check_whole(field, limit, NO_LIMIT, _MOST)
            continue
        if not isinstance(limit, Mapping):
            raise InvalidInput(f"{reprlib.repr(limit)} does not fit; use a dict of numbers by name", field=field)
        for name, number in limit.items():
            check_name(field, name, required=True)
            check_whole(f"{field}.{name}", number, NO_LIMIT, _MOST)
    return {field: dict(limit) if isinstance(limit, Mapping) else limit for field, limit in limits.items()}


class Usage:
    """How many run now in a queue, per role and per key; counts up as jobs are admitted."""

    def __init__(self) -> None:
        self.total = 0
        self.roles: Counter[str] = Counter()
        self.keys: Counter[str] = Counter()

    def add(self, role: str, key: str, count: int = 1) -> None:
        self.total += count
        self.roles[role] += count
        self.keys[key] += count

    def room(self, limits: QueueLimits, role: str, key: str) -> bool:
        """Whether one more job with this role and key fits."""
        return (
            _fits(self.total, limits.max_concurrent)
            and _fits(self.roles[role], limits.for_role(role))
            and _fits(self.keys[key], limits.for_key(key))
        )


class Candidate(NamedTuple):
    """A ready job at the head of its lane. `more`: it is the last one looked at, and others may stand behind it."""

    seq: int
    queue_id: int
    role: str
    key: str
    rank: int
    more: bool = False

    @property
    def order(self) -> tuple[int, int]:
        """The lower rank first (urgent before all others, then by priority), then the older."""
        return self.rank, self.seq


def admit(
    candidates: Iterable[Candidate],
    limits: Mapping[int, QueueLimits],
    usage: Mapping[int, Usage],
    turns: Sequence[int],
    want: int,
) -> list[int]:
    """At most `want` jobs to start: each queue in its own order, the queues of `turns` one job at a time in turn.

    `usage` is counted up, so that what is admitted here takes room from what follows. A queue's turn ends where the
    next in its order might be a job that nobody has looked at.
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
    """The first in line that fits; those passed over do not fit for the rest of this claim either."""
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
