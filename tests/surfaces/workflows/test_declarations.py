"""Workflows in `hanbeon.toml`: applied by a worker when it starts, and when the file has changed."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest

from hanbeon import App
from hanbeon.errors import DatabaseUnavailable, InvalidInput
from tests.databases.faults import LossyApp

FILE = """
[workflows.weekly]
steps = [{ type = "wait", seconds = 0, name = "nothing" }]

[workflows.weekly.schedule_config]
mode = "recurring"
recurrence = { frequency = "weekly", time = "%s", weekdays = ["MON"] }
"""


async def _started(url: str, path: Path) -> App:
    app = App.from_file(path, database_url=url)
    await app.open()
    await app.worker().register()
    return app


async def test_declared_workflow_is_reconciled(database_url: str, tmp_path: Path) -> None:
    path = tmp_path / "hanbeon.toml"
    path.write_text(FILE % "09:00")
    async with await _started(database_url, path) as app:
        (made,) = (await app.workflows.list()).items
        assert (made.name, made.status, made.declared) == ("weekly", "active", True)
        assert str(made.next_run_at).endswith("T09:00:00.000+09:00")
        await app.workflows.pause(made)
    async with await _started(database_url, path) as app:
        assert (await app.workflows.get(made)).status == "paused"  # The same declaration changes nothing.
    path.write_text(FILE % "10:00")
    async with await _started(database_url, path) as app:
        changed = await app.workflows.get(made)
        assert (changed.status, str(changed.next_run_at)[10:16]) == ("active", "T10:00")
        await app.workflows.delete(made)
    async with await _started(database_url, path) as app:
        assert (await app.workflows.list()).items == []
    path.write_text(FILE % "11:00")
    async with await _started(database_url, path) as app:
        (revived,) = (await app.workflows.list()).items
        assert (revived.id, str(revived.next_run_at)[10:16]) == (made.id, "T11:00")


async def test_declaration_that_failed_half_way_is_applied_later(lossy_app: LossyApp) -> None:
    """Each of its commits is lost in turn, and the worker is started again."""
    app, faults, _ = lossy_app
    for number in range(1, 20):
        name = f"weekly-{number}"
        await app.workflows.declare(name, _weekly("09:00"))
        made = (await app.workflows.list(limit=100)).items[-1]
        await app.workflows.delete(made)
        faults.before(number)
        with contextlib.suppress(DatabaseUnavailable):
            await app.workflows.declare(name, _weekly("11:00"))
        struck = faults.struck
        faults.heal()
        await app.workflows.declare(name, _weekly("11:00"))
        revived = await app.workflows.get(made.id)
        assert (revived.status, str(revived.next_run_at)[10:16]) == ("active", "T11:00"), number
        if not struck:
            return
    raise AssertionError("more commits than a declaration has")


def _weekly(time: str) -> dict[str, Any]:
    recurrence = {"frequency": "weekly", "time": time, "weekdays": ["MON"]}
    return {
        "steps": [{"type": "wait", "seconds": 0}],
        "schedule_config": {"mode": "recurring", "recurrence": recurrence},
        "status": "active",
    }


def test_invalid_declarations_are_reported_with_their_place(tmp_path: Path) -> None:
    path = tmp_path / "hanbeon.toml"
    path.write_text(FILE % "25:00")
    with pytest.raises(InvalidInput, match="must be a time of day") as caught:
        App.from_file(path)
    assert caught.value.field == "workflows.weekly.schedule_config.recurrence.time"
