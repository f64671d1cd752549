"""Registered tasks, and the settings by which their executions run."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from hanbeon.domain.executions import TaskSettings, execution_keys
from hanbeon.store.records import policy_text
from hanbeon.store.tx import Tx, to_json

# Many tasks share the same settings, and they rarely change.
_settings = lru_cache(maxsize=1_024)(msgspec.json.Decoder(TaskSettings).decode)


class KnownTask(msgspec.Struct, frozen=True, gc=False):
    """The fields of a task that are needed to create an execution."""

    id: int
    name: str
    settings: TaskSettings


class TaskRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A task with its last registration."""

    id: int
    name: str
    settings: TaskSettings
    registered_by: str
    first_registered_at: int
    registered_at: int


async def register_tasks(tx: Tx, tasks: Mapping[str, TaskSettings], by: str) -> list[int]:
    """Register tasks. Unfinished executions use their new settings from now on.

    Except those that were locked at that moment, which are returned: `follow` each in a transaction of its own. So are
    those that an earlier registration left, whose answer was lost or whose worker died before it came to them.
    """
    if not tasks:
        return []
    before = await lock_tasks(tx, [task.id for task in await find_tasks(tx, tasks)])
    await tx.fetch("register_tasks", to_json([{"name": name, "settings": _text(it)} for name, it in tasks.items()]), by)
    left = []
    waiting = await unfinished_executions(tx, [task.id for task in before])
    for task in before:
        if task.id in waiting:
            theirs = (*execution_keys(task.id), *_running(tasks[task.name]))
            if _running(task.settings) != _running(tasks[task.name]):
                await tx.fetch("follow_task", *theirs)
            left += [row["seq"] for row in await tx.fetch("unlike_their_task", *theirs)]
    return left


async def follow(tx: Tx, job: int) -> None:
    """Apply the current settings of its task to one execution."""
    found = await tx.fetch("task_of_execution", job)
    for task in await lock_tasks(tx, [row["task_id"] for row in found]):
        await tx.fetch("follow_one", job, *_running(task.settings))


async def find_tasks(tx: Tx, names: Collection[str]) -> list[KnownTask]:
    """Return those of these tasks that are registered."""
    return [_known(row) for row in await tx.fetch("task_ids", to_json(sorted(names)))]


async def lock_tasks(tx: Tx, ids: Collection[int]) -> list[KnownTask]:
    """Lock tasks: until the commit no other transaction creates their executions or changes their settings."""
    return [_known(row) for row in await tx.fetch("lock_tasks", to_json(sorted(ids)))] if ids else []


async def tasks(tx: Tx, after: str | None = None, name: str | None = None, limit: int = 1) -> list[TaskRecord]:
    """Return tasks in the order of their names."""
    return [
        msgspec.convert(
            {field: row[field] for field in TaskRecord.__struct_fields__} | {"settings": _settings(row["settings"])},
            TaskRecord,
        )
        for row in await tx.fetch("tasks", after, name, limit)
    ]


async def unfinished_executions(tx: Tx, ids: Collection[int]) -> dict[int, str]:
    """Return one unfinished execution per task; a task without any is omitted."""
    rows = []
    for task_id in ids:
        low, high = execution_keys(task_id)
        rows.append({"id": task_id, "low": low, "high": high})
    found = await tx.fetch("unfinished_executions", to_json(rows)) if rows else []
    return {row["id"]: row["execution"] for row in found}


def _running(settings: TaskSettings) -> tuple[int | None, str]:
    """Return the settings that are stored with a job."""
    return settings.timeout_us, policy_text(settings.policy)


def _text(settings: TaskSettings) -> str:
    return to_json(settings)


def _known(row: Any) -> KnownTask:
    return KnownTask(row["id"], row["name"], _settings(row["settings"]))
