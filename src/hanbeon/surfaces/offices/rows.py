"""Offices: their records, next to their queues. The name of an office's queue contains its id."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from hanbeon.domain.events import Event
from hanbeon.domain.job import NO_HANDLER, LaneName, is_id
from hanbeon.domain.retry import RetryPolicy
from hanbeon.errors import Changed, Conflict
from hanbeon.rule import Rule
from hanbeon.store.operations.dependencies import promote_these
from hanbeon.store.operations.lanes import LaneCache, LaneNumbers
from hanbeon.store.operations.pages import Slice, fit_page, keyed
from hanbeon.store.operations.queues import add_queue, change_queue, leave_queues, take_up_queue
from hanbeon.store.records import LANE_MASK, lane_number, lanes_of_queue, policy_text
from hanbeon.store.tx import Tx, in_parts, to_json
from hanbeon.surfaces.offices.errors import OfficeNotFound
from hanbeon.surfaces.offices.listener_rows import drop_listeners, listeners_of
from hanbeon.surfaces.offices.queue import queue_of_office

OFFICE_DELETED = "office_deleted"
_JOBS_A_STATEMENT = 1_000
_KEPT_AS_JSON = ("config", "sessions")


class OfficeRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A stored office. `config` holds the values that were set, without defaults."""

    id: str
    name: str
    config: dict[str, Any] = msgspec.field(default_factory=dict)
    sessions: dict[str, str] = msgspec.field(default_factory=dict)
    version: int = 1
    created_at: int = 0
    changed_at: int = 0

    @property
    def queue(self) -> str:
        return queue_of_office(self.id)


class Handling(msgspec.Struct, frozen=True):
    """The task, the timeout, the retry policy and the expiry of a job."""

    task: str
    timeout_us: int | None
    policy: RetryPolicy
    expires_us: int | None = None


async def add_office(tx: Tx, office: OfficeRecord, limits: Mapping[str, Any]) -> OfficeRecord | None:
    """Create an office and its queue; None if it exists: the same request was made before."""
    if not await tx.fetch("add_office", office.id, office.name, *_texts(office)):
        return None
    await add_queue(tx, office.queue)
    await take_up_queue(tx, office.queue)
    await change_queue(tx, office.queue, limits, None)
    return await office_by_id(tx, office.id)


async def office_by_id(tx: Tx, office_id: str) -> OfficeRecord:
    return await _one(tx, "office_by_id", office_id)


async def lock_office(tx: Tx, office_id: str, expected: int | None = None) -> OfficeRecord:
    """Return the office, locked for a change; `expected` is the version that the caller has read."""
    office = await _one(tx, "lock_office", office_id)
    if expected is not None and office.version != expected:
        raise Changed(Rule("office_version", office=office_id, version=office.version, expected=expected))
    return office


async def keep_office(tx: Tx, office_id: str, expected: int | None = None) -> None:
    """Lock the office in share mode: until the commit it can neither be changed nor deleted."""
    rows = await tx.fetch("keep_office", office_id) if is_id(office_id) else []
    if not rows:
        raise OfficeNotFound(office_id)
    if expected is not None and rows[0]["version"] != expected:
        raise Changed(Rule("office_changed", office=office_id))


async def offices(tx: Tx, after: str | None, limit: int) -> Slice[OfficeRecord]:
    """Return a page of offices in the order of their ids."""
    page: Slice[str] = fit_page(keyed(await tx.fetch("office_page", after, limit + 1), "id"), limit)
    ids = to_json([str(office_id) for office_id in page.items])
    return page.of([_record(row) for row in await tx.fetch("offices", ids)])


async def change_office(tx: Tx, office: OfficeRecord, limits: Mapping[str, Any] | None = None) -> OfficeRecord:
    """Write the new values of a locked office; its queue gets new limits in the same transaction."""
    await tx.fetch("change_office", office.id, office.name, *_texts(office))
    if limits is not None:
        await change_queue(tx, office.queue, limits, None)
    return await office_by_id(tx, office.id)


async def delete_office(tx: Tx, office_id: str, *, stopping: bool) -> None:
    """Delete an office without unfinished jobs; `stopping`: except those that have been requested to stop.

    An event announces it to subscribers.
    """
    office = await lock_office(tx, office_id)
    # First: a retry of a job of it keeps the queue until that job is seen below.
    await leave_queues(tx, [office.queue])
    lanes = lanes_of_queue(await queue_id(tx, office.queue))
    if await tx.fetch("unfinished_of_queue", *lanes, stopping):
        raise Conflict(Rule("office_has_jobs", office=office_id))
    await drop_listeners(tx, (await listeners_of(tx, [office_id])).get(office_id, []))
    deleted_at = (await tx.fetch("delete_office", office_id))[0]["deleted_at"]
    tx.emit(Event(type=OFFICE_DELETED, at=deleted_at, queue=office.queue))


async def roles_of_queue(tx: Tx, queue: str) -> set[str]:
    """Return the roles that jobs have brought into a queue."""
    return {row["role"] for row in await tx.fetch("roles_of_queue", await queue_id(tx, queue))}


async def promote_queue(tx: Tx, lanes: LaneCache, queue: str, limit: int) -> int:
    """pending → ready for the due jobs of one queue; return how many."""
    numbers = lanes_of_queue(await queue_id(tx, queue))
    due = [row["seq"] for row in await tx.fetch("due_of_queue", *numbers, limit)]
    return await promote_these(tx, lanes, due) if due else 0


async def hand_over(
    tx: Tx, lanes: LaneCache, queue: str, handling: Callable[[str, str | None], Handling | None]
) -> LaneNumbers:
    """Give waiting jobs without a handler the one that `handling(role, meta)` returns. The result is always empty.

    The office is locked, so no more of them arrive in the meantime. No worker serves their present lanes, so none of
    them is being claimed; one that is cancelled just now stays in its lane.
    """
    number = await queue_id(tx, queue)
    roles = {row["n"]: row["role"] for row in await tx.fetch("lanes_of_task", number, NO_HANDLER)}
    if not roles:
        return []
    numbers = to_json([lane_number(number, n) for n in roles])
    waiting = [row["seq"] for row in await tx.fetch("waiting_in_lanes", numbers)]
    for part in in_parts(waiting, _JOBS_A_STATEMENT):
        rows = await tx.fetch("lock_waiting", to_json(part))
        found = [(row, roles[row["lane"] & LANE_MASK]) for row in rows]
        moves = [(row["seq"], role, it) for row, role in found if (it := handling(role, row["meta"])) is not None]
        wanted = {(role, it.task): LaneName(queue, it.task, role, "") for _, role, it in moves}
        lanes = await lanes.ensure(tx, wanted.values())
        await _move(tx, [(seq, lanes.number(wanted[role, it.task]), it) for seq, role, it in moves])
    return []


async def _move(tx: Tx, moves: Sequence[tuple[int, int, Handling]]) -> None:
    if not moves:
        return
    rows = [
        {"seq": seq, "lane": lane, "timeout_us": it.timeout_us, "policy": policy_text(it.policy)}
        for seq, lane, it in moves
    ]
    await tx.fetch("hand_over", to_json(rows))
    tx.wake("work")


async def queue_id(tx: Tx, queue: str) -> int:
    """Return the id of a queue that is known to exist, such as an office's."""
    return int((await tx.fetch("queue_named", queue))[0]["id"])


def _texts(office: OfficeRecord) -> list[str]:
    return [to_json(getattr(office, field)) for field in _KEPT_AS_JSON]


async def _one(tx: Tx, statement: str, office_id: str) -> OfficeRecord:
    rows = await tx.fetch(statement, office_id) if is_id(office_id) else []
    if not rows:
        raise OfficeNotFound(office_id)
    return _record(rows[0])


def _record(row: Any) -> OfficeRecord:
    values = {name: row[name] for name in OfficeRecord.__struct_fields__}
    values |= {name: msgspec.json.decode(row[name]) for name in _KEPT_AS_JSON}
    return msgspec.convert(values | {"id": str(row["id"])}, OfficeRecord)
