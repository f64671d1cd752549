"""Every page of the dashboard: accessible in both themes and languages, quick with many rows, back after a restart."""

import pytest
from playwright.async_api import Browser, expect

from hanbeon import App
from tests.dashboard.axe import OPTIONS, serious_violations
from tests.dashboard.pages import PATIENT_MS, opened
from tests.server.client import serving

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]
expect.set_options(timeout=PATIENT_MS)
_PAGES = (
    "",
    "jobs",
    "tasks",
    "tasks/report?new=1",
    "queues",
    "instances",
    "actions",
    "settings",
    "which",
    "offices",
    "schedules",
    "schedules/new",
    "chains",
    "workflows",
    "workflows/new",
    "exports",
    "deadletters",
)


def _app(url: str) -> App:
    app = App(url, shutdown_grace=0.2)

    @app.task(name="report", retries=0)
    async def report(day: str = "", broken: bool = False) -> str:
        if broken:
            raise ValueError("no data")
        return day

    return app


@pytest.mark.parametrize(("theme", "locale"), [("light", "en-GB"), ("dark", "ko-KR")])
async def test_pages_have_no_serious_violation(browser: Browser, sqlite_url: str, theme: str, locale: str) -> None:
    async with _app(sqlite_url) as app, serving(app, work=True) as server:
        report = app.tasks.get("report")
        jobs = await app.enqueue_many([report.call(day="monday"), report.call(broken=True)])
        for job in jobs:
            await job.wait(timeout=60)
        options = {"color_scheme": theme, "locale": locale, **OPTIONS}
        page, complaints = await opened(browser, server.url, **options)
        for place in (*_PAGES, f"jobs/{jobs[1].id}"):
            await page.goto(f"{server.url}/#/{place}")
            await expect(page.locator("main .panel, main .empty").first).to_be_visible()
            await expect(page.locator("main .skeleton")).to_have_count(0)
            assert await serious_violations(page) == [], place
        assert complaints == []


async def test_ten_thousand_jobs_are_a_list_of_few_rows(browser: Browser, sqlite_url: str) -> None:
    async with _app(sqlite_url) as app, serving(app) as server:
        report = app.tasks.get("report")
        for _ in range(10):
            await app.enqueue_many([report.call(day=str(number)) for number in range(1_000)])
        page, complaints = await opened(browser, f"{server.url}/#/jobs")
        for number in range(200, 10_000, 200):
            await expect(page.get_by_text(f"{number:,} jobs shown", exact=True)).to_be_visible()
            await page.get_by_role("button", name="Load more").click()
        await expect(page.get_by_text("10,000 jobs shown", exact=True)).to_be_visible()
        assert await page.locator(".gridrow").count() < 100
        await page.locator(".scroll").evaluate("(box) => (box.scrollTop = box.scrollHeight)")
        await expect(page.locator(".gridrow").last).to_be_visible()
        assert await page.locator(".gridrow").count() < 100
        assert complaints == []


async def test_page_tells_that_the_server_is_gone_and_back(browser: Browser, sqlite_url: str) -> None:
    async with _app(sqlite_url) as app:
        async with serving(app) as server:
            page, _ = await opened(browser, f"{server.url}/#/queues")
            await expect(page.get_by_role("heading", name="Queues")).to_be_visible()
        await expect(page.get_by_text("The server does not answer").first).to_be_visible()
        port = int(server.url.rpartition(":")[2])
        async with serving(app, port=port):
            await expect(page.get_by_text("The connection is back.")).to_be_visible()
            await expect(page.get_by_text("The server does not answer")).to_have_count(0)
