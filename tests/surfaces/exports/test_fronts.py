"""Exports by the client, by the blocking App and by the command line: each way once, on SQLite."""
# ruff: noqa: ASYNC240 - nothing else runs on this loop that a look at the disk could hold up

import asyncio
import hashlib
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from hanbeon import App, SyncApp
from hanbeon.client import AsyncClient
from hanbeon.client.problems import Problem
from hanbeon.errors import ExportNotFound, ResultNotReady
from tests.server.client import serving
from tests.surfaces.exports.export_kit import SAMPLE


@pytest.fixture
def settings(sqlite_url: str, tmp_path: Path) -> dict[str, Any]:
    return {"url": sqlite_url, "jobs_export_path": str(tmp_path / "e"), "replay_path": str(tmp_path / "r")}


async def test_client_uploads_waits_and_downloads(settings: dict[str, Any], tmp_path: Path) -> None:
    async with (
        App(**settings) as app,
        serving(app, work=True) as server,
        AsyncClient(server.url) as client,
    ):
        replay = await client.replays.create(SAMPLE)
        assert (replay.replay_id, replay.duration_ms) == (1, 20_000)
        created = await client.replay("1").export_mp4(width=160, height=90, fps=5, lengthMs=1_000)
        done = await client.job(str(created.job_id)).wait(timeout=120)
        assert done.status == "SUCCEEDED"
        await client.job(str(created.job_id)).result(tmp_path / "got.mp4")
        assert hashlib.sha256((tmp_path / "got.mp4").read_bytes()).hexdigest() == done.result_checksum
        assert [each.job_id for each in (await client.jobs.list(status="SUCCEEDED")).items] == [1]
        (tmp_path / "bad").write_bytes(b"no replay")
        with pytest.raises(Problem, match="line 1"):
            await client.replays.create(tmp_path / "bad")
        with pytest.raises(Problem, match="no export"):
            await client.job("9").result(tmp_path / "none")
        assert not list(tmp_path.glob("none*"))


def test_blocking_app_creates_and_reads(settings: dict[str, Any], tmp_path: Path) -> None:
    with SyncApp(App(**settings)) as jobs:
        replay = jobs.replays.upload(SAMPLE, by="kim")
        created = jobs.exports.export_thumbnail(replay, by="kim")
        assert jobs.exports.get(created, by="kim").status == "QUEUED"
        with pytest.raises(ResultNotReady):
            jobs.exports.download(created, tmp_path / "x.png", by="kim")
        with pytest.raises(ExportNotFound):
            jobs.exports.get(created, by="lee")


async def test_command_line_exports_the_sample(settings: dict[str, Any], tmp_path: Path) -> None:
    given = {name: str(value) for name, value in settings.items() if name != "url"}
    environment = {**os.environ, "HANBEON_DATABASE_URL": str(settings["url"])}
    environment |= {f"HANBEON_{name.upper()}": value for name, value in given.items()}

    async def hanbeon(*words: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "hanbeon", "export", *words]
        process = await asyncio.create_subprocess_exec(*command, env=environment, stdout=asyncio.subprocess.PIPE)
        said, _ = await process.communicate()
        assert process.returncode is not None
        return process.returncode, said.decode()

    async with App(**settings) as app, app.worker():
        assert await hanbeon("upload", str(SAMPLE)) == (0, "1\n")
        size = ("--width", "160", "--height", "90")
        code, said = await hanbeon("thumbnail", "1", *size, "--output", str(tmp_path / "match.png"))
        assert code == 0, said
        assert (tmp_path / "match.png").read_bytes()[:4] == b"\x89PNG"
        assert "SUCCEEDED" in (await hanbeon("list"))[1]
        assert "한번 컵 결승" in (await hanbeon("replays"))[1]
