"""The demo's App: an office whose agents ship a release, and checks that run beside them."""

from __future__ import annotations

import asyncio
import secrets
from typing import Any

from hanbeon.app import App
from hanbeon.errors import TaskError
from hanbeon.job import Job
from hanbeon.tasks.context import Context
from hanbeon.tasks.request import JobRequest

OFFICE, CHECKS = "demo.office", "demo.checks"
ROLES = ("PO", "Architect", "FE", "BE", "QA", "DevOps")
BROWSERS = ("chromium", "firefox", "webkit")
PAGES = ("home", "login", "orders", "basket", "payment", "help")
OFFICE_SLOTS, CHECK_SLOTS, BROWSER_SLOTS = 3, 5, 2
_STEPS = 20


class Pipeline:
    """The demo's App: its tasks, its limits, and one graph of jobs per release."""

    def __init__(self, database: str, pace: float) -> None:
        self.app = App(database, shutdown_grace=1.0)
        self._pace = pace
        self._run = secrets.token_hex(3)
        self._session = self.app.task(name="demo.session", retries=0)(session)
        self._flaky = self.app.task(name="demo.flaky_session", retries=2, retry_delay=pace)(flaky_session)
        # Long enough for the second attempt on a busy machine.
        timeout = 1 + 3 * pace
        self._deploy = self.app.task(name="demo.deploy", retries=3, retry_delay=pace, timeout=timeout)(deploy)
        self._check = self.app.task(name="demo.check", queue=CHECKS)(check)

    async def limit(self) -> None:
        """Set the limits: three agents at once, one per role; five checks at once, two per browser."""
        await self.app.configure_queue(OFFICE, max_concurrent=OFFICE_SLOTS, roles=dict.fromkeys(ROLES, 1))
        await self.app.configure_queue(CHECKS, max_concurrent=CHECK_SLOTS, max_per_key=BROWSER_SLOTS)

    def work_item(self, release: int) -> str:
        return f"demo {self._run} release {release}"

    async def start(self, release: int) -> list[Job[Any]]:
        """Enqueue the jobs of one release in one batch."""
        requests = [*self._office(), *self._checks()]
        return await self.app.enqueue_many(request.set(work_item=self.work_item(release)) for request in requests)

    def _office(self) -> list[JobRequest[str]]:
        def of(role: str, title: str, seconds: float, *after: JobRequest[str], task: Any = self._session) -> Any:
            request = task.call(title=title, seconds=seconds * self._pace)
            # If a job fails after all, the release ends; blocked jobs would wait for a manual retry.
            return request.set(queue=OFFICE, role=role, after=after, on_dependency_failure="fail")

        stories = of("PO", "Write the stories", 1.5)
        design = of("Architect", "Design the API", 1.5, stories)
        orders = of("BE", "Build the order service", 2.5, design)
        payments = of("BE", "Build the payment service", 2, design, task=self._flaky)
        pages = of("FE", "Build the order pages", 2, design)
        login = of("FE", "Build the login page", 1.5, design)
        load = of("QA", "Load test", 1.5, orders, payments)
        suite = of("QA", "Regression suite", 2, orders, payments, pages, login)
        staging = of("DevOps", "Deploy to staging", 1, load, suite, task=self._deploy)
        live = of("DevOps", "Deploy to production", 1.5, staging)
        return [stories, design, orders, payments, pages, login, load, suite, staging, live]

    def _checks(self) -> list[JobRequest[str]]:
        return [
            self._check.call(page=page, seconds=(1.5 + (4 * place + 3 * turn) % 7 / 2) * self._pace).set(
                concurrency_key=browser
            )
            for turn, browser in enumerate(BROWSERS)
            for place, page in enumerate(PAGES)
        ]


async def session(ctx: Context, title: str, seconds: float) -> str:
    """An agent's session."""
    await _work(ctx, seconds)
    return f"{title}: done"


async def flaky_session(ctx: Context, title: str, seconds: float) -> str:
    """A session whose first attempt fails halfway."""
    if ctx.retry_count == 0:
        await _work(ctx, seconds / 2, until=50)
        raise TaskError("The session broke off", failure_type="session_error")
    await _work(ctx, seconds)
    return f"{title}: done"


async def deploy(ctx: Context, title: str, seconds: float) -> str:
    """A deployment whose first attempt hangs until its timeout."""
    if ctx.retry_count == 0:
        await _work(ctx, seconds, until=30)
        await asyncio.Event().wait()
    await _work(ctx, seconds)
    return f"{title}: done"


async def check(ctx: Context, page: str, seconds: float) -> str:
    """A check of a page in a browser."""
    await _work(ctx, seconds)
    return f"{page}: looks right"


async def _work(ctx: Context, seconds: float, until: int = 100) -> None:
    for step in range(1, _STEPS + 1):
        await asyncio.sleep(seconds / _STEPS)
        await ctx.progress(until * step // _STEPS)
