"""Workflows in the dashboard: written in the editor, tried, run for real, repaired."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser, Page, expect

from hanbeon import App
from hanbeon.service.tokens import create_token
from tests.dashboard.pages import PATIENT_MS, opened
from tests.outbound.web import Web, reply
from tests.server.client import serving

pytestmark = pytest.mark.asyncio(loop_scope="session")

expect.set_options(timeout=PATIENT_MS)
_HOSTILE = "<img src=x onerror=\"document.title='run'\">"
_DAILY = {"mode": "recurring", "recurrence": {"frequency": "daily", "time": "09:00"}}


def _app(url: str) -> App:
    return App(url, shutdown_grace=0.2, outbound_allow_private=True)


async def _press_twice(page: Page, name: str) -> None:
    button = page.get_by_role("button", name=name, exact=True)
    await button.click()
    await page.get_by_role("button", name="Sure?").click()


async def test_a_workflow_is_written_tried_and_run(browser: Browser, sqlite_url: str) -> None:
    async with Web() as inbox, _app(sqlite_url) as app, serving(app, work=True) as server:
        page, complaints = await opened(browser, f"{server.url}/#/workflows")
        await expect(page.get_by_text("There are no workflows yet")).to_be_visible()
        await page.get_by_role("link", name="New workflow").click()
        await page.get_by_label("Name", exact=True).first.fill("인사 <b>")
        await page.get_by_role("button", name="Add a variable").click()
        await page.get_by_placeholder("Name", exact=True).fill("who")
        await page.get_by_placeholder("Default").fill(_HOSTILE)
        await page.get_by_label("Target").fill(f"json://127.0.0.1:{inbox.port}/")
        await page.get_by_label("Title").fill("Hello {{ whom }}")
        await page.get_by_label("Body").fill("{{ run.date }}")
        # A mistake is shown at its step, and nothing is lost.
        await page.get_by_role("button", name="Create as a draft").click()
        await expect(page.locator(".wrong").get_by_role("alert")).to_contain_text("steps[0].title")
        await page.get_by_label("Title").fill("Hello {{ who }}")
        await page.get_by_label("Mode").select_option("recurring")
        await page.get_by_label("How often").select_option("cron")
        await page.get_by_label("cron", exact=True).fill("0 25 * * *")
        await page.get_by_role("button", name="Create as a draft").click()
        await expect(page.get_by_text("schedule_config.recurrence.cron")).to_be_visible()
        await page.get_by_label("How often").select_option("weekly")
        await page.get_by_role("button", name="Sun").click()
        await page.get_by_role("button", name="Create as a draft").click()
        await expect(page.get_by_role("heading", name="인사 <b>")).to_be_visible()
        await expect(page.get_by_text("every Mon, Sun at 09:00")).to_be_visible()
        # A dry run shows the message and sends nothing.
        await page.get_by_role("button", name="Dry run").click()
        await expect(page.locator(".messages b")).to_have_text(f"Hello {_HOSTILE}")
        await page.locator("input").nth(1).fill("Ada")
        await page.get_by_role("button", name="Dry run").click()
        await expect(page.locator(".messages b")).to_have_text("Hello Ada")
        assert inbox.seen == []
        # A run sends it; its steps are shown with their results.
        await _press_twice(page, "Run now")
        await expect(page.locator(".run").first).to_contain_text("by hand")
        await expect(page.locator(".runbody td .state.succeeded")).to_have_text("completed")
        assert [b'"title":"Hello Ada"' in seen.body.replace(b'": "', b'":"') for seen in inbox.seen] == [True]
        # Activated, it has a next run; paused, none.
        await page.get_by_role("button", name="Activate").click()
        await expect(page.locator(".run").first).to_contain_text("planned")
        (saved,) = (await app.workflows.list()).items
        assert (saved.status.value, saved.next_run_at is not None) == ("active", True)
        await page.get_by_role("link", name="Workflows").first.click()
        await page.get_by_role("button", name="Pause 인사 <b>").click()
        await page.get_by_role("button", name="Pause 인사 <b>").click()
        await expect(page.get_by_text("paused", exact=True)).to_be_visible()
        assert await page.title() == "Workflows · Hanbeon"
        assert complaints == []


async def test_durations_have_no_part_that_is_zero(browser: Browser, sqlite_url: str) -> None:
    async with _app(sqlite_url) as app, serving(app) as server:
        steps = [{"type": "wait", "seconds": seconds} for seconds in (5, 60, 90, 3_600)]
        made = await app.workflows.create(name="Waits", steps=steps, schedule_config=_DAILY)
        page, complaints = await opened(browser, f"{server.url}/#/workflows/{made.id}")
        await expect(page.locator(".steps code")).to_have_text(["5 s", "1 min", "1 min 30 s", "1 h"])
        assert complaints == []


@pytest.mark.slow
async def test_a_failed_run_is_retried_and_a_plan_changed(browser: Browser, sqlite_url: str) -> None:
    async with Web(reply(400, "no"), reply(200)) as inbox, _app(sqlite_url) as app, serving(app, work=True) as server:
        step = {"type": "message", "name": "tell", "target": f"json://127.0.0.1:{inbox.port}/", "body": "x"}
        made = await app.workflows.create(name="Weekly", steps=[step], schedule_config=_DAILY, variables={"n": "5"})
        page, complaints = await opened(browser, f"{server.url}/#/workflows/{made.id}")
        await _press_twice(page, "Run now")
        await expect(page.locator(".run .failure")).to_contain_text("400")
        await page.get_by_role("button", name="Retry").click()
        await expect(page.locator(".runbody td .state.succeeded")).to_be_visible()
        assert len(inbox.seen) == 2
        # Editing keeps what it does not touch: the text "5" is not the number 5.
        await page.get_by_role("button", name="Edit").click()
        await page.get_by_label("Time", exact=True).fill("10:30")
        await page.get_by_role("button", name="wait", exact=True).click()
        await page.get_by_role("button", name="Move up 2").click()
        await page.get_by_role("button", name="Save", exact=True).click()
        await expect(page.get_by_text("every day at 10:30")).to_be_visible()
        changed = await app.workflows.get(made.id)
        assert changed.variables == {"n": "5"}
        assert [each["type"] for each in changed.steps] == ["wait", "message"]
        # A run that waits is cancelled.
        await _press_twice(page, "Run now")
        await expect(page.locator(".runbody td .state.ready").first).to_be_visible()
        await page.locator(".run").first.get_by_role("button", name="Cancel").click()
        await page.locator(".run").first.get_by_role("button", name="Sure?").click()
        await expect(page.locator(".run > summary .state.cancelled")).to_be_visible()
        await _press_twice(page, "Delete")
        await expect(page.get_by_text("There are no workflows yet")).to_be_visible()
        assert complaints == []


@pytest.mark.slow
async def test_a_reader_of_workflows_cannot_act(browser: Browser, sqlite_url: str) -> None:
    async with _app(sqlite_url) as app, serving(app) as server:
        step = {"type": "wait", "seconds": 1}
        await app.workflows.create(name="Pause", steps=[step], schedule_config=_DAILY)
        token = await create_token(app.store, "ada", "read")
        page, complaints = await opened(browser, f"{server.url}/#/workflows")
        await page.get_by_label("Token").fill(token.text)
        await page.get_by_role("button", name="Log in").click()
        await expect(page.get_by_role("button", name="Run now Pause")).to_be_disabled()
        await expect(page.get_by_role("link", name="New workflow")).to_have_count(0)
        await page.get_by_role("link", name="Pause").click()
        await expect(page.get_by_role("button", name="Edit")).to_be_disabled()
        await page.get_by_role("button", name="Dry run").click()
        await expect(page.get_by_text("This workflow sends no message.")).to_be_visible()
        assert complaints == []
