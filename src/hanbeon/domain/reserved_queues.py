"""Reserved queues: created and deleted with their owner, whose id follows a registered prefix in their name.

The module that owns a prefix registers it when it is imported. A process that opens a store must have imported all of
them: without its prefix, a reserved queue would accept any job, and its events would be missing from their index.
"""

from __future__ import annotations

import msgspec

from hanbeon.domain.job import is_id
from hanbeon.errors import InvalidInput

_SEPARATOR = ":"


class ReservedPrefix(msgspec.Struct, frozen=True):
    """The queues named `<prefix>:<id>`, of which each belongs to the `owner` with that id.

    `remedy` completes the error of a caller who enqueues there. `indexed`: the events of each such queue are indexed,
    because they are followed one queue at a time.
    """

    prefix: str
    owner: str
    remedy: str
    indexed: bool = False

    def queue(self, owner_id: str) -> str:
        return f"{self.prefix}{_SEPARATOR}{owner_id}"

    def owner_id(self, queue: str) -> str | None:
        """Return the id of the owner of this queue, or None if it has another prefix or none."""
        prefix, _, owner_id = queue.partition(_SEPARATOR)
        return owner_id if prefix == self.prefix and is_id(owner_id) else None


_prefixes: dict[str, ReservedPrefix] = {}
_names: dict[str, tuple[str, str]] = {}


def reserve(reserved: ReservedPrefix) -> ReservedPrefix:
    """Register a prefix; each has one owner."""
    if _prefixes.setdefault(reserved.prefix, reserved) != reserved:
        raise ValueError(f"the queue prefix {reserved.prefix!r} is already registered; choose another")
    return reserved


def reserve_name(queue: str, owner: str, remedy: str) -> None:
    """Reserve one queue for an owner, whose counts and limits it carries. It is never deleted."""
    if _names.setdefault(queue, (owner, remedy)) != (owner, remedy):
        raise ValueError(f"the queue {queue!r} is already reserved; choose another")


def reserved_prefix(queue: str) -> ReservedPrefix | None:
    """Return the registration of a reserved queue, or None for an ordinary queue."""
    if _SEPARATOR not in queue:
        return None
    prefix, _, owner_id = queue.partition(_SEPARATOR)
    found = _prefixes.get(prefix)
    return found if found is not None and is_id(owner_id) else None


def is_indexed(queue: str) -> bool:
    """True if the events of this queue are indexed by queue."""
    found = reserved_prefix(queue)
    return found is not None and found.indexed


def check_not_reserved(queue: str) -> None:
    """Raise for a reserved queue: its lanes may be deleted with its owner, and a cached one would lose the job."""
    found = reserved_prefix(queue)
    owner, remedy = _names.get(queue, ("", "")) if found is None else (found.owner, found.remedy)
    if owner:
        raise InvalidInput(
            f"must not be a reserved queue, got {queue!r}, which belongs to {owner}; {remedy}",
            field="queue",
        )
