"""Lanes by name and by number. Lanes never change, so what was seen once may be remembered.

They are removed with the queue of an office or a listener that is gone, into which nobody else puts jobs.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from hanbeon.domain.job import LaneName
from hanbeon.store.records import LANE_MASK, lane_number
from hanbeon.store.tx import Tx, to_json

LaneNumbers = list[tuple[LaneName, int]]


class LaneCache:
    """An instance's memory of lanes. Only what was read after a commit goes in."""

    def __init__(self) -> None:
        self._numbers: dict[LaneName, int] = {}
        self._names: dict[int, LaneName] = {}
        self.limited: set[int] = set()
        """Queues seen with a limit: a hint for waking others when one of their slots becomes free."""

    def note(self, name: LaneName, number: int) -> None:
        self._numbers[name] = number
        self._names[number & LANE_MASK] = name

    def with_lanes(self, lanes: Iterable[tuple[LaneName, int]]) -> LaneCache:
        """A copy that knows more: for lanes made in a transaction that has not committed yet."""
        other = LaneCache()
        other._numbers, other._names, other.limited = dict(self._numbers), dict(self._names), self.limited
        for name, number in lanes:
            other.note(name, number)
        return other

    def missing(self, names: Iterable[LaneName]) -> list[LaneName]:
        return [name for name in dict.fromkeys(names) if name not in self._numbers]

    def number(self, name: LaneName) -> int:
        return self._numbers[name]

    def name(self, lane: int) -> LaneName:
        return self._names[lane & LANE_MASK]

    async def learn(self, tx: Tx, lanes: Iterable[int]) -> None:
        """Afterwards `name` knows all of these."""
        unknown = {lane & LANE_MASK for lane in lanes} - self._names.keys()
        if unknown:
            for row in await tx.fetch("lanes_by_number", to_json(sorted(unknown))):
                self._names[row["n"]] = _name(row)


async def add_lanes(tx: Tx, names: list[LaneName]) -> LaneNumbers:
    """Make lanes (and their queues) exist, and say their numbers.

    Never in a transaction that lasts: others who need the same new lane wait for its end.
    """
    names = sorted(names, key=msgspec.structs.astuple)
    await tx.fetch("add_queues", to_json([{"name": queue} for queue in sorted({name.queue for name in names})]))
    await tx.fetch("add_lanes", to_json(names))
    rows = await tx.fetch("lanes_known", to_json(names))
    return [(_name(row), lane_number(row["queue_id"], row["n"])) for row in rows]


def _name(row: dict[str, str]) -> LaneName:
    return LaneName(row["queue"], row["task"], row["role"], row["concurrency_key"])
