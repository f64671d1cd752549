"""A run: instances fire and work, clients change the schedules, and at the end the results are judged."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Collection
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from hanbeon import App
from hanbeon.domain.lifecycle import TERMINAL
from hanbeon.service.verify import render
from hanbeon.store.operations.queries import now_us
from hanbeon.surfaces.verify import verify
from tests.guarantees import guarantee
from tests.storm.journal import Journal
from tests.storm.moments import rows_of, until
from tests.storm.schedules import tasks
from tests.storm.schedules.clients import EACH_SECOND, Client, SharedState
from tests.storm.schedules.judge import Judgement, judge
from tests.storm.schedules.witness import watch

CLIENTS = 4


class Storm:
    """Clients of one database, and what they do to its schedules."""

    def __init__(self, app: App, clients: list[Client], shared: SharedState, rng: random.Random) -> None:
        self.app, self.shared = app, shared
        self._clients, self._rng = clients, rng

    async def begin(self, schedules: int) -> None:
        """Create this many schedules that fire each second."""
        for number in range(schedules):
            await self._clients[number % len(self._clients)].make(EACH_SECOND)

    async def resume_all(self) -> None:
        await self._clients[0].resume_all()

    async def act_for(self, seconds: float, pause: float) -> None:
        """Let all clients make changes concurrently, for this long by the clock of the event loop."""
        ends_at = asyncio.get_running_loop().time() + seconds

        async def act(client: Client) -> None:
            while asyncio.get_running_loop().time() < ends_at:
                await client.act()
                await asyncio.sleep(pause)

        await asyncio.gather(*(act(each) for each in self._clients))

    async def act_until_all_was_done(self, kinds: Collection[str]) -> None:
        """Keep making changes until each of these kinds was accepted at least once."""

        async def act() -> bool | None:
            await self._clients[0].act()
            return True if all(self.shared.done[kind] for kind in kinds) else None

        await until(f"{kinds} were done", act, 60)

    async def end(self, timeout: float) -> Judgement:
        """Finish everything that was due, let nothing more become due, and judge."""
        store = self.app.store
        over_at = await store.read(now_us)

        async def caught_up() -> bool | None:
            behind = "SELECT 1 FROM hanbeon.schedule WHERE due_at <= $1 LIMIT 1"
            return None if await rows_of(store, behind, over_at) else True

        await until("all that was due has been decided", caught_up, timeout)
        await self._clients[0].pause_all()

        async def ended() -> bool | None:
            counts = await self.app.counts()
            return None if any(count for state, count in counts.items() if state not in TERMINAL) else True

        await until("every execution has ended", ended, timeout)
        report = await verify(store)
        assert report.sound, render(report)
        return await judge(store, self.shared.journal, self.shared.asked_to_delete)


@asynccontextmanager
async def storm(url: str, journal: Journal, rng: random.Random, **kinds: int) -> AsyncIterator[Storm]:
    """Set up a database with triggers and clients, and no instance yet. `kinds`: how many tasks of each."""
    app = tasks.make_app(url, **kinds)
    await app.migrate()
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(app)
        await watch(app.store)
        names = [task.name for task in app.tasks]
        shared = SharedState(names, journal)
        clients = [
            Client(await stack.enter_async_context(app.twin()), shared, random.Random(rng.random()))
            for _ in range(CLIENTS)
        ]
        yield Storm(app, clients, shared, rng)


def assert_fits(judgement: Judgement, shared: SharedState) -> None:
    shown = "\n".join(judgement.findings[:20])
    with guarantee():
        assert not judgement.findings, f"{len(judgement.findings)} findings:\n{shown}\n{judgement[1:]}\n{shared.done}"


def worker_options(settings: dict[str, Any], **kinds: int) -> dict[str, Any]:
    """Return the options of worker processes that have the same tasks."""
    return {"settings": {"kind": "schedules"} | settings | kinds, "concurrency": 50}
