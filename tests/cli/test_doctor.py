"""`hanbeon doctor`: what is broken now in an installation, and what works less well than it could."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from hanbeon import App
from hanbeon.store.database.notify import SqliteNotifier
from tests.cli.hanbeon import call, hanbeon_inside


async def _checks(*words: str) -> tuple[int, dict[str, tuple[str, str]]]:
    answer = await call("doctor", "--json", *words)
    assert answer.err == ""
    return answer.code, {each["name"]: (each["status"], each["text"]) for each in json.loads(answer.out)["checks"]}


async def test_finds_nothing_where_all_is_well(app_url: str) -> None:
    async with App(app_url) as app, app.worker():
        code, found = await _checks("--database", app_url)
        lines = (await call("doctor", "--database", app_url)).lines
    assert code == 0
    assert {status for status, _ in found.values()} == {"ok"}, found
    assert list(found) == ["settings", "database", "writes", "wake-ups", "clock", "Redis", "workers", "waiting"]
    assert len(lines) == 1 + len(found)


async def test_reports_workers_and_work_that_waits(app_url: str) -> None:
    async with App(app_url) as app:
        await app.pause("mail")
        code, found = await _checks("--database", app_url)
    assert code == 0, "nothing is broken"
    assert found["workers"] == ("warning", "no worker is alive; `hanbeon worker` starts one")
    status, text = found["waiting"]
    assert (status, "queue mail is paused" in text) == ("warning", True)


async def test_names_tasks_that_no_worker_has_registered(sqlite_url: str, tmp_path: Path) -> None:
    (tmp_path / "hanbeon.toml").write_text('[tasks.hello]\ncommand = ["echo"]\n')
    async with App(sqlite_url) as app, app.worker():
        code, found = await _checks("--database", sqlite_url, "--config", str(tmp_path / "hanbeon.toml"))
    assert code == 0
    assert found["workers"][0] == "warning"
    assert "none of them has registered hello" in found["workers"][1]


def test_reports_broken_settings_and_a_missing_database_together(tmp_path: Path) -> None:
    wrong: dict[str, Any] = {"HANBEON_LEASE": "soon"}
    done = hanbeon_inside("doctor", cwd=tmp_path, **wrong)
    assert done.returncode == 1
    assert "lease" in done.stdout
    assert "Traceback" not in done.stderr


async def test_reports_a_database_that_takes_no_writes(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with App(sqlite_url):
        pass
    there = os.statvfs("/")
    # A disk without a free block; one of our own would need root.
    monkeypatch.setattr(os, "statvfs", lambda path: os.statvfs_result([*there[:3], 0, 0, *there[5:]]))
    code, found = await _checks("--database", sqlite_url)
    assert (code, found["writes"][0]) == (1, "broken")
    assert found["workers"][0] == "warning", "the other checks are made all the same"


async def test_reports_hints_that_do_not_arrive(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: SqliteNotifier, payload: bytes, names: object) -> None:
        raise OSError("no sockets here")

    async with App(sqlite_url):
        pass
    monkeypatch.setattr(SqliteNotifier, "_send", refuse)
    monkeypatch.setattr("hanbeon.cli.doctor._WAKE_SECONDS", 0.2)
    status, text = (await _checks("--database", sqlite_url))[1]["wake-ups"]
    assert status == "warning"
    assert "is found by polling every 5 s" in text
    assert "folder of the file must be writable" in text
