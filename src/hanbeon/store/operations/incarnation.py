"""The incarnation of the database: a restore from a backup begins another."""

from __future__ import annotations

import msgspec

from hanbeon.store.tx import Tx


class Incarnation(msgspec.Struct, frozen=True):
    """A life of the database. `since`: when it began."""

    id: str
    since: int


class Restored(msgspec.Struct, frozen=True):
    """A begun incarnation: how many jobs were running, of which instances nothing will be heard any more."""

    incarnation: Incarnation
    interrupted: int


async def incarnation(tx: Tx) -> Incarnation:
    (row,) = await tx.fetch("incarnation")
    return Incarnation(row["id"], row["since"])


async def begin_incarnation(tx: Tx) -> Restored:
    """Begin another incarnation, in which nothing runs: recovery ends the attempts of the one before as lost.

    Writes under way are waited for, and those that follow are refused: none commits after this that began before it.
    """
    await tx.fetch("lock_incarnation")
    (row,) = await tx.fetch("renew_incarnation")
    await tx.fetch("stop_instances")
    interrupted = await tx.fetch("expire_leases")
    tx.wake("work", "later", "event", "fire", "outgoing")
    return Restored(Incarnation(row["id"], row["since"]), len(interrupted))
