"""Exports over Redis: messages written straight into the streams move the job, its events and its download."""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from hanbeon import App
from hanbeon.engine.stream.wire import Wire, WireDownError
from hanbeon.surfaces.verify import verify
from tests.databases.valkey import ValkeyServer, each_server
from tests.engine.stream.kit import connected
from tests.server.client import Client, serving
from tests.server.websocket_client import dial, hear, hear_any
from tests.storm.moments import until
from tests.surfaces.exports.export_kit import ended, exported, uploaded


@pytest.fixture
async def app(database_url: str, tmp_path: Path, valkey: ValkeyServer) -> AsyncIterator[App]:
    folders: dict[str, Any] = {"jobs_export_path": str(tmp_path / "exports"), "replay_path": str(tmp_path / "replays")}
    async with App(database_url, redis_url=valkey.url, **folders) as app:
        yield app


def _write(path: str) -> Path:
    """Write a result, as a worker does."""
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"a film")
    return file


async def _requests(redis: Any, count: int) -> list[dict[str, str]]:
    async def found() -> list[dict[str, str]] | None:
        fields = [fields for _, fields in await redis.xrange("job.requests")]
        return fields if len(fields) >= count else None

    return await until("the request", found)


async def _waiting(client: Client, job: int) -> str | None:
    found = (await client.get(f"/api/jobs/{job}")).json
    assert found["status"] == "QUEUED"
    return found["waiting"] if "no worker" in (found["waiting"] or "") else None


@each_server
async def test_messages_in_the_streams_move_an_export(app: App, working: Client, valkey: ValkeyServer) -> None:
    replay = await uploaded(working)
    async with connected(valkey.url) as redis, dial(working, "/ws/jobs") as listener:
        assert (await hear_any(listener))["type"] == "opened"
        job = await exported(working, replay)
        (request,) = await _requests(redis, 1)
        options = json.loads(request["options"])
        assert (request["jobId"], request["jobType"], request["replayId"]) == (str(job), "MP4", str(replay))
        assert {"inputPath", "outputPath", "durationMs", "ownerId", "createdAt", "fence"} <= options.keys()
        waiting = await until("the reason", lambda: _waiting(working, job))
        assert waiting == "Its request is in stream 'job', but no worker reads that; start one."
        explained = (await working.get(f"/api/jobs/{job}/explain")).json
        assert [each["code"] for each in explained["reasons"]] == ["no_stream_worker"]
        await redis.xadd("job.progress", {"jobId": job, "progress": 40, "phase": "RENDER", "message": "40"})
        heard = await hear(listener)
        assert (heard["type"], heard["jobId"], heard["progress"], heard["phase"]) == ("job.progress", job, 40, "RENDER")
        running = (await working.get(f"/api/jobs/{job}")).json
        assert (running["status"], running["waiting"]) == ("RUNNING", None)
        path = _write(options["outputPath"])
        digest = hashlib.sha256(b"a film").hexdigest()
        result = {"jobId": job, "status": "SUCCEEDED", "resultUri": str(path), "checksum": digest}
        await redis.xadd("job.results", {**result, "errorCode": "", "errorMessage": ""})
        done = await ended(working, job)
        assert (done["status"], done["progress"], done["resultChecksum"]) == ("SUCCEEDED", 100, digest)
        while heard["type"] == "job.progress":
            heard = await hear(listener)
        assert (heard["type"], heard["jobId"]) == ("job.completed", job)
        file = await working.get(f"/api/jobs/{job}/result")
        assert (file.status, file.body, file.headers["etag"]) == (200, b"a film", f'"{digest}"')
        # The same result again, and one for another place: the job has ended.
        await redis.xadd("job.results", result)
        await redis.xadd("job.results", {**result, "resultUri": "/etc/passwd"})
        foreign = await exported(working, replay)
        await _requests(redis, 2)
        await redis.xadd("job.results", {**result, "jobId": foreign, "resultUri": "/etc/passwd", "fence": 1})
        failed = await ended(working, foreign)
        assert (failed["status"], failed["errorCode"]) == ("FAILED", "INVALID_OUTPUT_PATH")
        (letter,) = (await app.engine.deadletters()).items
        assert (letter.reason, letter.payload["jobId"]) == ("INVALID_OUTPUT_PATH", str(foreign))
    assert (await verify(app.store)).findings == ()


async def test_hostile_paths_fail_their_exports(
    sqlite_url: str, valkey: ValkeyServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folders: dict[str, Any] = {"jobs_export_path": str(tmp_path / "exports"), "replay_path": str(tmp_path / "replays")}
    async with (
        App(sqlite_url, redis_url=valkey.url, **folders) as app,
        serving(app, work=True) as client,
        connected(valkey.url) as redis,
    ):
        replay = await uploaded(client)
        root = tmp_path / "exports"
        _write(f"{root}/a/1.mp4")
        _write(f"{tmp_path}/outside/1.mp4")
        (root / "link").symlink_to(tmp_path / "outside")
        (root / "a/link.mp4").symlink_to(root / "a/1.mp4")
        hostile = [
            *(
                f"{root}/../outside/1.mp4",
                f"{tmp_path}/outside/1.mp4",
                "/etc/passwd",
                "exports/a/1.mp4",
                f"file://{root}",
            ),
            *(f"{root}/link/1.mp4", f"{root}/a/link.mp4", f"{root}/a/1.mp4\0", f"{root}/{'a/' * 3_000}1.mp4", ""),
            *(f"{root}/{'b' * count}/{'a/' * 3_000}1.mp4" for count in (1, 2)),
            *(f"{root}/．．/outside/1.mp4", f"{root}/a／1.mp4", f"{root}/a", str(root)),
            # Regular files below the root, of another export and of another attempt.
            *(f"{root}/a/1.mp4", "{own}/2.mp4", "{own}/1.png", "{own}//1.mp4", "{own}/x/../1.mp4"),
        ]
        jobs = [await exported(client, replay) for _ in hostile]
        requests = {int(each["jobId"]): json.loads(each["options"]) for each in await _requests(redis, len(jobs))}
        for job, path in zip(jobs, hostile, strict=True):
            own = Path(requests[job]["outputPath"]).parent
            _write(f"{own}/2.mp4")
            uri = path.replace("{own}", str(own))
            result = {"jobId": job, "fence": 1, "status": "SUCCEEDED", "resultUri": uri, "checksum": "00"}
            await redis.xadd("job.results", result)
        found = [await ended(client, job) for job in jobs]
        assert {(each["status"], each["errorCode"]) for each in found} == {("FAILED", "INVALID_OUTPUT_PATH")}, found

        async def letters() -> list[Any] | None:
            items = (await app.engine.deadletters()).items
            return items if len(items) == len(jobs) else None

        assert {each.reason for each in await until("their letters", letters)} == {"INVALID_OUTPUT_PATH"}
        assert [(await client.get(f"/api/jobs/{job}/result")).code for job in jobs] == ["result_not_ready"] * len(jobs)


async def test_result_text_names_no_other_file(app: App, working: Client, valkey: ValkeyServer) -> None:
    """A worker may send JSON of its own besides the path: an export has none."""
    root = Path(app.settings.jobs_export_path or "")
    other = _write(f"{root}/other/1.mp4")
    async with connected(valkey.url) as redis:
        job = await exported(working, await uploaded(working))
        (request,) = await _requests(redis, 1)
        path = json.loads(request["options"])["outputPath"]
        result = {"jobId": job, "status": "SUCCEEDED", "resultUri": path, "checksum": "00"}
        await redis.xadd("job.results", {**result, "result": json.dumps({"resultUri": str(other)})})
        done = await ended(working, job)
    assert (done["status"], done["resultUri"], done["resultChecksum"]) == ("SUCCEEDED", path, "00")


async def test_missing_file_is_found_out_by_the_download(app: App, working: Client, valkey: ValkeyServer) -> None:
    """A worker on another machine may have written it where it is not seen yet."""
    async with connected(valkey.url) as redis:
        job = await exported(working, await uploaded(working))
        (request,) = await _requests(redis, 1)
        path = json.loads(request["options"])["outputPath"]
        await redis.xadd("job.results", {"jobId": job, "status": "SUCCEEDED", "resultUri": path, "checksum": "00"})
        done = await ended(working, job)
        assert (done["status"], done["resultUri"], done["errorCode"]) == ("SUCCEEDED", path, None)
        assert (await working.get(f"/api/jobs/{job}/result")).code == "result_gone"
        _write(path)
        assert (await working.get(f"/api/jobs/{job}/result")).body == b"a film"


async def test_foreign_path_is_buried_after_a_lost_connection(
    app: App, working: Client, valkey: ValkeyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job has failed, and then Redis cannot be reached for the letter: the result is read again."""
    settle, lost = Wire.settle, list[int]()

    async def settle_later(wire: Wire, entries: Any, dead: Any = ()) -> None:
        if dead and not lost:
            lost.append(1)
            raise WireDownError("the line was cut")
        await settle(wire, entries, dead)

    monkeypatch.setattr(Wire, "settle", settle_later)
    job = await exported(working, await uploaded(working))
    async with connected(valkey.url) as redis:
        await _requests(redis, 1)
        await redis.xadd("job.results", {"jobId": job, "fence": 1, "status": "SUCCEEDED", "resultUri": "/etc/passwd"})
        assert (await ended(working, job))["errorCode"] == "INVALID_OUTPUT_PATH"
        letter = await until("the letter", lambda: _letter(app))
    assert (lost, letter.reason, letter.payload["jobId"]) == ([1], "INVALID_OUTPUT_PATH", str(job))


async def _letter(app: App) -> Any | None:
    return next(iter((await app.engine.deadletters()).items), None)


async def test_cancelled_export_is_cancelled_for_workers(app: App, working: Client, valkey: ValkeyServer) -> None:
    replay = await uploaded(working)
    async with connected(valkey.url) as redis:
        job = await exported(working, replay, "thumbnail", width=320, height=180)
        await _requests(redis, 1)
        assert (await working.post(f"/api/jobs/{job}/cancel")).status == 200
        assert await until("the key", lambda: redis.get(f"job.cancelled:{job}")) == "1"


@pytest.fixture
async def working(app: App) -> AsyncIterator[Client]:
    async with serving(app, work=True) as client:
        yield client
