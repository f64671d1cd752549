"""Files and rows: neither is left without the other, whenever a process is killed; retention removes both."""
# ruff: noqa: ASYNC240 - nothing else runs on this loop that a look at the disk could hold up

import asyncio
import sys
from pathlib import Path

import pytest

from hanbeon import App
from hanbeon.surfaces.exports.replays.rows import ReplayRecord
from hanbeon.surfaces.exports.replays.verify import replay_page
from hanbeon.surfaces.verify import verify
from tests.server.client import Client
from tests.surfaces.exports.export_kit import ended, exported, uploaded
from tests.surfaces.exports.killed_upload import MOMENTS
from tests.surfaces.exports.test_moves import script

_DAY_US = 86_400_000_000
_SHORT = ("before the row", "after the deletion")
_LONG_AGO = 40 * _DAY_US


@pytest.mark.parametrize(
    "moment",
    [each if each in _SHORT else pytest.param(each, marks=pytest.mark.slow) for each in MOMENTS],
)
async def test_killed_upload_leaves_file_and_row_or_none(sqlite_url: str, tmp_path: Path, moment: str) -> None:
    root = tmp_path / "replays"
    command = [sys.executable, "-m", "tests.surfaces.exports.killed_upload", sqlite_url, str(root), moment]
    process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
    _, said = await process.communicate()
    assert process.returncode == 9, said.decode()
    async with App(sqlite_url, replay_path=str(root)) as app:
        await script(app, f"UPDATE hanbeon.unwanted_file SET due_at = due_at - {_DAY_US}")
        await app.store.prune(_LONG_AGO, 1_000)
        rows: list[ReplayRecord] = await app.store.read(lambda tx: replay_page(tx, 0))
        files = {path.name for path in root.glob("*")}
        assert files == {row.file for row in rows}
        assert len(files) == (moment == "after the row")
        assert (await verify(app.store)).findings == ()
        async with app.store.transaction() as tx:
            assert list(await tx.fetch("SELECT * FROM hanbeon_unwanted_file")) == []


async def test_retention_deletes_exports_replays_and_files(app: App, working: Client, tmp_path: Path) -> None:
    replay = await uploaded(working)
    done = await ended(working, await exported(working, replay))
    (extra := Path(done["resultUri"]).with_name(".1.mp4.left.part")).write_bytes(b"of a killed attempt")
    await app.store.prune(_LONG_AGO, 1_000)
    assert Path(done["resultUri"]).exists()
    assert not extra.exists()
    assert (await working.get(f"/api/replays/{replay}")).status == 200
    for _ in range(3):  # The export, then its replay, then the files of both.
        await app.store.prune(0, 1_000)
    assert (await working.get(f"/api/jobs/{done['jobId']}")).status == 404
    assert (await working.get(f"/api/replays/{replay}")).status == 404
    assert [path for path in tmp_path.rglob("*") if path.is_file() and path.suffix in (".mp4", ".jsonl")] == []
    assert (await verify(app.store)).findings == ()


async def test_files_of_another_machine_are_left_to_it(app: App, server: Client, tmp_path: Path) -> None:
    replay = await uploaded(server)
    (tmp_path / "replays").rename(tmp_path / "elsewhere")
    assert (await server.ask("DELETE", f"/api/replays/{replay}")).status == 204
    (tmp_path / "elsewhere").rename(tmp_path / "replays")
    await script(app, f"UPDATE hanbeon.unwanted_file SET due_at = due_at - {_DAY_US}")
    await app.store.prune(_LONG_AGO, 1_000)
    assert list((tmp_path / "replays").iterdir()) == []
