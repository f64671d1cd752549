"""Shared parts of all pages: the palette, first steps, commands to copy, files of lists, the notice of an upgrade."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import shlex
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Route, expect

from hanbeon import App
from hanbeon.domain.lifecycle import TERMINAL
from tests.cli.hanbeon import hanbeon, hanbeon_inside
from tests.cli.workers import Running
from tests.dashboard.pages import PATIENT_MS, opened
from tests.server.client import serving
from tests.storm.moments import until

pytestmark = pytest.mark.asyncio(loop_scope="session")

expect.set_options(timeout=PATIENT_MS)
_FORMULA = "=cmd|' /C calc'!A0"


def _app(url: str, **settings: Any) -> App:
    app = App(url, shutdown_grace=0.2, **settings)

    @app.task(name="report", queue="nightly", retries=0)
    async def report(day: str) -> str:
        raise ValueError(_FORMULA)

    return app


async def test_api_reference_has_the_language_of_the_reader(browser: Browser, sqlite_url: str) -> None:
    async with App(sqlite_url) as app, serving(app) as server:
        page, complaints = await opened(browser, f"{server.url}/docs", locale="ko-KR")
        await expect(page.get_by_role("heading", level=1)).to_have_text("API 문서")
        await expect(page.locator(".note")).to_have_text(
            "/openapi.json에서 만들었습니다. 여기에서 보낸 요청은 실제로 실행됩니다."
        )
        overview = page.locator("details", has_text="/api/engine/overview")
        await expect(overview.locator("summary span")).to_have_text(" 설치 전체의 수치를 돌려줍니다.")
        await expect(page.locator("summary span code", has_text="cancel=true")).to_be_visible()
        await overview.locator("summary").click()
        await overview.get_by_role("button", name="보내기").click()
        await expect(overview.locator("pre").first).to_contain_text('"at"')
        await expect(overview.locator("h4 + pre")).to_contain_text("설치 전체의 수치. 시간은 초 단위입니다.")
        # What was chosen in the dashboard counts, whatever the browser prefers.
        await page.goto(server.url)
        await page.get_by_role("button", name="English").click()
        await page.goto(f"{server.url}/docs")
        await expect(page.get_by_role("heading", level=1)).to_have_text("API reference")
        await expect(overview.locator("summary span")).to_have_text(" Return the numbers of the whole installation.")
        await expect(page.get_by_label("Token")).to_have_attribute("placeholder", "unless logged in")
        assert complaints == []


async def test_first_steps_work_as_printed(browser: Browser, tmp_path: Path) -> None:
    (folder := tmp_path / "a project").mkdir()
    async with App(f"sqlite:///{tmp_path}/jobs%20here.db") as app, serving(app) as server:
        page, complaints = await opened(browser, server.url)
        steps = page.locator("ol.first code")
        await expect(steps.nth(1)).to_contain_text("--database")
        init, worker, enqueue = [shlex.split(text)[1:] for text in await steps.all_inner_texts()]
        assert hanbeon_inside(*init, cwd=folder).returncode == 0
        with Running(*worker, cwd=folder) as process:
            await asyncio.to_thread(process.until, "worker_started")
            made = await asyncio.to_thread(hanbeon, *enqueue, cwd=folder)
            assert (made.returncode, made.stdout) == (0, '"Hello, Ada!"\n'), made.stderr
        await page.goto(f"{server.url}/#/jobs")
        await expect(page.get_by_text("greet").first).to_be_visible()
        await page.goto(f"{server.url}/#/offices")
        command = await page.locator(".empty code").inner_text()
        created = await asyncio.create_subprocess_shell(f"{command} -sf >/dev/null")
        assert await created.wait() == 0
        await expect(page.get_by_role("link", name="Seoul").first).to_be_visible()
        assert complaints == []


async def test_page_that_cannot_be_loaded_says_so(browser: Browser, sqlite_url: str) -> None:
    async with _app(sqlite_url) as app, serving(app) as server:
        page, _ = await opened(browser, server.url)
        await page.route("**/chunks/queues-*", lambda route: route.abort())
        await page.get_by_role("link", name="Queues").click()
        alert = page.get_by_role("alert").filter(has_text="This page could not be loaded")
        await expect(alert).to_be_visible()
        await page.unroute_all()
        await alert.get_by_role("button", name="Reload").click()
        await expect(page.get_by_role("heading", name="Queues")).to_be_visible()
        await expect(page.get_by_text("There are no queues yet")).to_be_visible()
        await page.goto(f"{server.url}/#/nowhere")
        await page.get_by_role("link", name="Go to Home").click()
        await expect(page.get_by_role("heading", name="Home")).to_be_visible()


async def test_palette_goes_to_pages_queues_and_jobs(browser: Browser, sqlite_url: str) -> None:
    async with _app(sqlite_url) as app, serving(app, work=True) as server:
        page, complaints = await opened(browser, server.url)
        await expect(page.get_by_text("Nothing has happened here yet")).to_be_visible()
        job = await app.enqueue("report", {"day": "monday"})
        await job.wait(60)
        await page.keyboard.press("Control+k")
        await page.keyboard.type("nightly")
        await expect(page.get_by_role("option", name="nightly queue")).to_be_visible()
        await page.keyboard.press("Enter")
        await expect(page).to_have_url(f"{server.url}/#/jobs?queue=nightly")
        await page.keyboard.press("Control+k")
        await page.keyboard.type("e")
        for _ in range(2):
            await page.keyboard.press("ArrowDown")
        await expect(page.get_by_role("option", selected=True)).to_have_attribute("id", "choice-2")
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("listbox")).to_have_count(0)
        await page.keyboard.press("Control+k")
        await page.keyboard.type(job.id)
        await page.keyboard.press("Enter")
        await expect(page).to_have_url(f"{server.url}/#/jobs/{job.id}")
        await page.keyboard.press("Control+k")
        await page.keyboard.type("dark")
        await page.keyboard.press("Enter")
        await expect(page.locator("html")).to_have_attribute("data-theme", "dark")
        assert complaints == []


async def test_times_are_in_the_zone_of_viewer_or_installation(browser: Browser, sqlite_url: str) -> None:
    viewer, installation = "America/New_York", "Europe/Berlin"
    async with _app(sqlite_url, timezone=installation) as app, serving(app) as server:
        job = await app.enqueue("report", {"day": "monday"})
        page, complaints = await opened(browser, f"{server.url}/#/jobs/{job.id}", timezone_id=viewer)
        moment = page.locator(".timeline time").first
        shown = {}
        for zone in (viewer, installation):
            shown[zone] = await moment.evaluate(
                """(time, timeZone) => {
                    const style = { dateStyle: "medium", timeStyle: "medium", timeZone };
                    return new Intl.DateTimeFormat("en", style).format(new Date(time.dateTime));
                }""",
                zone,
            )
        await expect(moment).to_have_text(shown[viewer])
        # The button names the zone in force.
        await page.get_by_role("button", name=viewer).click()
        await expect(moment).to_have_text(shown[installation])
        # The choice is kept, and one click away again.
        await page.reload()
        await expect(moment).to_have_text(shown[installation])
        await page.get_by_role("button", name=installation).click()
        await expect(moment).to_have_text(shown[viewer])
        await page.goto(f"{server.url}/#/workflows/new")
        await expect(page.locator("[name=timezone]")).to_have_attribute("placeholder", installation)
        assert "KST" not in await page.locator("body").inner_text()
        assert complaints == []


@pytest.mark.slow
async def test_a_list_becomes_a_file_and_an_action_a_command(browser: Browser, sqlite_url: str) -> None:
    async with _app(sqlite_url) as app, serving(app, work=True) as server:
        for _ in range(3):
            await (await app.enqueue("report", {"day": "monday"})).wait(60)
        await app.enqueue("report", {"day": "later"}, delay=3_600)
        options = {"permissions": ["clipboard-read", "clipboard-write"]}
        page, complaints = await opened(browser, f"{server.url}/#/jobs?state=failed", **options)
        await expect(page.get_by_text("3 jobs shown")).to_be_visible()
        files = {}
        for name in ("Export JSON", "CSV"):
            async with page.expect_download() as download:
                await page.get_by_role("button", name=name).click()
            files[name] = (await (await download.value).path()).read_text(encoding="utf-8-sig")
        assert [each["state"] for each in json.loads(files["Export JSON"])] == ["failed"] * 3
        rows = list(csv.DictReader(io.StringIO(files["CSV"])))
        assert [row["error_message"] for row in rows] == [f"ValueError: {_FORMULA}"] * 3
        await page.get_by_text("Copy as …").click()
        await page.get_by_role("button", name="Retry all that match: curl").click()
        assert '{"action":"retry","filter":{"state":["failed"],"own":true}}' in await page.evaluate(
            "navigator.clipboard.readText()"
        )
        await page.goto(f"{server.url}/#/queues")
        await page.locator("tbody .copies summary").first.click()
        await page.get_by_role("button", name="Pause nightly: hanbeon").click()
        assert await page.evaluate("navigator.clipboard.readText()") == "hanbeon pause nightly"
        assert complaints == []


@pytest.mark.slow
async def test_bulk_retry_meets_each_job_once(browser: Browser, sqlite_url: str) -> None:
    many = 1_001  # More than one call moves.
    async with _app(sqlite_url) as app, serving(app, work=True) as server:
        jobs = [await app.enqueue("report", {"day": "monday"}) for _ in range(many)]
        await until("the end of all", partial(_all_ended, app, many), 300)
        page, complaints = await opened(browser, f"{server.url}/#/jobs?task=report")
        await page.get_by_role("button", name="Retry all that match").click()
        await page.get_by_role("button", name="Retry 1,000+ jobs?").click()
        await expect(page.get_by_text("1,001 of 1,001 jobs moved")).to_be_visible(timeout=300_000)
        await until("the end of all", partial(_all_ended, app, many), 300)
        assert {len(await job.attempts()) for job in jobs} == {2}
        assert complaints == []


@pytest.mark.slow
async def test_page_says_that_the_server_was_upgraded(browser: Browser, sqlite_url: str) -> None:
    async def newer(route: Route) -> None:
        answer = await route.fetch()
        await route.fulfill(response=answer, json={**(await answer.json()), "version": "99.0.0"})

    async with _app(sqlite_url) as app, serving(app) as server:
        page, complaints = await opened(browser, f"{server.url}/#/queues")
        await expect(page.get_by_role("heading", name="Queues")).to_be_visible()
        await expect(page.get_by_role("button", name="Reload")).to_have_count(0)
        await page.route("**/healthz", newer)
        # The page asks once a minute.
        await expect(page.get_by_role("button", name="Reload")).to_be_visible(timeout=5 * PATIENT_MS)
        await page.unroute_all(behavior="wait")  # One that is under way would outlive the server.
        assert complaints == []


async def _all_ended(app: App, count: int) -> bool | None:
    counts = await app.counts("nightly")
    return True if sum(counts[state] for state in TERMINAL) == count else None


async def test_navigation_tells_which_of_the_five_fits(browser: Browser, sqlite_url: str) -> None:
    async with App(sqlite_url) as app, serving(app) as server:
        page, complaints = await opened(browser, f"{server.url}/#/")
        await page.get_by_role("link", name="Which do I need?").click()
        await expect(page.get_by_role("heading", name="Which of the five do I need?")).to_be_visible()
        kinds = page.locator("main li > a")
        assert await kinds.all_inner_texts() == ["Job", "Office", "Schedule", "Chain", "Workflow"]
        for place in ("jobs", "offices", "schedules", "chains", "workflows"):
            await page.goto(f"{server.url}/#/which")
            await page.locator(f"main li > a[href='#/{place}']").click()
            await expect(page.locator("nav [aria-current]")).to_have_attribute("href", f"#/{place}")
        assert complaints == []
