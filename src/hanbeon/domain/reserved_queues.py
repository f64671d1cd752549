"""Reserved queues: one of a surface, or of an owner whose id follows a registered prefix in the name.

The module that owns a name or a prefix registers it when it is imported. A process that opens a store must have
imported all of them: without its prefix, a reserved queue would accept any job, and its events would be missing from
their index.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from hanbeon.domain.job import is_id
from hanbeon.errors import InvalidInput, LimitsSetElsewhere
from hanbeon.rule import Rule

_SEPARATOR = ":"


class ReservedPrefix(msgspec.Struct, frozen=True):
    """The queues named `<prefix>:<id>`, of which each belongs to the `owner` with that id.

    `remedy` completes the error of a caller who enqueues there. `indexed`: the events of each such queue are indexed,
    because they are followed one queue at a time. `counted`: the metrics have the sums of their jobs. `limits`: the
    fields of its limits that follow from the owner's settings, which are at `settings_path`.
    """

    prefix: str
    owner: str
    remedy: str
    indexed: bool = False
    counted: bool = False
    limits: tuple[str, ...] = ()
    settings_path: str = ""

    def queue(self, owner_id: str) -> str:
        return f"{self.prefix}{_SEPARATOR}{owner_id}"

    def owner_id(self, queue: str) -> str | None:
        """Return the id of the owner of this queue, or None if it has another prefix or none."""
        prefix, _, owner_id = queue.partition(_SEPARATOR)
        return owner_id if prefix == self.prefix and is_id(owner_id) else None


class ReservedQueue(msgspec.Struct, frozen=True):
    """The one queue of a surface. `remedy` completes the error of a caller who enqueues there."""

    name: str
    owner: str
    remedy: str


_prefixes: dict[str, ReservedPrefix] = {}
_queues: dict[str, ReservedQueue] = {}


def reserve(reserved: ReservedPrefix) -> ReservedPrefix:
    """Register a prefix; each has one owner."""
    if _prefixes.setdefault(reserved.prefix, reserved) != reserved:
        raise ValueError(f"the queue prefix {reserved.prefix!r} is already registered; choose another")
    return reserved


def reserve_queue(reserved: ReservedQueue) -> str:
    """Register a queue and return its name; each has one owner."""
    if _queues.setdefault(reserved.name, reserved) != reserved:
        raise ValueError(f"the queue {reserved.name!r} is already registered; choose another")
    return reserved.name


def reserved_prefix(queue: str) -> ReservedPrefix | None:
    """Return the registration of a queue with a reserved prefix, or None for any other."""
    if _SEPARATOR not in queue:
        return None
    prefix, _, owner_id = queue.partition(_SEPARATOR)
    found = _prefixes.get(prefix)
    return found if found is not None and is_id(owner_id) else None


def counted_prefixes() -> list[ReservedPrefix]:
    """Return the registered prefixes whose queues' jobs are summed up."""
    return [each for each in _prefixes.values() if each.counted]


def is_indexed(queue: str) -> bool:
    """True if the events of this queue are indexed by queue."""
    found = reserved_prefix(queue)
    return found is not None and found.indexed


def is_of_surface(queue: str) -> bool:
    """True for the one queue of a surface, which may have jobs of built-in tasks and others."""
    return queue in _queues


def check_limits_free(queue: str, changed: Iterable[str]) -> None:
    """Raise if one of the changed limits follows from the settings of the queue's owner, which would replace it."""
    found = reserved_prefix(queue)
    if found is not None and not set(found.limits).isdisjoint(changed):
        raise LimitsSetElsewhere(queue, found.owner, found.settings_path.format(id=found.owner_id(queue)))


def check_not_reserved(queue: str) -> None:
    """Raise for a reserved queue: its owner alone moves its jobs, and may delete its lanes with them."""
    found = _queues.get(queue) or reserved_prefix(queue)
    if found is not None:
        raise InvalidInput(
            Rule("queue_reserved", queue=repr(queue), owner=found.owner, remedy=found.remedy),
            field="queue",
        )
