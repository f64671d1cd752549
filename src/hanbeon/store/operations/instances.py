"""The instances that work on this database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from hanbeon.domain.job import RESERVED
from hanbeon.errors import NotFound
from hanbeon.rule import Rule
from hanbeon.store.tx import Tx, to_json


class Beat(NamedTuple):
    """The answer to a heartbeat. Not `known`: the instance's row was pruned while it slept."""

    known: bool
    draining: bool = False


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
    draining: bool = False
    """An operator has drained it: it claims nothing more."""


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
    capacity: int | None = None,
    schedules: Sequence[str] | None = None,
) -> Beat:
    """Write a heartbeat."""
    declared = None if schedules is None else to_json(schedules)
    for row in await tx.fetch("beat_instance", instance, running, to_json(tasks), capacity, declared):
        return Beat(True, row["draining_at"] is not None)
    return Beat(False)


async def note_blocked(tx: Tx, instance: int, job: int | None, us: int) -> None:
    """Note that its event loop has been blocked for so long, by this job if it is known. The next beat removes it."""
    await tx.fetch("note_blocked", instance, job, us)


class Blockage(NamedTuple):
    """For how long the event loop of an instance has been blocked, and by which job."""

    us: int
    job: str | None


async def blockage_of(tx: Tx, instance: int) -> Blockage | None:
    for row in await tx.fetch("blockage_of", instance):
        return Blockage(row["us"], None if row["id"] is None else str(row["id"]))
    return None


async def drain(tx: Tx, instance: int, *, on: bool) -> None:
    """Tell an instance to claim nothing more, or to claim again. It hears of it at once, or at its next heartbeat."""
    if not await tx.fetch("drain_instance", instance, on):
        raise NotFound(Rule("instance_not_found", instance=instance))
    tx.wake("drain")


async def leave(tx: Tx, instance: int) -> None:
    await tx.fetch("stop_instance", instance)


async def instances(tx: Tx, alive_within_us: int, *, built_in: bool = False) -> list[InstanceRecord]:
    """List the instances. `built_in`: also name the built-in tasks that not every worker has; no user may run them."""
    rows = await tx.fetch("instances", alive_within_us)
    return [
        msgspec.convert(
            {name: row[name] for name in InstanceRecord.__struct_fields__}
            | {
                "tasks": [
                    task for task in msgspec.json.decode(row["tasks"]) if built_in or not task.startswith(RESERVED)
                ],
                "schedules": msgspec.json.decode(row["schedules"]),
            },
            InstanceRecord,
            strict=False,
        )
        for row in rows
    ]
