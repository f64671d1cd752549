"""What an instance writes while it holds jobs: renewals and progress, each refused without the fence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hanbeon.domain.lifecycle import Reason, State
from hanbeon.store.operations.emit import emit
from hanbeon.store.operations.lanes import LaneCache
from hanbeon.store.tx import Tx, to_json


class Lease(NamedTuple):
    seq: int
    fence: int


class LeaseFacts(NamedTuple):
    """How leases stand. What is in none of the three was passed over just now and is renewed next time."""

    renewed: set[int]
    lost: set[int]
    stop: set[int]


async def renew(tx: Tx, leases: Sequence[Lease], lease_us: int) -> LeaseFacts:
    """Extend the leases still held, and say which are lost and which jobs somebody asked to stop."""
    body = _body(leases)
    renewed = {row["seq"] for row in await tx.fetch("renew", body, lease_us)}
    facts = await look(tx, leases)
    return LeaseFacts(renewed, facts.lost, facts.stop)


async def look(tx: Tx, leases: Sequence[Lease]) -> LeaseFacts:
    """The same without renewing."""
    rows = await tx.fetch("lease_facts", _body(leases))
    return LeaseFacts(
        set(),
        {row["seq"] for row in rows if not row["held"]},
        {row["seq"] for row in rows if row["held"] and row["stop"]},
    )


async def write_progress(tx: Tx, lease: Lease, progress: str) -> bool:
    """Note progress; False if the lease is gone."""
    return bool(await tx.fetch("progress", *lease, progress))


async def note_overdue(tx: Tx, book: LaneCache, lease: Lease) -> bool:
    """Tell that the deadline passed and the work is being stopped."""
    rows = await tx.fetch("overdue", *lease)
    await emit(tx, book, rows, Reason.OVERDUE, State.RUNNING, of_attempts=True)
    return bool(rows)


def _body(leases: Sequence[Lease]) -> str:
    return to_json([lease._asdict() for lease in leases])
