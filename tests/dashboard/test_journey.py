"""Journeys through the dashboard, in a real browser over a real server with a worker."""

import asyncio

import pytest
from playwright.async_api import Browser, expect

from hanbeon import App, Context
from hanbeon.service.tokens import create_token
from tests.dashboard.pages import PATIENT_MS, opened
from tests.server.client import serving

pytestmark = pytest.mark.asyncio(loop_scope="session")

_HOSTILE = "<img src=x onerror=\"document.title='run'\"><script>document.title='run'</script>"
expect.set_options(timeout=PATIENT_MS)


def _app(url: str) -> App:
    app = App(url, shutdown_grace=0.2)

    @app.task(name="mail", retries=0)
    async def mail(ctx: Context, to: str, broken: bool = True) -> str:
        ctx.log("\x1b[31mred\x1b[0m and plain " + _HOSTILE)
        if broken:
            raise ValueError(_HOSTILE)
        return _HOSTILE

    return app


async def test_an_operator_finds_and_repairs_a_job(browser: Browser, sqlite_url: str) -> None:
    async with _app(sqlite_url) as app, serving(app, work=True) as server:
        page, complaints = await opened(browser, server.url)
        await expect(page.get_by_role("heading", name="Home")).to_be_visible()
        # It shows what happens while one looks at it.
        (job,) = await app.enqueue_many([app.tasks.get("mail").call(to="<b>Ada</b>")])
        failed = page.locator("section", has=page.get_by_role("heading", name="Failures worth a look"))
        await expect(failed.get_by_text("<img src=x")).to_be_visible()
        await failed.get_by_text("<img src=x").click()
        await expect(page).to_have_url(f"{server.url}/#/jobs?state=failed&task=mail&failure_type=error")
        # One job whole: arguments, output with colours, and no part of it is run.
        await page.get_by_role("link", name="mail").click()
        await expect(page).to_have_url(f"{server.url}/#/jobs/{job.id}")
        await expect(page.get_by_text('"<b>Ada</b>"')).to_be_visible()
        await expect(page.locator(".log .fg1")).to_have_text("red")
        await expect(page.locator(".log")).to_contain_text(f"red and plain {_HOSTILE}")
        await expect(page.get_by_text("attempt 1 started")).to_be_visible()
        # Again with other arguments.
        await page.get_by_role("button", name="Run again with other arguments").click()
        await page.get_by_role("textbox", name="Arguments").fill('{"to": "Grace", "broken": false}')
        await page.get_by_role("button", name="Enqueue", exact=True).click()
        await expect(page).not_to_have_url(f"{server.url}/#/jobs/{job.id}")
        await expect(page.locator(".jobhead .state.succeeded")).to_be_visible()
        # A queue is paused after asking twice, and who did it is written down.
        await page.get_by_role("link", name="Queues").click()
        await page.get_by_role("button", name="Pause default").click()
        await page.get_by_role("button", name="Pause default").click()
        await expect(page.get_by_text("paused")).to_be_visible()
        assert [queue.paused for queue in await app.queues() if queue.name == "default"] == [True]
        await page.get_by_role("link", name="Audit log").click()
        await expect(page.get_by_text("engine.change_queue")).to_be_visible()
        await page.get_by_role("button", name="한국어").click()
        await expect(page.get_by_role("heading", name="변경 기록")).to_be_visible()
        assert await page.title() == "변경 기록 · Hanbeon"
        assert complaints == []


async def test_a_token_lets_in_and_its_end_shows_the_login(browser: Browser, sqlite_url: str) -> None:
    async with _app(sqlite_url) as app, serving(app) as server:
        token = await create_token(app.store, "ada", "read")
        page, complaints = await opened(browser, f"{server.url}/#/queues")
        await expect(page.locator("form code")).to_have_text("hanbeon token create --user NAME --scope admin")
        await page.get_by_label("Token").fill("wrong")
        await page.get_by_role("button", name="Log in").click()
        await expect(page.get_by_role("alert")).to_contain_text("unknown")
        await page.get_by_label("Token").fill(token.text)
        await page.get_by_role("button", name="Log in").click()
        await expect(page.get_by_role("heading", name="Queues")).to_be_visible()
        await page.reload()
        await expect(page.get_by_role("heading", name="Queues")).to_be_visible()
        await page.get_by_role("button", name="Log out").click()
        await expect(page.get_by_label("Token")).to_be_visible()
        assert complaints == []


async def test_a_failed_job_is_understood_mended_and_watched(browser: Browser, sqlite_url: str) -> None:
    prices: dict[str, int] = {}
    gate = asyncio.Event()
    app = App(sqlite_url, shutdown_grace=0.2)

    @app.task(name="price", retries=0)
    async def price(ctx: Context, item: str) -> int:
        found = prices[item]
        ctx.log("found it")
        await ctx.progress({"percent": 50})
        await gate.wait()
        return found

    async with app, serving(app, work=True) as server:
        job = await app.enqueue("price", {"item": "tea"})
        page, complaints = await opened(browser, server.url)
        # Home leads to the failure, and the job says at once where it was.
        await page.get_by_text("KeyError: 'tea'").click()
        await page.get_by_role("link", name="price").click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("price")
        await expect(page.locator(".trace")).to_contain_text("found = prices[item]")
        await expect(page.get_by_role("heading", name="Result")).to_have_count(0)
        # It is retried once the cause is mended, and watched until it ends.
        prices["tea"] = 3
        await page.get_by_role("button", name="Retry", exact=True).click()
        await expect(page.get_by_text("Retried.")).to_be_visible()
        await expect(page.locator(".jobhead .state.running")).to_be_visible()
        await expect(page.locator(".log")).to_contain_text("found it")
        await expect(page.locator(".jobhead")).to_contain_text("50 %")
        gate.set()
        await expect(page.locator(".jobhead .state.succeeded")).to_have_text("Succeeded")
        await expect(page.locator("section", has=page.get_by_role("heading", name="Result"))).to_contain_text("3")
        await expect(page.locator(".attempts tbody tr:not(.message)")).to_have_count(2)
        assert await app.job(job.id).result(60) == 3
        assert complaints == []
