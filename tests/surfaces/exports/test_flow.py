"""The whole way of an export: upload, render, watch, download."""

import hashlib
from pathlib import Path

import av

from hanbeon import App
from hanbeon.surfaces.verify import verify
from tests.server.client import Client
from tests.server.websocket_client import dial, hear, hear_any
from tests.surfaces.exports.export_kit import SAMPLE, SMALL, ended, exported, upload


async def test_replay_is_exported_watched_and_downloaded(app: App, working: Client, tmp_path: Path) -> None:
    made = await upload(working)
    assert (made.status, made.headers["location"]) == (201, "/api/replays/1")
    digest = hashlib.sha256(SAMPLE.read_bytes()).hexdigest()
    replay = made.json
    assert {name: replay[name] for name in replay if name != "createdAt"} == {
        "replayId": 1,
        "name": "경기.jsonl",
        "title": "한번 컵 결승",
        "bytes": SAMPLE.stat().st_size,
        "checksum": digest,
        "durationMs": 20_000,
    }
    assert (await working.get("/api/replays/1")).json == replay
    assert (await working.get("/api/replays")).json == {"items": [replay], "page": 0, "size": 20, "total": 1}
    async with dial(working, "/ws/jobs") as listener, dial(working, "/ws/jobs") as other:
        assert (await hear_any(listener))["type"] == "opened"
        assert (await hear_any(other))["type"] == "opened"
        job = await exported(working, 1)
        heard = [await hear(listener)]
        while heard[-1]["type"] == "job.progress":
            heard.append(await hear(listener))
        assert [await hear(other) for _ in heard] == heard
    done = await ended(working, job)
    assert done["status"] == "SUCCEEDED", done
    assert (done["progress"], done["jobType"], done["replayId"], done["errorCode"]) == (100, "MP4", 1, None)
    assert heard[-1]["type"] == "job.completed"
    assert (heard[-1]["jobId"], heard[-1]["checksum"]) == (job, done["resultChecksum"])
    percents = [each["progress"] for each in heard[:-1]]
    assert percents == sorted(percents)
    assert percents[-1] == 100
    file = await working.get(f"/api/jobs/{job}/result")
    assert (file.status, file.headers["content-type"]) == (200, "video/mp4")
    assert file.headers["etag"] == f'"{done["resultChecksum"]}"'
    assert file.headers["content-disposition"].startswith('attachment; filename="replay-1-1.mp4"')
    assert hashlib.sha256(file.body).hexdigest() == done["resultChecksum"]
    (tmp_path / "got.mp4").write_bytes(file.body)
    with av.open(str(tmp_path / "got.mp4")) as video:
        stream = video.streams.video[0]
        assert (stream.width, stream.height, stream.frames) == (SMALL["width"], SMALL["height"], 5)
    thumbnail = await ended(working, await exported(working, 1, "thumbnail", width=320, height=180))
    picture = await working.get(f"/api/jobs/{thumbnail['jobId']}/result")
    assert (picture.headers["content-type"], picture.body[:4]) == ("image/png", b"\x89PNG")
    assert (await verify(app.store)).findings == ()
