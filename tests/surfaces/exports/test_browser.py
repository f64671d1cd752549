"""A browser plays an exported video straight from the server, and seeks in it."""

from pathlib import Path
from typing import Any

import av
import pytest

from hanbeon import App
from tests.dashboard.chromium import chromium
from tests.server.client import Client, serving
from tests.surfaces.exports.export_kit import ended, exported, uploaded

_FPS, _SECONDS = 30, 2.0
_PLAY = """
async (source) => {
  const video = Object.assign(document.createElement('video'), { muted: true, preload: 'auto', src: source });
  document.body.append(video);
  const next = (name) => new Promise((resolve, reject) => {
    video.addEventListener(name, resolve, { once: true });
    video.addEventListener('error', () => reject(new Error(video.error.message)), { once: true });
  });
  await next('canplaythrough');
  const found = { duration: video.duration, width: video.videoWidth, height: video.videoHeight };
  video.currentTime = video.duration - 0.5;
  await next('seeked');
  const drawn = document.createElement('canvas').getContext('2d');
  drawn.drawImage(video, 0, 0, 64, 36);
  const colours = new Set(new Uint32Array(drawn.getImageData(0, 0, 64, 36).data.buffer)).size;
  const end = next('ended');
  await video.play();
  await end;
  return { ...found, colours };
}
"""


@pytest.mark.slow
async def test_browser_plays_the_video(sqlite_url: str, tmp_path: Path) -> None:
    folders: dict[str, Any] = {"jobs_export_path": str(tmp_path / "exports"), "replay_path": str(tmp_path / "replays")}
    async with App(sqlite_url, **folders) as app, serving(app, work=True) as working:
        await _plays(working)


async def _plays(working: Client) -> None:
    size: dict[str, Any] = {"width": 1_280, "height": 720, "fps": _FPS, "lengthMs": round(_SECONDS * 1_000)}
    job = await exported(working, await uploaded(working), **size)
    done = await ended(working, job)
    assert done["status"] == "SUCCEEDED", done
    with av.open(done["resultUri"]) as file:
        stream = file.streams.video[0]
        assert (stream.width, stream.height, stream.average_rate) == (1_280, 720, _FPS)
        assert (stream.frames, sum(1 for _ in file.decode(video=0))) == (60, 60)
        assert abs(float(stream.duration * stream.time_base) - _SECONDS) <= 1 / _FPS
    async with chromium() as browser:
        page = await browser.new_page()
        await page.goto(f"{working.url}/docs")
        seen = await page.evaluate(_PLAY, f"/api/jobs/{job}/result")
    assert abs(seen["duration"] - _SECONDS) <= 1 / _FPS
    assert (seen["width"], seen["height"]) == (1_280, 720)
    assert seen["colours"] > 10, "a picture, and no empty frame"
