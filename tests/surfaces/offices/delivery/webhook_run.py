"""An office with webhooks whose workers are other processes: its jobs, events and deliveries."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from hanbeon import App
from hanbeon.surfaces.offices.schemas import Delivery
from hanbeon.surfaces.offices.service import Offices
from hanbeon.surfaces.store_parts import migrate
from hanbeon.surfaces.verify import verify
from tests.guarantees import guarantee
from tests.outbound.web import Web
from tests.surfaces.offices.delivery.hooks import SECRET

MODULE = "tests.surfaces.offices.delivery.webhook_run"
PATIENCE = 90.0
# A killed worker is noticed after two seconds.
SETTINGS: dict[str, Any] = {"lease": 2.0, "poll": 0.5, "outbound_allow_private": True, "shutdown_grace": 1.0}


def make_app(url: str, **settings: Any) -> App:
    """The App of the worker processes."""
    app = App(url, **settings)

    @app.task
    async def work(pause: float = 0.0) -> None:
        await asyncio.sleep(pause)

    return app


class WebhookRun:
    """One office, seen from an App without a worker."""

    def __init__(self, app: App, office: str, hooks: list[str]) -> None:
        self.app, self.office, self.hooks = app, office, hooks
        self.offices = Offices(app)

    async def make(self, count: int, **args: Any) -> None:
        await self.offices.create_jobs(self.office, jobs=[{"args": args} for _ in range(count)])

    async def done(self) -> int:
        return (await self.offices.stats(self.office)).done

    async def deliveries(self, hook: str) -> list[Delivery]:
        found: list[Delivery] = []
        cursor: str | None = None
        while True:
            page = await self.offices.deliveries(self.office, hook, cursor=cursor, limit=1_000)
            found += page.items
            if page.next_cursor is None:
                return found
            cursor = page.next_cursor

    async def event_ids(self) -> list[int]:
        """The ids of the office's events."""
        found: list[int] = []
        after, more = 0, True
        while more:
            page = await self.offices.events(self.office, after=after)
            after, more = page.after, page.more
            found += [event.id for event in page.items]
        return found

    async def assert_one_delivery_for_each_event(self, hook: str) -> list[Delivery]:
        deliveries = await self.deliveries(hook)
        report = await verify(self.app.store)
        with guarantee():
            assert Counter(each.event_id for each in deliveries) == Counter(await self.event_ids())
            assert len({each.id for each in deliveries}) == len(deliveries)
            assert report.sound, report.errors
        return deliveries

    async def all_delivered(self, hook: str) -> bool:
        """Return true once every event has become a delivery and every delivery has succeeded."""
        deliveries = await self.deliveries(hook)
        return len(deliveries) >= len(await self.event_ids()) and all(each.status == "delivered" for each in deliveries)


@contextlib.asynccontextmanager
async def webhook_run(url: str, *webs: Web | str) -> AsyncIterator[WebhookRun]:
    await migrate(url)
    async with make_app(url, **SETTINGS) as app:
        hooks = [{"url": web if isinstance(web, str) else f"{web.url}/hook", "secret": SECRET} for web in webs]
        office = await Offices(app).create(
            name="an office",
            config={"maxConcurrentJobs": 20, "maxRetries": 50, "retryBaseDelay": 0},
            sessions={"default": "work"},
            webhooks=hooks,
        )
        yield WebhookRun(app, office.id, [each.id for each in office.webhooks])


async def until(so: Callable[[], Awaitable[bool]], what: str) -> None:
    try:
        async with asyncio.timeout(PATIENCE):
            while not await so():  # noqa: ASYNC110 - it is another process that makes it so
                await asyncio.sleep(0.1)
    except TimeoutError:
        raise AssertionError(f"not within {PATIENCE:g} s: {what}") from None
