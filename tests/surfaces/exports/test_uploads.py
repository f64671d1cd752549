"""Uploads: limits, quota, repeats, and that nothing is left of what was refused."""

import asyncio
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

from hanbeon import App
from hanbeon.errors import ReplayQuotaExceeded
from hanbeon.surfaces.verify import verify
from tests.server.client import Client, serving
from tests.server.websocket_client import until
from tests.surfaces.exports.export_kit import BOUNDARY, SAMPLE, exported, form, upload, uploaded

_KIND = f"multipart/form-data; boundary={BOUNDARY}"


def files(app: App) -> list[Path]:
    return sorted(Path(app.settings.replay_path or "").glob("*"))


async def test_repeated_upload_gets_the_first_answer(app: App, server: Client) -> None:
    first = await upload(server, Idempotency_Key="one")
    again = await upload(server, Idempotency_Key="one")
    assert (first.status, again.status, again.body) == (201, 201, first.body)
    assert again.headers["idempotent-replayed"] == "true"
    other = SAMPLE.read_bytes().replace(b'"t":200,', b'"t":201,', 1)
    assert (await upload(server, other, Idempotency_Key="one")).code == "key_already_used"
    assert len(files(app)) == 1
    assert (await verify(app.store)).findings == ()


_INVALID = [
    (form(b"no replay"), _KIND, "replay_invalid"),
    (form(b""), _KIND, "invalid"),
    (form(SAMPLE.read_bytes()[:-20]), _KIND, "replay_invalid"),
    (form(b"x", field="other"), _KIND, "not_multipart"),
    (form(SAMPLE.read_bytes())[:-10], _KIND, "not_multipart"),
    (b"{}", "application/json", "not_multipart"),
    (b"{}", "multipart/form-data", "not_multipart"),
    (f"--{BOUNDARY}\r\nX: {'y' * 9_000}".encode(), _KIND, "not_multipart"),
    (b"\r\n\r\n", _KIND, "not_multipart"),
    (form(SAMPLE.read_bytes()) + b"x" * 1_000_000, _KIND, "not_multipart"),
    (b"\r\n" * 500_000 + form(SAMPLE.read_bytes()), _KIND, "not_multipart"),
]


async def test_rejects_invalid_uploads(app: App, server: Client) -> None:
    for body, kind, code in _INVALID:
        answer = await server.post("/api/replays", body, Content_Type=kind)
        assert (answer.status, answer.code) == (422, code), body[:200]
    assert files(app) == []
    assert (await server.get("/api/replays")).json["total"] == 0


async def test_size_and_quota_are_limited(database_url: str, tmp_path: Path) -> None:
    size = SAMPLE.stat().st_size
    limits = {"max_replay_bytes": size + 50_000, "replay_quota_bytes": 2 * size + 10}
    async with App(database_url, replay_path=str(tmp_path / "r"), **limits) as app, serving(app) as server:  # type: ignore[arg-type]
        large = SAMPLE.read_bytes() + b" " * 100_000
        assert (await upload(server, large)).code in ("replay_too_large", "replay_quota_exceeded")
        made = await asyncio.gather(*(upload(server) for _ in range(4)))
        assert sorted(each.status for each in made) == [201, 201, 413, 413]
        refused = next(each for each in made if each.status == 413)
        assert (refused.code, refused.json["field"]) == ("replay_quota_exceeded", "file")
        assert len(files(app)) == 2
        assert (await server.ask("DELETE", "/api/replays/1")).status == 204
        assert len(files(app)) == 1
        assert (await upload(server)).status == 201
        assert (await verify(app.store)).findings == ()


async def test_parallel_uploads_reserve_their_space(database_url: str, tmp_path: Path) -> None:
    """Files under way count: together they never take more of the disk than the quota, whatever their number."""
    body = SAMPLE.read_bytes()
    limits = {"replay_quota_bytes": 2 * len(body) + 10}
    async with App(database_url, replay_path=str(tmp_path / "r"), **limits) as app:  # type: ignore[arg-type]
        go_on = asyncio.Event()

        async def parts() -> AsyncIterator[bytes]:
            yield body[: len(body) // 2]
            await go_on.wait()
            yield body[len(body) // 2 :]

        async def one(size: int) -> str:
            try:
                async with app.replays.receive(parts(), name="a.jsonl", by="ada", size=size) as received:
                    await app.replays.create(received, by="ada")
            except ReplayQuotaExceeded:
                return "refused"
            return "made"

        known = [asyncio.create_task(one(len(body))) for _ in range(6)]
        done, waiting = await asyncio.wait(known, return_when=asyncio.FIRST_COMPLETED)
        while len(done) < 4:
            more, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            done |= more
        assert {each.result() for each in done} == {"refused"}
        assert len(files(app)) <= 2
        assert await one(0) == "refused", "of an unknown size"
        go_on.set()
        assert [await each for each in waiting] == ["made", "made"]
        assert (await app.replays.list(by="ada")).total == 2
        assert await one(len(body)) == "refused"
        await app.replays.delete(1, by="ada")
        assert await one(0) == "made"
        assert (await verify(app.store)).findings == ()


async def test_replay_in_use_is_not_deleted(app: App, server: Client) -> None:
    replay = await uploaded(server)
    job = await exported(server, replay)
    refused = await server.ask("DELETE", f"/api/replays/{replay}")
    assert (refused.status, refused.code) == (409, "replay_in_use")
    assert (await server.post(f"/api/jobs/{job}/cancel")).json["status"] == "CANCELLED"
    assert (await server.ask("DELETE", f"/api/replays/{replay}")).status == 204
    assert (await server.get(f"/api/jobs/{job}")).json["replayId"] == replay
    assert files(app) == []


async def test_client_that_hangs_up_leaves_no_file(app: App, server: Client) -> None:
    place = urlsplit(server.url)
    body = form(SAMPLE.read_bytes())
    head = f"POST /api/replays HTTP/1.1\r\nHost: {place.netloc}\r\nContent-Type: {_KIND}\r\nContent-Length: {len(body)}"

    def hang_up() -> None:
        with socket.create_connection((place.hostname, place.port), timeout=60) as line:
            line.sendall(f"{head}\r\n\r\n".encode() + body[: len(body) // 2])

    await asyncio.to_thread(hang_up)

    async def nothing_left() -> bool:
        return not files(app)

    await until(nothing_left)
    assert (await server.get("/api/replays")).json["total"] == 0
