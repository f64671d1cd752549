"""Lanes by name and by number. Lanes never change, so they can be cached.

They are deleted only with a reserved queue whose owner is gone, and only that owner enqueues jobs there.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import msgspec

from hanbeon.domain.job import LaneName
from hanbeon.store.operations.end_hooks import EndHook, end_hook_of
from hanbeon.store.records import LANE_MASK, lane_number
from hanbeon.store.tx import Tx, to_json

LaneNumbers = list[tuple[LaneName, int]]


class LaneCache:
    """An instance's cache of lanes. It holds committed lanes only; `ensure` returns a copy with uncommitted ones."""

    def __init__(self) -> None:
        self._committed = self
        self._numbers: dict[LaneName, int] = {}
        self._names: dict[int, LaneName] = {}
        self.limited: set[int] = set()
        """Queues seen with a limit: a hint to wake other instances when one of their slots becomes free."""
        self.hooked: dict[int, EndHook] = {}
        """The known lanes whose task has an end hook."""

    def note(self, name: LaneName, number: int) -> None:
        self._numbers[name] = number
        self._name(number & LANE_MASK, name)

    def _name(self, n: int, name: LaneName) -> None:
        self._names[n] = name
        if (hook := end_hook_of(name.task)) is not None:
            self.hooked[n] = hook

    async def ensure(self, tx: Tx, names: Iterable[LaneName]) -> LaneCache:
        """Create the missing lanes and return a cache with all of them; this one learns of them after the commit."""
        missing = self.missing(names)
        if not missing:
            return self
        made = await add_lanes(tx, missing)
        tx.after_commit(partial(self._committed._note_all, made))
        other = LaneCache()
        other._committed = self._committed
        other._numbers, other._names, other.limited = dict(self._numbers), dict(self._names), self.limited
        other.hooked = dict(self.hooked)
        other._note_all(made)
        return other

    def _note_all(self, lanes: LaneNumbers) -> None:
        for name, number in lanes:
            self.note(name, number)

    def missing(self, names: Iterable[LaneName]) -> list[LaneName]:
        return [name for name in dict.fromkeys(names) if name not in self._numbers]

    def number(self, name: LaneName) -> int:
        return self._numbers[name]

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
