"""Lanes by name and by number. Lanes never change, so they can be cached, for an hour at a time.

They are deleted with a reserved queue whose owner is gone, because only that owner enqueues jobs there; and when they
have no jobs and were not used for longer than any process may rely on its cache.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import msgspec

from hanbeon.clock import Clock, SystemClock
from hanbeon.domain.job import RESERVED, LaneName, NewJob, check_size
from hanbeon.store.operations.end_hooks import EndHook, end_hook_of
from hanbeon.store.records import LANE_MASK, lane_number
from hanbeon.store.tx import Tx, to_json

LaneNumbers = list[tuple[LaneName, int]]
RELIED_ON_SECONDS = 3_600.0
"""How long a lane is taken for granted. Then its use is written down, and with it that it is still there."""


class LaneCache:
    """An instance's cache of lanes. It holds committed lanes only; `ensure` returns a copy with uncommitted ones."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._committed = self
        self._numbers: dict[LaneName, int] = {}
        self._names: dict[int, LaneName] = {}
        self._until: dict[LaneName, float] = {}
        self.limited: set[int] = set()
        """Queues seen with a limit: a hint to wake other instances when one of their slots becomes free."""
        self.max_payload_bytes: int | None = None
        """The limit of what a job carries; None for a store that was opened without settings."""
        self.hooked: dict[int, EndHook] = {}
        """The known lanes whose task has an end hook."""

    def note(self, name: LaneName, number: int) -> None:
        self._numbers[name] = number
        self._until[name] = self._clock.monotonic() + RELIED_ON_SECONDS
        self._name(number & LANE_MASK, name)

    def _name(self, n: int, name: LaneName) -> None:
        self._names[n] = name
        if (hook := end_hook_of(name)) is not None:
            self.hooked[n] = hook

    async def ensure(self, tx: Tx, names: Iterable[LaneName]) -> LaneCache:
        """Create the missing lanes and return a cache with all of them; this one learns of them after the commit."""
        missing = await self._touch(tx, self.missing(names))
        if not missing:
            return self
        made = await add_lanes(tx, missing)
        tx.after_commit(partial(self._committed._note_all, made))
        other = self._copy()
        other._note_all(made)
        return other

    def unlimited(self) -> LaneCache:
        """A copy for jobs whose arguments were checked when something else was saved, under the limit of that time."""
        other = self._copy()
        other.max_payload_bytes = None
        return other

    def _copy(self) -> LaneCache:
        other = LaneCache(self._clock)
        other._committed = self._committed
        other.max_payload_bytes = self.max_payload_bytes
        other._numbers, other._names, other.limited = dict(self._numbers), dict(self._names), self.limited
        other._until = dict(self._until)
        other.hooked = dict(self.hooked)
        return other

    async def _touch(self, tx: Tx, names: list[LaneName]) -> list[LaneName]:
        """Write down the use of the lanes that are known, and return those that are not, or not any more."""
        known = {self._numbers[name] & LANE_MASK: name for name in names if name in self._numbers}
        if not known:
            return names
        there = dict.fromkeys(known[row["n"]] for row in await tx.fetch("touch_lanes", to_json(sorted(known))))
        tx.after_commit(partial(self._committed._note_all, [(name, self._numbers[name]) for name in there]))
        return [name for name in names if name not in there]

    def _note_all(self, lanes: LaneNumbers) -> None:
        for name, number in lanes:
            self.note(name, number)

    def missing(self, names: Iterable[LaneName]) -> list[LaneName]:
        """Return those of these lanes that are not known, or were not used for a while."""
        now = self._clock.monotonic()
        return [name for name in dict.fromkeys(names) if self._until.get(name, -1.0) < now]

    def number(self, name: LaneName) -> int:
        return self._numbers[name]

    def lane_of(self, job: NewJob) -> int:
        """Return the lane of a new job, whose size is within the limit: all new jobs pass here."""
        self.check_payload(job.task, job.args, job.meta)
        return self._numbers[job.lane]

    def check_payload(self, task: str, args: str, meta: str | None) -> None:
        """Reject what is over the limit.

        Built-in tasks are exempt: their arguments are made of what was checked, often while another job ends, which a
        limit that was lowered since must not keep from ending.
        """
        limit = self.max_payload_bytes
        if limit is not None and not task.startswith(RESERVED):
            # A character has at most four bytes: most need not be encoded.
            if len(args) > limit // 4:
                check_size("args", args, limit)
            if meta is not None and len(meta) > limit // 4:
                check_size("meta", meta, limit)

    def knows(self, lane: int) -> bool:
        """True if `name` knows the lane."""
        return lane & LANE_MASK in self._names

    def name(self, lane: int) -> LaneName:
        return self._names[lane & LANE_MASK]

    async def learn(self, tx: Tx, lanes: Iterable[int]) -> None:
        """Load the names of these lanes, so that `name` knows them."""
        unknown = {lane & LANE_MASK for lane in lanes} - self._names.keys()
        if unknown:
            for row in await tx.fetch("lanes_by_number", to_json(sorted(unknown))):
                self._name(row["n"], _name(row))


async def add_lanes(tx: Tx, names: list[LaneName]) -> LaneNumbers:
    """Create lanes and their queues where they do not exist, and return their numbers.

    Never in a long transaction: others that need the same new lane wait for its end.
    """
    names = sorted(names, key=msgspec.structs.astuple)
    await tx.fetch("add_queues", to_json([{"name": queue} for queue in sorted({name.queue for name in names})]))
    await tx.fetch("add_lanes", to_json(names))
    rows = await tx.fetch("lanes_known", to_json(names))
    return [(_name(row), lane_number(row["queue_id"], row["n"])) for row in rows]


def _name(row: dict[str, str]) -> LaneName:
    return LaneName(row["queue"], row["task"], row["role"], row["concurrency_key"])
