"""Exports in the dashboard: uploaded, rendered while one looks, played, downloaded, cancelled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, expect

from hanbeon import App
from tests.cli.hanbeon import EXAMPLES
from tests.dashboard.pages import PATIENT_MS, opened
from tests.server.client import serving

pytestmark = pytest.mark.asyncio(loop_scope="session")

expect.set_options(timeout=PATIENT_MS)
_REPLAY = EXAMPLES / "replay.jsonl"
_PLAYED = "(video) => video.play().then(() => video.duration)"


def _app(url: str, folder: Path) -> App:
    paths: dict[str, Any] = {"jobs_export_path": str(folder / "exports"), "replay_path": str(folder / "replays")}
    return App(url, shutdown_grace=0.2, **paths)


async def test_a_replay_becomes_a_video_that_plays(browser: Browser, sqlite_url: str, tmp_path: Path) -> None:
    async with _app(sqlite_url, tmp_path) as app, serving(app, work=True) as server:
        page, complaints = await opened(browser, f"{server.url}/#/exports")
        await expect(page.get_by_text("No replay yet")).to_be_visible()
        await page.get_by_label("Upload a replay").set_input_files(_REPLAY)
        await expect(page.get_by_role("cell", name="한번 컵 결승 #1", exact=True)).to_be_visible()
        await page.get_by_label("Picture").select_option("640x360")
        await page.get_by_role("button", name="MP4 한번 컵 결승").click()
        video = page.locator("video")
        await expect(video).to_be_visible()
        assert await video.evaluate(_PLAYED) == pytest.approx(20, abs=0.5)
        async with page.expect_download() as download:
            await page.get_by_role("link", name="Download").click()
        assert (await (await download.value).path()).read_bytes()[4:8] == b"ftyp"
        await page.get_by_role("button", name="Thumbnail 한번 컵 결승").click()
        await expect(page.locator(".card img")).to_be_visible()
        await expect(page.locator(".card img")).to_have_js_property("naturalWidth", 640)
        assert complaints == []


@pytest.mark.slow
async def test_an_export_that_waits_says_why_and_ends(browser: Browser, sqlite_url: str, tmp_path: Path) -> None:
    hostile = tmp_path / "hostile.jsonl"
    hostile.write_text(_REPLAY.read_text().replace("한번 컵 결승", "<script>document.title='run'</script>", 1))
    async with _app(sqlite_url, tmp_path) as app, serving(app) as server:
        page, complaints = await opened(browser, f"{server.url}/#/exports")
        await page.get_by_label("Upload a replay").set_input_files({"name": "x.jsonl", "mimeType": "", "buffer": b"{}"})
        await expect(page.locator(".banner.bad")).to_contain_text("format")
        await page.get_by_label("Upload a replay").set_input_files(hostile)
        await page.get_by_role("button", name="MP4").click()
        await page.get_by_role("button", name="Why?").click()
        await expect(page.locator(".caption .pending")).to_contain_text("worker")
        for name in ("Cancel", "Sure? Cancel"):
            await page.locator(".card").get_by_role("button", name=name).click()
        await expect(page.locator(".card .state.cancelled")).to_be_visible()
        await page.get_by_role("button", name="Delete").click()
        await page.get_by_role("button", name="Delete").click()
        await expect(page.get_by_text("No replay yet")).to_be_visible()
        assert await page.title() == "Exports · Hanbeon"
        assert complaints == []
