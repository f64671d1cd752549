"""Opens the offices that a command works on, and finds one by what was typed."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from hanbeon.app import App
from hanbeon.cli.app_loader import app_or_none_of_tasks
from hanbeon.cli.open_app import open_app, refuse_missing_file
from hanbeon.domain.job import is_id
from hanbeon.errors import Conflict, NotFound
from hanbeon.surfaces.offices.schemas import Office, Webhook
from hanbeon.surfaces.offices.service import Offices
from hanbeon.tasks.options import did_you_mean


@contextlib.asynccontextmanager
async def offices_of(database: str | None) -> AsyncIterator[Offices]:
    """The offices of a database that is there."""
    async with open_app(database) as app:
        yield Offices(app)


@contextlib.asynccontextmanager
async def offices_with_tasks(target: str | None, database: str | None, *, made: bool) -> AsyncIterator[Offices]:
    """The same, with the tasks that an App or a file has, so that sessions and arguments are checked against them.

    `made`: a file of SQLite's that is not there is made.
    """
    app: App = app_or_none_of_tasks(target, database)
    if not made:
        refuse_missing_file(app.settings.database_url)
    async with app:
        yield Offices(app)


async def find(offices: Offices, typed: str) -> Office:
    """The office with this id or, if it is the only one, with this name."""
    if is_id(typed):
        return await offices.get(typed)
    names, found, cursor = [], [], None
    while True:
        page = await offices.list(cursor=cursor, limit=1_000)
        names += [each.name for each in page.items]
        found += [each for each in page.items if each.name == typed]
        cursor = page.next_cursor
        if cursor is None:
            break
    if len(found) > 1:
        raise Conflict(f"{len(found)} offices are named {typed!r}; give the id: {', '.join(each.id for each in found)}")
    if not found:
        raise NotFound(
            f"there is no office {typed!r}{did_you_mean(typed, names) or '; `hanbeon office list` shows them'}"
        )
    return found[0]


def find_webhook(office: Office, typed: str) -> Webhook:
    """The webhook of an office with this id or, if it is the only one, with this address."""
    found = [each for each in office.webhooks if typed in (each.id, each.url)]
    if len(found) > 1:
        raise Conflict(
            f"{len(found)} webhooks have the address {typed!r}; give the id: {', '.join(each.id for each in found)}"
        )
    if not found:
        known = [word for each in office.webhooks for word in (each.id, each.url)]
        hint = did_you_mean(typed, known) or f"; `hanbeon office show {office.id} --json` shows them"
        raise NotFound(f"office {office.name!r} has no webhook {typed!r}{hint}")
    return found[0]
