"""Schedules in the dashboard: create, fires, run now, pause, edit."""

import asyncio

import pytest
from playwright.async_api import Browser, Page, expect

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

    @app.task(name="report", retries=0)
    async def report(day: str = "") -> str:
        await gate.wait()
        return day

    return app


async def _fill(page: Page, label: str, text: str) -> None:
    await page.get_by_label(label, exact=True).fill(text)


async def test_an_operator_creates_and_edits_a_schedule(browser: Browser, sqlite_url: str) -> None:
    gate = asyncio.Event()
    async with _app(sqlite_url, gate) as app, serving(app, work=True) as server:
        page, complaints = await opened(browser, f"{server.url}/#/schedules")
        await page.get_by_role("link", name="New schedule").click()
        preview = page.locator(".preview")
        # Words and next fires while one types; what is wrong is said by the server.
        await expect(preview).to_contain_text("At 09:00, Monday through Friday")
        await expect(preview.locator("li")).to_have_count(5)
        await _fill(page, "Cron expression", "0 25 * * *")
        await expect(preview.locator(".failure")).to_contain_text("cron")
        await page.get_by_role("button", name="At an interval").click()
        await _fill(page, "Interval", "90m")
        await expect(preview.locator("li")).to_have_count(5)
        await _fill(page, "Interval", "soon")
        await expect(preview.locator(".failure")).to_contain_text("every")
        await page.get_by_role("button", name="Recurring").click()
        await _fill(page, "Cron expression", "* * * * * *")
        await expect(preview).to_contain_text("Every second")
        await page.locator("select[name=task_id]").select_option("report")
        await _fill(page, "Name", _HOSTILE)
        await _fill(page, "day", "today")
        await page.get_by_role("button", name="Create", exact=True).click()
        await expect(page.locator(".crumb b")).to_have_text(_HOSTILE)
        # The first fire creates an execution, those that meet it are skipped.
        await expect(page.locator(".firelist a").first).to_contain_text("created")
        await expect(page.locator(".firelist")).to_contain_text("skipped · an execution was unfinished")
        await expect(page.locator(".firestrip[role=img] .skipped").first).to_be_visible()
        await page.get_by_role("button", name="Pause").click()
        await page.get_by_role("button", name="Pause").click()
        await expect(page.get_by_text("It is paused")).to_be_visible()
        # It runs by hand only when the other one has ended.
        await page.get_by_role("button", name="Run now").click()
        await expect(page.locator(".banner.bad")).to_be_visible()
        gate.set()
        await expect(page.locator("td .state.succeeded").first).to_be_visible()
        await page.get_by_role("button", name="Run now").click()
        await expect(page.get_by_role("cell", name="manual")).to_be_visible()
        await page.get_by_role("button", name="Edit").click()
        await _fill(page, "Cron expression", "@daily")
        await page.get_by_role("button", name="Save").click()
        await expect(page.get_by_role("heading", name="At 00:00, every day")).to_be_visible()
        await page.get_by_role("button", name="한국어").click()
        await expect(page.get_by_role("heading", name="00:00, 매일")).to_be_visible()
        (schedule,) = (await app.schedules.list()).items
        assert (schedule.cron, schedule.paused, schedule.args) == ("@daily", True, {"day": "today"})
        assert await page.title() == "스케줄 · Hanbeon"
        assert complaints == []


async def test_cron_errors_are_in_the_language_of_the_reader(browser: Browser, sqlite_url: str) -> None:
    async with _app(sqlite_url, asyncio.Event()) as app, serving(app, work=True) as server:
        page, complaints = await opened(browser, f"{server.url}/#/schedules/new", locale="ko-KR")
        await _fill(page, "cron 식", "0 25 * * *")
        await expect(page.locator(".preview .failure")).to_have_text(
            "입력이 올바르지 않습니다: cron: 시 필드 '25': 25는 0–23에 없습니다. 쓸 수 있는 값: 0–23, 예: 9, 9-17, */2"
        )
        assert complaints == []


@pytest.mark.slow
@pytest.mark.parametrize(("theme", "locale"), [("light", "en-GB"), ("dark", "ko-KR")])
async def test_pages_of_schedules_are_accessible(browser: Browser, sqlite_url: str, theme: str, locale: str) -> None:
    gate = asyncio.Event()
    gate.set()
    async with _app(sqlite_url, gate) as app, serving(app, work=True) as server:
        schedule = await app.schedules.create("report", cron="* * * * * *", name="report")
        await app.schedules.create("report", cron="0 9 1 * MON", paused=True)
        options = {"color_scheme": theme, "locale": locale, **OPTIONS}
        page, complaints = await opened(browser, server.url, **options)
        for place in ("", f"/{schedule.id}", "/new"):
            await page.goto(f"{server.url}/#/schedules{place}")
            await expect(page.locator("main .panel").first).to_be_visible()
            await expect(page.locator("main .skeleton")).to_have_count(0)
            assert await serious_violations(page) == [], place
        assert complaints == []


@pytest.mark.slow
async def test_reader_of_schedules_cannot_act(browser: Browser, sqlite_url: str) -> None:
    async with _app(sqlite_url, asyncio.Event()) as app, serving(app) as server:
        async with app.worker():  # Registers its tasks.
            await app.schedules.create("report", cron="0 9 * * *", name="report")
        for scope, enabled in (("read", False), ("user", True)):
            token = await create_token(app.store, scope, scope)
            page, _ = await opened(browser, f"{server.url}/#/schedules")
            await page.get_by_label("Token").fill(token.text)
            await page.get_by_role("button", name="Log in").click()
            for name in ("Run now: report", "Pause: report"):
                await expect(page.get_by_role("button", name=name)).to_be_enabled(enabled=enabled)


async def test_schedule_that_fails_is_not_green(browser: Browser, sqlite_url: str) -> None:
    app = App(sqlite_url, shutdown_grace=0.2)

    @app.task(name="health", retries=0)
    async def health() -> None:
        raise ValueError("no disk")

    async with app, serving(app, work=True) as server:
        made = await app.schedules.create("health", cron="* * * * * *", name="health")
        page, complaints = await opened(browser, f"{server.url}/#/schedules/{made.id}")
        await expect(page.locator(".firelist a").last).to_contain_text("created · failed")
        await expect(page.locator(".firestrip[role=img] .failed").first).to_be_visible()
        await page.locator(".firelist a").last.click()
        await expect(page.locator(".failure").first).to_contain_text("ValueError: no disk")
        await page.locator(".crumb").get_by_role("link", name="health", exact=True).click()
        await expect(page).to_have_url(f"{server.url}/#/schedules/{made.id}")
        assert complaints == []
