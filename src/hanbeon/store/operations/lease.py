"""Writes of an instance that holds jobs: renewals and progress, each rejected without the fence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from hanbeon.domain.lifecycle import Reason, State
from hanbeon.store.operations.end_hooks import run_progress_hooks
from hanbeon.store.operations.events import emit
from hanbeon.store.operations.lanes import LaneCache
from hanbeon.store.tx import Tx, to_json


class Lease(NamedTuple):
    """A claim of a job. Fences go back when a database is restored; the number of an instance is never used again.

    `instance`: the holder, which is compared as well as the fence; None compares the fence alone.
    """

    seq: int
    fence: int
    instance: int | None = None


GRANT_MOST_US = 120_000_000
"""The longest time for which a long write may keep all renewals waiting."""


class LeaseFacts(NamedTuple):
    """The status of leases. One that is neither renewed nor lost was skipped just now and is renewed next time.

    `left`: for how many microseconds each lease that is held lasts, counted from when this was asked for.
    """

    renewed: set[int]
    lost: set[int]
    stop: set[int]
    left: Mapping[int, int] = MappingProxyType({})


async def renew(tx: Tx, leases: Sequence[Lease], lease_us: int) -> LeaseFacts:
    """Extend the leases still held; report which are lost and which jobs have been requested to stop."""
    body = _body(leases)
    renewed = {row["seq"] for row in await tx.fetch("renew", body, lease_us, GRANT_MOST_US)}
    return (await look(tx, leases))._replace(renewed=renewed)


async def look(tx: Tx, leases: Sequence[Lease]) -> LeaseFacts:
    """Report which leases are lost and which jobs must stop, without renewing."""
    rows = await tx.fetch("lease_facts", _body(leases))
    return LeaseFacts(
        set(),
        {row["seq"] for row in rows if not row["held"]},
        {row["seq"] for row in rows if row["held"] and row["stop"]},
        {row["seq"]: row["left_us"] for row in rows if row["held"]},
    )


async def grant_time(tx: Tx, us: int) -> None:
    """Extend all live leases, so that none ends within this time although nobody can renew it."""
    await tx.fetch("grant_time", us)


async def is_granted(tx: Tx, us: int) -> bool:
    """True if no lease ends within this time."""
    return not await tx.fetch("short_leases", us)


async def write_progress(tx: Tx, lanes: LaneCache, lease: Lease, progress: str) -> bool:
    """Write progress, with whatever the owner of its task adds; False if the lease is gone."""
    rows = await tx.fetch("progress", *lease, progress)
    await run_progress_hooks(tx, lanes, rows, progress)
    return bool(rows)


async def note_begin(tx: Tx, lease: Lease, *, begun: bool) -> bool:
    """Note that the body has not begun, or that it begins now; False if the lease is gone."""
    return bool(await tx.fetch("note_begin", *lease, None if begun else lease.fence))


async def note_overdue(tx: Tx, lanes: LaneCache, lease: Lease) -> bool:
    """Emit the event that the deadline passed and the work is being stopped."""
    rows = await tx.fetch("overdue", *lease)
    await emit(tx, lanes, rows, Reason.OVERDUE, State.RUNNING, of_attempts=True)
    return bool(rows)


def _body(leases: Sequence[Lease]) -> str:
    return to_json([lease._asdict() for lease in leases])
