"""The record of who did what, written in the transaction that does it."""

from __future__ import annotations

import msgspec

from hanbeon.domain.actor import Actor
from hanbeon.store.tx import Tx

_BEYOND = 2**63 - 1


class ActionRecord(msgspec.Struct, frozen=True, kw_only=True):
    seq: int
    at: int
    user_name: str
    via: str
    action: str
    target: str | None
    count: int


async def add_action(tx: Tx, actor: Actor, count: int) -> None:
    """Record an action, or add to the count of one that has taken a transaction before."""
    await tx.fetch("add_action", actor.id, actor.user, actor.via, actor.action, actor.target, count)


async def actions(tx: Tx, before: int | None, user: str | None, limit: int) -> list[ActionRecord]:
    """Return the actions before one, newest first."""
    rows = await tx.fetch("actions", _BEYOND if before is None else before, user, limit)
    return [ActionRecord(**{name: row[name] for name in ActionRecord.__struct_fields__}) for row in rows]
