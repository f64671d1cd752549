"""The instances that work on this database."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from hanbeon.store.tx import Tx, to_json


class NewInstance(msgspec.Struct, frozen=True):
    name: str
    host: str
    pid: int
    version: str
    tasks: Sequence[str]
    capacity: int
    schedules: Sequence[str] = ()


class InstanceRecord(msgspec.Struct, frozen=True, kw_only=True):
    """An instance as the others see it. `alive`: its last heartbeat is more recent than the duration of a lease.

    `schedules` are the names of the schedules that it declares.
    """

    id: int
    name: str
    host: str
    pid: int
    version: str
    tasks: list[str]
    schedules: list[str]
    capacity: int
    running: int
    started_at: int
    seen_at: int
    stopped_at: int | None
    alive: bool


async def register(tx: Tx, new: NewInstance) -> int:
    rows = await tx.fetch(
        "register_instance",
        new.name,
        new.host,
        new.pid,
        new.version,
        to_json(new.tasks),
        new.capacity,
        to_json(new.schedules),
    )
    return int(rows[0]["id"])


async def beat(
    tx: Tx,
    instance: int,
    running: int,
    tasks: Sequence[str],
    capacity: int | None,
    schedules: Sequence[str] | None = None,
) -> bool:
    """Write a heartbeat; False if the instance's row was pruned while it slept."""
    declared = None if schedules is None else to_json(schedules)
    return bool(await tx.fetch("beat_instance", instance, running, to_json(tasks), capacity, declared))


async def leave(tx: Tx, instance: int) -> None:
    await tx.fetch("stop_instance", instance)


async def instances(tx: Tx, alive_within_us: int) -> list[InstanceRecord]:
    rows = await tx.fetch("instances", alive_within_us)
    return [
        msgspec.convert(
            {name: row[name] for name in InstanceRecord.__struct_fields__}
            | {name: msgspec.json.decode(row[name]) for name in ("tasks", "schedules")},
            InstanceRecord,
            strict=False,
        )
        for row in rows
    ]
