"""Many instances declare the same schedules at once, over their own connections: each schedule is created once."""

import asyncio
import contextlib
from collections import Counter

import uuid_utils

from hanbeon import App
from hanbeon.store.operations.tasks import register_tasks
from hanbeon.surfaces.schedules.declarations import declared_schedule
from hanbeon.surfaces.schedules.declarer import DeclarationOutcome, declare_schedule
from hanbeon.tasks.task import settings_of
from tests.surfaces.schedules.schedule_kit import add_tasks

INSTANCES, ROUNDS = 6, 12


async def test_each_is_made_once_and_changed_once(database_url: str) -> None:
    await App(database_url).migrate()
    async with contextlib.AsyncExitStack() as stack:
        apps = [await stack.enter_async_context(App(database_url)) for _ in range(INSTANCES)]
        for app in apps:
            add_tasks(app)
        known = {task.name: settings_of(task.options) for task in apps[0].tasks}
        await apps[0].store.write(lambda tx: register_tasks(tx, known, "test"))

        async def declare(app: App, name: str, cron: str) -> DeclarationOutcome:
            given = declared_schedule(name, {"task": "report", "cron": cron})
            declaration = given.resolved(app.tasks.by_name, app.settings)
            new_id = str(uuid_utils.uuid7())
            done = await app.store.write(lambda tx: declare_schedule(tx, declaration, new_id, "test"))
            return done.outcome

        for number in range(ROUNDS):
            for cron, first in (("0 3 * * *", DeclarationOutcome.MADE), ("0 4 * * *", DeclarationOutcome.CHANGED)):
                outcomes = await asyncio.gather(*(declare(app, f"s{number}", cron) for app in apps))
                assert Counter(outcomes) == {first: 1, DeclarationOutcome.SAME: INSTANCES - 1}
        found = (await apps[0].schedules.list(limit=1_000)).items
        assert [(each.name, each.version) for each in found] == [(f"s{number}", 2) for number in range(ROUNDS)]
