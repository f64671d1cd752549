"""Exports from QUEUED to their end: pages, cancel, failures, downloads, and what a connection hears."""
# ruff: noqa: ASYNC240 - nothing else runs on this loop that a look at the disk could hold up

import asyncio
import hashlib
from pathlib import Path
from typing import Any

import pytest

from hanbeon import App
from hanbeon.store.database.postgres import PostgresDatabase
from hanbeon.surfaces.verify import verify
from tests.server.client import Client
from tests.server.websocket_client import dial, hear, hear_any, until
from tests.surfaces.exports.export_kit import SMALL, ended, exported, upload, uploaded

LONG: dict[str, Any] = {"width": 640, "height": 360, "fps": 60}


async def script(app: App, text: str) -> None:
    """Change the tables behind the store's back."""
    prefix = "hanbeon." if isinstance(app.store.database, PostgresDatabase) else "hanbeon_"
    async with app.store.transaction() as tx:
        await tx.execute(text.replace("hanbeon.", prefix))


async def test_exports_are_listed_by_page_and_filter(app: App, server: Client) -> None:
    replay = await uploaded(server)
    jobs = [await exported(server, replay, kind) for kind in ("mp4", "thumbnail", "mp4")]
    await server.post(f"/api/jobs/{jobs[0]}/cancel")
    page = (await server.get("/api/jobs?page=0&size=2")).json
    assert ([each["jobId"] for each in page["items"]], page["page"], page["size"], page["total"]) == ([3, 2], 0, 2, 3)
    assert [each["jobId"] for each in (await server.get("/api/jobs?page=1&size=2")).json["items"]] == [1]
    assert [each["jobId"] for each in (await server.get("/api/jobs?jobType=MP4&status=QUEUED")).json["items"]] == [3]
    assert (await server.get("/api/jobs?jobType=GIF")).json["field"] == "jobType"
    assert (await server.get("/api/jobs?page=-1")).json["field"] == "page"
    explained = (await server.get("/api/jobs/3/explain")).json
    assert (explained["runnable"], explained["reasons"][0]["code"]) == (False, "no_worker")
    for wrong in ({"width": 161}, {"fps": 0}, {"startMs": 20_000}, {"lengthMs": 0}, {"heigth": 90}):
        answer = await server.post(f"/api/replays/{replay}/exports/mp4", wrong)
        assert (answer.status, answer.json["field"]) == (422, next(iter(wrong))), wrong
    assert (await server.post(f"/api/replays/{replay}/exports/thumbnail", {"fps": 5})).status == 422
    prefix = "hanbeon." if isinstance(app.store.database, PostgresDatabase) else "hanbeon_"
    async with app.store.transaction() as tx:
        rows = await tx.fetch(f"SELECT job_id, owner_user_id, status FROM {prefix}export_jobs ORDER BY job_id")
    assert [tuple(row) for row in rows] == [(1, "local", "CANCELLED"), (2, "local", "QUEUED"), (3, "local", "QUEUED")]


async def test_running_export_is_cancelled_and_leaves_no_file(app: App, working: Client) -> None:
    replay = await uploaded(working)
    job = await exported(working, replay, **LONG)

    async def rendering() -> bool:
        return bool((await working.get(f"/api/jobs/{job}")).json["phase"] == "rendering")

    await until(rendering)
    async with dial(working, "/ws/jobs") as listener:
        assert (await hear_any(listener))["type"] == "opened"
        present = await hear(listener)
        assert (present["type"], present["jobId"], present["phase"]) == ("job.progress", job, "rendering")
        assert (await working.post(f"/api/jobs/{job}/cancel")).status in (200, 202)
        while (heard := await hear(listener))["type"] == "job.progress":
            pass
        assert (heard["type"], heard["status"]) == ("job.cancelled", "CANCELLED")
    assert (await ended(working, job))["status"] == "CANCELLED"
    assert (await working.post(f"/api/jobs/{job}/cancel")).status == 200
    assert (await working.get(f"/api/jobs/{job}/result")).code == "result_not_ready"
    async with dial(working, f"/ws/jobs?after={present['id']}") as listener:
        heard = await hear(listener)
        while heard["type"] == "job.progress":
            heard = await hear(listener)
        assert heard["type"] == "job.cancelled"
    await app.store.prune(10**15, 1_000)
    assert list(Path(app.settings.jobs_export_path or "").rglob("*")) == []
    assert (await verify(app.store)).findings == ()


async def test_download_has_ranges_and_refuses_other_files(app: App, working: Client, tmp_path: Path) -> None:
    job = (await ended(working, await exported(working, await uploaded(working))))["jobId"]
    path = f"/api/jobs/{job}/result"
    whole = await working.get(path)
    size, digest = len(whole.body), hashlib.sha256(whole.body).hexdigest()
    assert (whole.headers["content-length"], whole.headers["accept-ranges"]) == (str(size), "bytes")
    part = await working.get(path, Range="bytes=10-19")
    assert (part.status, part.body) == (206, whole.body[10:20])
    assert part.headers["content-range"] == f"bytes 10-19/{size}"
    assert (await working.get(path, Range="bytes=-7")).body == whole.body[-7:]
    assert (await working.get(path, Range=f"bytes={size - 3}-")).body == whole.body[-3:]
    assert (await working.get(path, Range="bytes=0-0,5-6")).body == whole.body
    assert (await working.get(path, Range="lines=1-2")).status == 200
    assert (await working.get(path, Range="bytes=1-2", If_Range='"other"')).status == 200
    assert (await working.get(path, Range="bytes=1-2", If_Range=f'"{digest}"')).status == 206
    beyond = await working.get(path, Range=f"bytes={size}-")
    assert (beyond.status, beyond.headers["content-range"]) == (416, f"bytes */{size}")
    assert (await working.get(path, If_None_Match=f'"{digest}"')).status == 304
    head = await working.ask("HEAD", path)
    assert (head.status, head.headers["content-length"], head.body) == (200, str(size), b"")
    assert (await working.post(f"/api/jobs/{job}/cancel")).code == "export_ended"
    file = Path((await working.get(f"/api/jobs/{job}")).json["resultUri"])
    (tmp_path / "secret").write_bytes(b"secret")
    file.rename(tmp_path / "away")
    assert (await working.get(path)).status == 410
    assert [each.code.value for each in (await verify(app.store)).findings] == ["missing_file"]
    file.symlink_to(tmp_path / "secret")
    refused = await working.get(path)
    assert (refused.status, refused.code) == (400, "invalid_output_path")
    await script(app, f"UPDATE hanbeon.export SET result_uri = '{file.parent}/../../../secret'")
    assert (await working.get(path)).status == 400


@pytest.mark.parametrize(
    ("broken", "code"), [("gone", "REPLAY_GONE"), pytest.param("cut", "INVALID_REPLAY", marks=pytest.mark.slow)]
)
async def test_broken_input_fails_the_export(app: App, working: Client, broken: str, code: str) -> None:
    replay = await uploaded(working)
    (file,) = Path(app.settings.replay_path or "").glob("*")
    file.unlink() if broken == "gone" else file.write_bytes(file.read_bytes()[:500])
    found = await ended(working, await exported(working, replay))
    assert (found["status"], found["errorCode"], found["resultUri"]) == ("FAILED", code, None)
    assert found["errorMessage"]


async def test_folder_that_leads_out_fails_the_export(app: App, working: Client, tmp_path: Path) -> None:
    replay = await uploaded(working)
    (tmp_path / "outside").mkdir()
    (tmp_path / "exports").mkdir()
    uid = "0198f0a0-0000-7000-8000-000000000001"
    (tmp_path / "exports" / uid).symlink_to(tmp_path / "outside")
    created = await app.exports.export_mp4(replay, new_id=lambda number: uid, width=160, height=90, fps=5)
    found = await ended(working, created.job_id)
    assert (found["status"], found["errorCode"]) == ("FAILED", "INVALID_OUTPUT_PATH")


async def test_audit_finds_exports_alone_and_wrong_usage(app: App, server: Client) -> None:
    await exported(server, await uploaded(server))
    assert (await verify(app.store)).findings == ()
    await script(app, "UPDATE hanbeon.replay_usage SET bytes = bytes + 1")
    await script(app, "UPDATE hanbeon.export SET replay_id = replay_id + 1")
    found = {each.code.value for each in (await verify(app.store)).findings}
    assert found == {"wrong_usage", "stranded_export"}


async def test_export_is_created_once_under_a_key(app: App, server: Client) -> None:
    replay = await uploaded(server)
    path = f"/api/replays/{replay}/exports/mp4"
    made = await asyncio.gather(*(server.post(path, SMALL, Idempotency_Key="k") for _ in range(3)))
    assert {each.json["jobId"] for each in made if each.status == 202} == {1}
    assert (await server.post(path, {}, Idempotency_Key="k")).code == "key_already_used"
    assert (await server.get("/api/jobs")).json["total"] == 1
    assert (await upload(server)).status == 201
