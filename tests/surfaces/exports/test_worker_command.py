"""`hanbeon export-worker`: a real process on a real Valkey renders, stops when asked, and says what is missing."""
# ruff: noqa: ASYNC240 - nothing else runs on this loop that a look at the disk could hold up

from __future__ import annotations

import asyncio
import hashlib
import json
import signal
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import av
import pytest

from hanbeon import App
from hanbeon.surfaces.verify import verify
from tests.cli.hanbeon import environment, hanbeon
from tests.cli.workers import Running
from tests.databases.valkey import ValkeyServer
from tests.engine.stream.kit import connected
from tests.storm.moments import until
from tests.surfaces.exports.export_kit import SAMPLE

_SMALL: dict[str, Any] = {"width": 160, "height": 90, "fps": 10, "length_ms": 2_000}
_LONG: dict[str, Any] = {"width": 640, "height": 360, "fps": 60}


@pytest.fixture
async def app(sqlite_url: str, valkey: ValkeyServer, tmp_path: Path) -> AsyncIterator[App]:
    folders: dict[str, Any] = {"jobs_export_path": str(tmp_path / "exports"), "replay_path": str(tmp_path / "replays")}
    async with App(sqlite_url, redis_url=valkey.url, watch=0.05, **folders) as app, app.worker():
        yield app


def _started(app: App, *options: str, **settings: str) -> Running:
    given = {"HANBEON_REDIS_URL": app.settings.redis_url or "", "HANBEON_REPLAY_PATH": app.settings.replay_path or ""}
    # No database: a URL that nobody could open.
    given |= {"HANBEON_JOBS_EXPORT_PATH": app.settings.jobs_export_path or "", "HANBEON_DATABASE_URL": "postgresql://x"}
    worker = Running("export-worker", *options, env=environment(**given, **settings))
    worker.until("stream_worker_started")
    return worker


async def _ended(app: App, export: Any) -> Any:
    async def ask() -> Any | None:
        found = await app.exports.get(export)
        return None if found.is_unfinished else found

    return await until("its end", ask, 120)


async def _running(app: App, export: Any) -> Any:
    async def ask() -> Any | None:
        found = await app.exports.get(export)
        return found if found.phase == "rendering" else None

    return await until("its rendering", ask, 120)


async def test_process_renders_videos_and_thumbnails(app: App) -> None:
    replay = await app.replays.upload(SAMPLE)
    with await asyncio.to_thread(_started, app) as worker:
        video = await app.exports.export_mp4(replay, **_SMALL)
        thumbnail = await app.exports.export_thumbnail(replay, width=160, height=90)
        done = [await _ended(app, each) for each in (video, thumbnail)]
        assert [each.status for each in done] == ["SUCCEEDED", "SUCCEEDED"], done
        for each in done:
            assert (each.progress, each.phase, each.message) == (100, "done", Path(each.result_uri).name)
            assert each.result_checksum == hashlib.sha256(Path(each.result_uri).read_bytes()).hexdigest()
        with av.open(done[0].result_uri) as file:
            assert (file.streams.video[0].width, file.streams.video[0].frames) == (160, 20)
        assert Path(done[1].result_uri).read_bytes()[:4] == b"\x89PNG"
        worker.process.send_signal(signal.SIGTERM)
        assert await asyncio.to_thread(worker.process.wait, 60) == 0
    assert (await verify(app.store)).findings == ()


async def test_process_stops_a_cancelled_export(app: App) -> None:
    replay = await app.replays.upload(SAMPLE)
    with await asyncio.to_thread(_started, app):
        export = await app.exports.export_mp4(replay, **_LONG)
        await _running(app, export)
        await app.exports.cancel(export)
        assert (await _ended(app, export)).status == "CANCELLED"

        async def clean() -> bool | None:
            return True if not list(Path(app.settings.jobs_export_path or "").rglob("*.*")) else None

        await until("the end of the rendering, without a file", clean)


@pytest.mark.slow
async def test_stopping_process_leaves_its_work_to_another(app: App, valkey: ValkeyServer) -> None:
    replay = await app.replays.upload(SAMPLE)
    with await asyncio.to_thread(_started, app, "--type", "MP4", HANBEON_SHUTDOWN_GRACE="0") as worker:
        export = await app.exports.export_mp4(replay, **_LONG)
        picture = await app.exports.export_thumbnail(replay, width=160, height=90)
        await _running(app, export)
        worker.process.send_signal(signal.SIGTERM)
        assert (await asyncio.to_thread(worker.until, "stream_worker_stopped"))["left"] == 1
        assert await asyncio.to_thread(worker.process.wait, 60) == 0
    async with connected(valkey.url) as redis:
        pending = await redis.xpending_range("job.requests", "workers", "-", "+", 10)
        # Both look long idle, so that another worker takes them at once: what it left, and what it cannot do.
        assert [each["time_since_delivered"] >= 3_600_000 for each in pending] == [True, True]
    with await asyncio.to_thread(_started, app):
        done = [await _ended(app, each) for each in (export, picture)]
    assert [each.status for each in done] == ["SUCCEEDED", "SUCCEEDED"]
    assert Path(done[0].result_uri).name == "1.mp4", "the same attempt"
    assert [path.name for path in Path(done[0].result_uri).parent.iterdir()] == ["1.mp4"]


async def test_process_reads_and_writes_below_its_folders_only(app: App, valkey: ValkeyServer, tmp_path: Path) -> None:
    replay = await app.replays.upload(SAMPLE)
    (stored,) = Path(app.settings.replay_path or "").iterdir()
    (tmp_path / "outside.jsonl").write_bytes(SAMPLE.read_bytes())
    (tmp_path / "out").mkdir()
    good = {"inputPath": str(stored), "outputPath": f"{app.settings.jobs_export_path}/x/1.png", "fence": 1}
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"inputPath": str(tmp_path / "outside.jsonl")}, "INVALID_INPUT_PATH"),
        ({"inputPath": f"{app.settings.replay_path}/../outside.jsonl"}, "INVALID_INPUT_PATH"),
        ({"inputPath": f"{app.settings.replay_path}/none"}, "REPLAY_GONE"),
        ({"outputPath": str(tmp_path / "out/1.png")}, "INVALID_OUTPUT_PATH"),
        ({"outputPath": f"{app.settings.jobs_export_path}/../out/1.png"}, "INVALID_OUTPUT_PATH"),
        ({"outputPath": f"{app.settings.jobs_export_path}/\0/1.png"}, "INVALID_OUTPUT_PATH"),
        ({"outputPath": None}, "INVALID_OUTPUT_PATH"),
        ({"width": "wide"}, "INVALID_OPTIONS"),
    ]
    async with connected(valkey.url) as redis:
        # Jobs that the server does not know: it moves the answers to the dead letters.
        with await asyncio.to_thread(_started, app):
            for number, (change, _) in enumerate(wrong):
                options = json.dumps({**good, **change})
                fields = {"jobId": f"{900 + number}", "jobType": "THUMBNAIL", "replayId": "1", "options": options}
                await redis.xadd("job.requests", fields)
            await redis.xadd("job.requests", {"jobId": "999", "jobType": "THUMBNAIL", "options": '{"inputPa'})

            async def letters() -> list[Any] | None:
                found = (await app.engine.deadletters()).items
                return found if len(found) == len(wrong) + 1 else None

            found = {each.payload["jobId"]: each for each in await until("their answers", letters)}
        assert [found[f"{900 + number}"].payload["errorCode"] for number in range(len(wrong))] == [
            code for _, code in wrong
        ]
        assert (found["999"].stream, found["999"].reason[:13]) == ("job.requests", "not a request")
    assert list((tmp_path / "out").iterdir()) == []
    assert replay.replay_id == 1


def test_process_says_what_is_missing(tmp_path: Path) -> None:
    def said(*options: str, path: str = "") -> subprocess.CompletedProcess[str]:
        return hanbeon("export-worker", *options, cwd=tmp_path, PYTHONPATH=path)

    missing = said()
    assert (missing.returncode, missing.stdout) == (2, "")
    assert missing.stderr.startswith("error: redis_url: must be set, by --redis, HANBEON_REDIS_URL")
    wrong = said("--redis", "http://:secret@x")
    assert (wrong.returncode, "redis_url: must be a URL such as redis://" in wrong.stderr) == (2, True)
    assert "secret" not in wrong.stderr
    assert said("--redis", "redis://127.0.0.1:1", "--type", "GIF").returncode == 2
    # As if the extra were not installed: a module of that name that cannot be imported.
    (tmp_path / "av.py").write_text("raise ImportError('no av here')")
    without = said("--redis", "redis://127.0.0.1:1", path=str(tmp_path))
    assert (without.returncode, "pip install 'hanbeon[render]'" in without.stderr) == (5, True), without.stderr
