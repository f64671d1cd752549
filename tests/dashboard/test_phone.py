"""Every page on a phone: nothing has to be scrolled sideways to be read."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, expect

from hanbeon import App
from tests.cli.hanbeon import EXAMPLES
from tests.dashboard.pages import PATIENT_MS, opened
from tests.server.client import serving
from tests.surfaces.chains.chain_kit import LIBRARY

pytestmark = pytest.mark.asyncio(loop_scope="session")

expect.set_options(timeout=PATIENT_MS)
_PHONE = {"width": 390, "height": 844}
_DAILY = {"mode": "recurring", "recurrence": {"frequency": "daily", "time": "09:00"}}
_LONG = "a-name-that-is-longer-than-the-screen-of-a-phone.eu-central-1.production"
# The bar of pages, output of jobs and attempts over time are meant to be scrolled.
_TOO_WIDE = """() => [document.documentElement, ...document.querySelectorAll("main :is(.panel, .wide, table, .grid)")]
    .filter((each) => each.scrollWidth > each.clientWidth)
    .map((each) => `${each.tagName} ${each.className}: ${each.scrollWidth} > ${each.clientWidth}`)"""


def _app(url: str, folder: Path) -> App:
    paths: dict[str, Any] = {"jobs_export_path": str(folder / "exports"), "replay_path": str(folder / "replays")}
    app = App(url, shutdown_grace=0.2, chain_libraries=LIBRARY, **paths)

    @app.task(name="report", retries=0)
    async def report(day: str = "") -> str:
        raise ValueError(f"{_LONG} {day}")

    @app.task(name=_LONG)
    async def linger() -> None:
        await asyncio.Event().wait()

    return app


async def _filled(app: App) -> list[str]:
    """Something on every page; the addresses of its details."""
    job = await app.enqueue("report", {"day": _LONG}, queue=_LONG)
    await app.enqueue(_LONG)
    await job.wait(60)
    await app.pause(_LONG)
    await app.configure_queue(_LONG, max_concurrent=5)
    office = await app.offices.create(name=_LONG, sessions={"default": "report"})
    await app.offices.create_jobs(office.id, jobs=[{"key": "plan", "title": _LONG, "role": "PO"}])
    schedule = await app.schedules.create("report", cron="0 9 * * MON-FRI", name=_LONG)
    chain = await app.chains.create(queue_library=LIBRARY, jobs=[{"forward_operation": "do"}])
    step = {"type": "message", "name": "tell", "target": "json://127.0.0.1:9/", "body": _LONG}
    workflow = await app.workflows.create(name=_LONG, steps=[step], schedule_config=_DAILY, variables={"n": _LONG})
    replay = await app.replays.upload(EXAMPLES / "replay.jsonl")
    await app.pause("exports")
    await app.exports.export_mp4(replay)
    views = [f"offices/{office.id}?view={view}" for view in ("graph", "jobs", "config")]
    return [
        f"jobs/{job.id}",
        "tasks/report?new=1",
        *views,
        *("schedules/new", f"schedules/{schedule.id}"),
        f"chains/{chain.queue_id}",
        *("workflows/new", f"workflows/{workflow.id}"),
    ]


async def test_pages_fit_a_phone(browser: Browser, sqlite_url: str, tmp_path: Path) -> None:
    async with _app(sqlite_url, tmp_path) as app, serving(app, work=True) as server:
        details = await _filled(app)
        page, complaints = await opened(browser, server.url, viewport=_PHONE)
        links = page.locator("nav a[href^='#/']")
        await expect(links.first).to_be_visible()
        pages = await links.evaluate_all("(all) => all.map((each) => each.hash.slice(2))")
        assert len(pages) > 10
        found: dict[str, list[str]] = {}
        for place in (*dict.fromkeys(pages), *details):
            await page.goto(f"{server.url}/#/{place}")
            await expect(page.locator("main :is(.panel, .empty)").first).to_be_visible()
            await expect(page.locator("main .skeleton")).to_have_count(0)
            found[place] = await page.evaluate(_TOO_WIDE)
        await page.goto(f"{server.url}/docs")
        await expect(page.locator("details").first).to_be_visible()
        found["docs"] = await page.evaluate(_TOO_WIDE)
        assert {place: wide for place, wide in found.items() if wide} == {}
        assert complaints == []
