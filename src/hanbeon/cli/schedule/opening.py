"""Opens the schedules that a command works on, with the tasks that are known here, and finds what was typed."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from hanbeon.app import App
from hanbeon.cli.app_loader import maybe_app
from hanbeon.cli.open_app import open_app
from hanbeon.domain.job import is_id
from hanbeon.errors import NotFound
from hanbeon.surfaces.schedules.schemas import Schedule
from hanbeon.tasks.options import did_you_mean

_HINTED_AT = 1_000


@contextlib.asynccontextmanager
async def with_tasks(target: str | None, database: str | None) -> AsyncIterator[tuple[App, bool]]:
    """The App of an option or of a file, so that arguments are checked; else one without tasks. And which it is."""
    app = maybe_app(target, database)
    if app is None:
        async with open_app(database) as there:
            yield there, False
    else:
        async with app:
            yield app, True


async def find(app: App, typed: str) -> Schedule:
    """The schedule with this id or this name."""
    if is_id(typed):
        return await app.schedules.get(typed)
    found = (await app.schedules.list(name=typed, limit=1)).items
    if found:
        return found[0]
    names = [each.name for each in (await app.schedules.list(limit=_HINTED_AT)).items if each.name is not None]
    hint = did_you_mean(typed, names) or "; `hanbeon schedule list` shows them"
    raise NotFound(f"there is no schedule {typed[:80]!r}{hint}")
