"""Memory: a large upload and a large download at once cost the server a bounded amount; 2 GB each if runs are long."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest

from hanbeon import App
from tests.storm.sizes import TIMEOUT, sized
from tests.surfaces.exports.export_kit import BOUNDARY
from tests.surfaces.exports.test_moves import script

_BYTES = sized(256, 2_048) * 1_048_576
_MOST = 60 * 1_048_576


def _replay(size: int) -> Iterator[bytes]:
    """A valid replay of about this size, in parts."""
    actors = [{"id": f"a{number}"} for number in range(64)]
    header = {"format": "hanbeon-replay", "version": 1, "field": {"width": 100, "height": 50}, "actors": actors}
    yield json.dumps(header).encode() + b"\n"
    positions = {each["id"]: [12.345678901234, 23.456789012345] for each in actors}
    text = json.dumps({"t": 0, "p": positions}).encode()[len('{"t": 0') :] + b"\n"
    sent, t = 0, 0
    while sent < size:
        part = b"".join(b'{"t": %d' % (t + 5 * number) + text for number in range(100))
        yield part
        sent, t = sent + len(part), t + 500
    yield b'{"t": %d, "end": true}\n' % t


@pytest.mark.slow
@pytest.mark.timeout(TIMEOUT)
async def test_large_transfers_take_bounded_memory(sqlite_url: str, tmp_path: Path) -> None:
    roots = {"HANBEON_JOBS_EXPORT_PATH": str(tmp_path / "exports"), "HANBEON_REPLAY_PATH": str(tmp_path / "replays")}
    large = tmp_path / "exports" / "large.mp4"
    await _succeeded_export(sqlite_url, roots, large)
    command = [sys.executable, "-m", "hanbeon", "serve", "--database", sqlite_url, "--port", "0", "--no-worker"]
    process = subprocess.Popen(command, env={**os.environ, **roots}, stderr=subprocess.PIPE, text=True)  # noqa: ASYNC220
    try:
        url = await asyncio.to_thread(_url_of, process)
        idle = psutil.Process(process.pid).memory_info().rss
        most = idle
        transfers = asyncio.gather(asyncio.to_thread(_upload, url), asyncio.to_thread(_download, url))
        while not transfers.done():
            most = max(most, psutil.Process(process.pid).memory_info().rss)
            await asyncio.sleep(0.02)
        assert tuple(await transfers) == (201, _BYTES)
        over = f"{(most - idle) / 1_048_576:.1f} MB over idle for twice {_BYTES / 1_048_576:,.0f} MB"
        print(over)
        assert most - idle < _MOST, over
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)


async def _succeeded_export(url: str, roots: dict[str, str], large: Path) -> None:
    """An export whose file is a large one."""
    settings = {name.removeprefix("HANBEON_").lower(): value for name, value in roots.items()}
    async with App(url, **settings) as app:  # type: ignore[arg-type]
        replay = await app.replays.upload(Path(__file__).parents[3] / "examples/replay.jsonl")
        created = await app.exports.export_mp4(replay)
        large.parent.mkdir()
        with large.open("wb") as file:
            file.truncate(_BYTES)
        await script(app, f"UPDATE hanbeon.export SET result_uri = '{large}', result_checksum = '00'")
        await script(
            app, "UPDATE hanbeon.job SET state = 'succeeded', finished_at = created_at, started_at = created_at"
        )
        assert (await app.exports.get(created)).result_uri == str(large)


def _url_of(process: subprocess.Popen[str]) -> str:
    assert process.stderr is not None
    for line in process.stderr:
        if "server_started" in line:
            return str(line[line.index("http://") :].split()[0].strip('",'))
    raise AssertionError("it did not start")


def _connection(url: str) -> contextlib.closing[http.client.HTTPConnection]:
    return contextlib.closing(http.client.HTTPConnection(str(urlsplit(url).hostname), urlsplit(url).port, timeout=300))


def _upload(url: str) -> int:
    def body() -> Iterator[bytes]:
        yield f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n'.encode()
        yield from _replay(_BYTES)
        yield f"\r\n--{BOUNDARY}--\r\n".encode()

    headers = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
    with _connection(url) as connection:
        connection.request("POST", "/api/replays", body(), headers, encode_chunked=True)
        answer = connection.getresponse()
        answer.read()
        return answer.status


def _download(url: str) -> int:
    size = 0
    with _connection(url) as connection:
        connection.request("GET", "/api/jobs/1/result")
        answer = connection.getresponse()
        while data := answer.read(1 << 20):
            size += len(data)
    return size
