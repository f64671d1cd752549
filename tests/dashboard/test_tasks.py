"""The pages of tasks: who serves them, how they did, and a form for a new job."""

from __future__ import annotations

import enum

import pytest
from playwright.async_api import Browser, expect

from hanbeon import App
from tests.dashboard.pages import PATIENT_MS, opened
from tests.server.client import serving

pytestmark = pytest.mark.asyncio(loop_scope="session")

expect.set_options(timeout=PATIENT_MS)


class Size(enum.Enum):
    SMALL = "small"
    LARGE = "large"


def _app(url: str) -> App:
    app = App(url, shutdown_grace=0.2)

    @app.task(name="draw", queue="pictures", retries=0)
    async def draw(title: str, size: Size, copies: int = 1, tags: list[str] | None = None) -> str:
        if title == "broken":
            raise ValueError("no ink")
        return f"{title} {size.value} {copies} {tags}"

    return app


async def test_a_new_job_is_made_by_a_form_of_its_parameters(browser: Browser, sqlite_url: str) -> None:
    async with _app(sqlite_url) as app, serving(app, work=True) as server:
        (broken,) = await app.enqueue_many([app.tasks.get("draw").call("broken", Size.SMALL)])
        await broken.wait(60)
        page, complaints = await opened(browser, f"{server.url}/#/tasks")
        row = page.get_by_role("row", name="draw")
        await expect(row).to_contain_text("title, size, copies=1, tags=null")
        await row.get_by_role("link", name="New job").click()
        # What is wrong is said at the field, before anything is sent.
        form = page.locator("form.newjob")
        await form.get_by_role("button", name="Enqueue", exact=True).click()
        await expect(form.get_by_label("title *")).to_have_attribute("aria-invalid", "true")
        await expect(form.locator("label", has_text="title").get_by_role("alert")).to_have_text("is needed")
        await form.get_by_label("copies").fill("many")
        await expect(form.locator("label", has_text="copies").get_by_role("alert")).to_have_text(
            "must be a whole number"
        )
        await form.get_by_label("copies").fill("2")
        await form.get_by_label("title *").fill("Ada")
        await form.get_by_label("size *").select_option("large")
        await form.get_by_label("tags").fill('["ink"]')
        await form.get_by_role("button", name="JSON").click()
        assert await form.locator("textarea[name=args]").input_value() == (
            '{"title":"Ada","size":"large","copies":2,"tags":["ink"]}'
        )
        await form.get_by_text("Options").click()
        await form.get_by_label("Priority").fill("high")
        await expect(form.locator("label", has_text="Priority").get_by_role("alert")).to_have_text("must be a number")
        await form.get_by_label("Priority").fill("-3")
        await form.get_by_role("button", name="Enqueue", exact=True).click()
        await expect(page.locator(".jobhead .state.succeeded")).to_be_visible()
        await expect(page.get_by_text("\"Ada large 2 ['ink']\"")).to_be_visible()
        (made,) = [job for job in await app.jobs(task="draw") if job.id != broken.id]
        assert made.priority == -3
        # The page of the task says who serves it, and how its jobs went.
        await page.goto(f"{server.url}/#/tasks/draw")
        await expect(page.get_by_role("heading", name="Its latest 2 jobs")).to_be_visible()
        await expect(page.locator(".facts", has_text="Failed share")).to_contain_text("50 % (1)")
        (worker,) = (await app.engine.instances()).items
        await expect(page.get_by_role("link", name=worker.name)).to_be_visible()
        await expect(page.get_by_text("ValueError: no ink")).to_be_visible()
        assert complaints == []
