"""Offices in the dashboard: slots, graph, timeline, jobs, settings."""

import asyncio
import re
import time
from typing import Any

import pytest
from playwright.async_api import Browser, CDPSession, Page, expect

from hanbeon import App
from hanbeon.service.tokens import create_token
from tests.dashboard.axe import OPTIONS, serious_violations
from tests.dashboard.pages import PATIENT_MS, opened
from tests.server.client import serving

pytestmark = pytest.mark.asyncio(loop_scope="session")

_HOSTILE = "<img src=x onerror=\"document.title='run'\">"
expect.set_options(timeout=PATIENT_MS)


def _app(url: str, gate: asyncio.Event) -> App:
    app = App(url, shutdown_grace=0.2)

    @app.task(name="work", retries=0)
    async def work(broken: bool = False) -> None:
        if broken:
            raise ValueError(_HOSTILE)
        await gate.wait()

    return app


def _jobs() -> list[dict[str, Any]]:
    return [
        {"key": "plan", "title": f"Plan {_HOSTILE}", "role": "PO", "task_id": "shop"},
        {"key": "page", "title": "Page", "role": "FE", "depends_on": ["plan"], "task_id": "shop"},
        {"key": "test", "title": "Test", "role": "QA", "depends_on": ["page"], "task_id": "shop"},
        {"key": "alone", "title": "Alone", "role": "BE", "args": {"broken": True}, "max_retries": 0},
    ]


async def _office(app: App, jobs: list[dict[str, Any]]) -> str:
    office = await app.offices.create(name=f"Seoul {_HOSTILE}", sessions={"default": "work"})
    await app.offices.create_jobs(office.id, jobs=jobs)
    return office.id


async def _select(page: Page, name: str) -> None:
    await page.get_by_role("textbox", name="Find a job in the graph").fill(name)
    await page.get_by_role("textbox", name="Find a job in the graph").press("Enter")
    await expect(page.locator(".graphbox aside h3")).to_contain_text(name)


async def test_an_operator_moves_jobs_of_an_office(browser: Browser, sqlite_url: str) -> None:
    gate = asyncio.Event()
    async with _app(sqlite_url, gate) as app, serving(app, work=True) as server:
        office = await _office(app, _jobs())
        page, complaints = await opened(browser, f"{server.url}/#/offices")
        await page.get_by_role("link", name="Seoul <img").click()
        await expect(page).to_have_url(f"{server.url}/#/offices/{office}")
        # A slot is free, and nobody's role lacks a name.
        await expect(page.locator(".slotrole", has_text="DevOps")).to_contain_text("free")
        await expect(page.locator(".slotrole li.held")).to_contain_text("Plan <img")
        await expect(page.locator("canvas[data-drawn='4']")).to_be_visible()
        # By key along the dependencies; the job that waits says why.
        await _select(page, "Plan")
        await page.locator("canvas").press("ArrowRight")
        await expect(page.locator(".graphbox aside h3")).to_have_text("Page")
        await expect(page.locator(".graphbox aside .state")).to_have_text("Pending")
        await expect(page.locator(".reasons li").first).to_be_visible()
        await page.get_by_role("button", name="How long?").click()
        await expect(page.get_by_text("by measured runs")).to_be_visible()
        # States are live: what waited runs, and the critical path has less left.
        gate.set()
        await expect(page.locator(".graphbox aside .state")).to_have_text("Succeeded")
        await expect(page.locator(".pathtext")).to_contain_text("Critical path: 3 jobs")
        await page.get_by_role("button", name="Timeline").click()
        await expect(page.get_by_role("img", name="Alone, attempt 1: failed")).to_be_visible()
        # Filters live in the address; a failed job is retried after asking twice.
        await page.get_by_role("link", name="Failed").click()
        await expect(page.get_by_text("1 job shown")).to_be_visible()
        await expect(page.locator("td .failedtext")).to_have_text(f"ValueError: {_HOSTILE}")
        gate.clear()
        await page.get_by_role("button", name="Retry all that match").click()
        await page.get_by_role("button", name="Retry 1 job?").click()
        await expect(page.get_by_text("1 of 1 job moved")).to_be_visible()
        # Priorities by key, and all unfinished jobs cancelled at once.
        await app.offices.create_jobs(office, jobs=_jobs()[:3])
        await page.goto(f"{server.url}/#/offices/{office}?view=jobs&status=pending&role=QA")
        row = page.get_by_role("row", name="Test")
        await row.press("+")
        await expect(row.locator(".stepper b")).to_have_text("-1")
        await row.locator(".copies summary").click()
        command = row.get_by_role("button", name="Cancel Test: hanbeon")
        await expect(command).to_have_attribute("title", re.compile("^hanbeon cancel "))
        await row.press("u")
        await expect(row.locator(".badge")).to_have_text("urgent")
        await page.goto(f"{server.url}/#/offices/{office}?view=config")
        await page.get_by_role("button", name="Cancel all unfinished").click()
        await page.get_by_role("button", name="Sure?").click()
        await expect(page.locator(".tile", has_text="Cancelled").locator("b")).to_have_text("3")
        await page.get_by_label("FE", exact=True).fill("2")
        await page.get_by_role("button", name="Save").click()
        await expect(page.locator(".slotrole", has_text="FE")).to_contain_text("0 / 2")
        config = await app.offices.config(office)
        assert config.config.maxConcurrentByRole["FE"] == 2
        assert await page.title() == "Offices · Hanbeon"
        assert complaints == []


@pytest.mark.slow
@pytest.mark.parametrize(("theme", "locale"), [("light", "en-GB"), ("dark", "ko-KR")])
async def test_pages_of_offices_are_accessible(browser: Browser, sqlite_url: str, theme: str, locale: str) -> None:
    gate = asyncio.Event()
    async with _app(sqlite_url, gate) as app, serving(app, work=True) as server:
        office = await _office(app, _jobs())
        options = {"color_scheme": theme, "locale": locale, **OPTIONS}
        page, complaints = await opened(browser, server.url, **options)
        for place in ("", *(f"/{office}?view={view}" for view in ("graph", "gantt", "jobs", "config"))):
            await page.goto(f"{server.url}/#/offices{place}")
            await expect(page.locator("main .panel").first).to_be_visible()
            await expect(page.locator("main .skeleton")).to_have_count(0)
            assert await serious_violations(page) == [], place
        gate.set()
        assert complaints == []


@pytest.mark.slow
async def test_reader_of_an_office_cannot_act(browser: Browser, sqlite_url: str) -> None:
    async with _app(sqlite_url, asyncio.Event()) as app, serving(app) as server:
        office = await _office(app, _jobs())
        for scope, enabled in (("read", False), ("user", True)):
            token = await create_token(app.store, scope, scope)
            page, _ = await opened(browser, f"{server.url}/#/offices/{office}?view=config")
            await page.get_by_label("Token").fill(token.text)
            await page.get_by_role("button", name="Log in").click()
            await expect(page.get_by_role("button", name="Cancel all unfinished")).to_be_enabled(enabled=enabled)
            await page.get_by_label("Jobs at once", exact=True).fill("9")
            await expect(page.get_by_role("button", name="Save")).to_be_disabled()
            await expect(page.get_by_title("needs a token of scope admin")).to_be_visible()


@pytest.mark.slow
async def test_graph_of_2000_jobs_is_usable_in_2_s(browser: Browser, sqlite_url: str) -> None:
    async with _app(sqlite_url, asyncio.Event()) as app, serving(app) as server:
        jobs: list[dict[str, Any]] = [
            {
                "key": str(n),
                "title": f"Job {n}",
                "depends_on": sorted({str(n - 20), str(n - 20 - n % 7)}) if n >= 40 else [],
            }
            for n in range(2_000)
        ]
        office = await _office(app, jobs)
        page, complaints = await opened(browser, server.url)
        await page.goto(f"{server.url}/#/offices")
        await expect(page.locator(".officecard")).to_be_visible()
        # Processor time of the page and of the server, in this process: a busy machine takes none of it.
        chromium = await page.context.new_cdp_session(page)
        await chromium.send("Performance.enable", {"timeDomain": "threadTicks"})
        before = await _task_seconds(chromium) + time.process_time()
        await page.evaluate(
            """async (office) => {
                location.hash = `/offices/${office}`;
                const frame = () => new Promise(requestAnimationFrame);
                while (!document.querySelector("canvas[data-drawn='2000']")) await frame();
                const canvas = document.querySelector("canvas");
                canvas.focus();
                canvas.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
                while (!document.querySelector(".graphbox aside h3 a")) await frame();
            }""",
            office,
        )
        took = await _task_seconds(chromium) + time.process_time() - before
        assert 0 < took < 2, took
        await _select(page, "Job 1999")
        assert complaints == []


async def _task_seconds(chromium: CDPSession) -> float:
    """Return the processor time that the page's main thread has spent on tasks."""
    metrics = (await chromium.send("Performance.getMetrics"))["metrics"]
    return next(float(each["value"]) for each in metrics if each["name"] == "TaskDuration")
