"""Chains in the dashboard: the walk forward and back, run, resume, skip, abort."""

from pathlib import Path

import pytest
from playwright.async_api import Browser, Locator, Page, expect

from hanbeon import App
from hanbeon.service.tokens import create_token
from tests.dashboard.axe import OPTIONS, serious_violations
from tests.dashboard.pages import PATIENT_MS, opened
from tests.server.client import serving
from tests.surfaces.chains.chain_kit import LIBRARY

pytestmark = pytest.mark.asyncio(loop_scope="session")

_HOSTILE = "<img src=x onerror=\"document.title='run'\">"
expect.set_options(timeout=PATIENT_MS)


def _app(url: str) -> App:
    return App(url, shutdown_grace=0.2, chain_libraries=LIBRARY)


def _job(page: Page, place: int) -> Locator:
    return page.locator(".walk li").nth(place)


async def _blocking(app: App, gate: Path) -> int:
    """A chain whose second backward operation fails until the file exists, and stops the walk."""
    chain = await app.chains.create(
        queue_library=LIBRARY,
        on_backward_failure="stop",
        jobs=[
            {"forward_operation": "do", "backward_operation": "undo", "arguments": {"name": _HOSTILE}},
            {"forward_operation": "do", "backward_operation": "fail_until", "arguments": {"gate": str(gate)}},
            {"forward_operation": "fail"},
        ],
    )
    return chain.queue_id


async def test_an_operator_walks_a_chain_forward_and_back(browser: Browser, sqlite_url: str, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    async with _app(sqlite_url) as app, serving(app, work=True) as server:
        chain = await _blocking(app, gate)
        page, complaints = await opened(browser, f"{server.url}/#/chains")
        await page.get_by_role("link", name=f"Chain {chain}").click()
        await page.get_by_role("button", name="Run", exact=True).click()
        # Forward, back from the job that failed, and blocked where an undo fails.
        await expect(_job(page, 2)).to_contain_text("failed")
        await expect(_job(page, 1)).to_contain_text("blocked here")
        await expect(_job(page, 0)).to_contain_text("not yet")
        await expect(page.get_by_text("resume tries it again")).to_be_visible()
        await _job(page, 1).click()
        await expect(page.locator(".chaindetails")).to_contain_text('"the gate is shut"')
        await _job(page, 0).click()
        await expect(page.locator(".chaindetails")).to_contain_text("<img src=x onerror=")
        # Without that undo, and then with it.
        await page.get_by_role("button", name="Skip", exact=True).click()
        await page.get_by_role("button", name="Sure?").click()
        await expect(_job(page, 0)).to_contain_text("undone")
        await expect(_job(page, 1)).to_contain_text("undo failed")
        await page.get_by_role("button", name="Run", exact=True).click()
        await expect(page.get_by_role("heading", name="Run 2")).to_be_visible()
        await expect(_job(page, 1)).to_contain_text("blocked here")
        gate.touch()
        await page.get_by_role("button", name="Resume", exact=True).click()
        await expect(_job(page, 1)).to_contain_text("SUCCESS, CANCELED")
        await expect(page.locator(".timeline li")).to_have_count(6)
        # The runs before it can be looked at again.
        await page.get_by_role("button", name="Run 1", exact=True).click()
        await expect(page).to_have_url(f"{server.url}/#/chains/{chain}?run=1")
        await expect(_job(page, 1)).to_contain_text("undo failed")
        assert [run.run for run in (await app.chains.runs(chain)).items] == [2, 1]
        assert await page.title() == "Chains · Hanbeon"
        assert complaints == []


@pytest.mark.slow
async def test_abort_of_a_chain_goes_back(browser: Browser, sqlite_url: str) -> None:
    async with _app(sqlite_url) as app, serving(app, work=True) as server:
        jobs = [{"forward_operation": "do", "backward_operation": "undo"}, {"forward_operation": "hang"}]
        chain = await app.chains.create(queue_library=LIBRARY, jobs=jobs)
        page, complaints = await opened(browser, f"{server.url}/#/chains/{chain.queue_id}")
        await page.get_by_role("button", name="Run", exact=True).click()
        await expect(_job(page, 1)).to_contain_text("running")
        await page.get_by_role("button", name="Abort", exact=True).click()
        await page.get_by_role("button", name="Sure?").click()
        await expect(_job(page, 0)).to_contain_text("undone")
        await expect(_job(page, 1)).to_contain_text("FAILED, CANCELED")
        await page.get_by_role("button", name="Delete", exact=True).click()
        await page.get_by_role("button", name="Sure?").click()
        await expect(page).to_have_url(f"{server.url}/#/chains")
        await expect(page.get_by_text("There are no chains yet")).to_be_visible()
        assert complaints == []


@pytest.mark.slow
@pytest.mark.parametrize(("theme", "locale"), [("light", "en-GB"), ("dark", "ko-KR")])
async def test_pages_of_chains_are_accessible(
    browser: Browser, sqlite_url: str, tmp_path: Path, theme: str, locale: str
) -> None:
    async with _app(sqlite_url) as app, serving(app, work=True) as server:
        chain = await _blocking(app, tmp_path / "gate")
        await app.chains.create()
        await app.chains.run(chain)
        options = {"color_scheme": theme, "locale": locale, **OPTIONS}
        page, complaints = await opened(browser, f"{server.url}/#/chains/{chain}", **options)
        await expect(page.locator(".chainstate.failed")).to_be_visible()
        await _job(page, 1).click()
        assert await serious_violations(page) == []
        for place in ("", "/2"):
            await page.goto(f"{server.url}/#/chains{place}")
            await expect(page.locator("main .panel").first).to_be_visible()
            await expect(page.locator("main .skeleton")).to_have_count(0)
            assert await serious_violations(page) == [], place
        assert complaints == []


@pytest.mark.slow
async def test_reader_of_chains_cannot_act(browser: Browser, sqlite_url: str) -> None:
    async with _app(sqlite_url) as app, serving(app) as server:
        chain = await app.chains.create(queue_library=LIBRARY, jobs=[{"forward_operation": "do"}])
        for scope, enabled in (("read", False), ("user", True)):
            token = await create_token(app.store, scope, scope)
            page, _ = await opened(browser, f"{server.url}/#/chains/{chain.queue_id}")
            await page.get_by_label("Token").fill(token.text)
            await page.get_by_role("button", name="Log in").click()
            for name in ("Run", "Delete"):
                await expect(page.get_by_role("button", name=name, exact=True)).to_be_enabled(enabled=enabled)
