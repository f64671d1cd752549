"""Dead letters in the dashboard: looked at, put back, dropped."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.async_api import Browser, expect

from hanbeon import App, State
from tests.dashboard.pages import PATIENT_MS, opened
from tests.databases.valkey import ValkeyServer
from tests.engine.stream.kit import RESULTS, connected
from tests.server.client import serving
from tests.storm.moments import until

pytestmark = pytest.mark.asyncio(loop_scope="session")

expect.set_options(timeout=PATIENT_MS)
_HOSTILE = "<img src=x onerror=\"document.title='run'\">"


async def test_dead_letters_are_put_back_and_dropped(browser: Browser, sqlite_url: str, valkey: ValkeyServer) -> None:
    async with App(sqlite_url, redis_url=valkey.url, shutdown_grace=0.2) as app:
        app.stream("thumb", "thumbs", retries=0, timeout="5m")
        async with serving(app, work=True) as server, connected(valkey.url) as redis:
            page, complaints = await opened(browser, f"{server.url}/#/deadletters")
            await expect(page.get_by_text("No dead letters.")).to_be_visible()
            job = await app.enqueue("thumb", {})
            await until("the request", lambda: _sent(redis))
            for reason, status in (("by hand", "SUCCEEDED"), (_HOSTILE, "FAILED")):
                payload = json.dumps({"jobId": job.id, "status": status, "resultUri": _HOSTILE})
                letter = {"stream": RESULTS, "id": "1-1", "reason": reason, "payload": payload}
                await redis.xadd("thumbs.deadletter", letter)
            await page.reload()
            hostile = page.locator(".letters > li", has_text="<img src=x").first
            await hostile.get_by_text("Message").click()
            await expect(hostile.locator("dd").last).to_have_text(json.dumps(_HOSTILE))
            mended = page.locator(".letters > li", has_text="by hand")
            await mended.get_by_role("button", name="Republish").click()
            await mended.get_by_role("button", name="Sure? Republish").click()
            await expect(mended).to_have_count(0)
            assert (await job.wait(60)).state is State.SUCCEEDED
            await page.locator(".letters").get_by_role("button", name="Drop").click()
            await page.locator(".letters").get_by_role("button", name="Sure? Drop").click()
            await expect(page.get_by_text("No dead letters.")).to_be_visible()
            assert (await page.title(), complaints) == ("Dead letters · Hanbeon", [])


async def _sent(redis: Any) -> bool | None:
    return bool(await redis.xlen("thumbs.requests")) or None
