"""Opens the offices of a database and finds one by the id or name on the command line."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from hanbeon.cli.installation import open_installation, open_with_tasks
from hanbeon.domain.job import is_id
from hanbeon.errors import Conflict, NotFound
from hanbeon.quotation import quoted, suggested
from hanbeon.rule import Rule
from hanbeon.surfaces.offices.schemas import Office, Webhook
from hanbeon.surfaces.offices.service import Offices


@contextlib.asynccontextmanager
async def offices_of(database: str | None) -> AsyncIterator[Offices]:
    """Open the offices of an installation."""
    async with open_installation(database) as installation:
        yield installation.offices


@contextlib.asynccontextmanager
async def offices_with_tasks(target: str | None, database: str | None, *, create_file: bool) -> AsyncIterator[Offices]:
    """Open the offices with the tasks of an App or a file, so that sessions and arguments are checked against them.

    `create_file`: whether a missing SQLite file is created.
    """
    async with open_with_tasks(target, database, create=create_file) as (installation, _):
        yield installation.offices


async def find(offices: Offices, typed: str) -> Office:
    """Return the office with this id or, if the name is unique, with this name."""
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
        raise Conflict(
            Rule("office_name_ambiguous", count=len(found), name=quoted(typed), ids=[each.id for each in found])
        )
    if not found:
        raise NotFound(Rule("office_not_listed", office=quoted(typed), nearest=suggested(typed, names)))
    return found[0]


async def find_office(database: str | None, typed: str) -> Office:
    """Return an office before a question is asked, so that no transaction or connection waits for the answer."""
    async with offices_of(database) as offices:
        return await find(offices, typed)


def find_webhook(office: Office, typed: str) -> Webhook:
    """Return the webhook of an office with this id or, if the URL is unique, with this URL."""
    found = [each for each in office.webhooks if typed in (each.id, each.url)]
    if len(found) > 1:
        raise Conflict(
            Rule("webhook_url_ambiguous", count=len(found), url=quoted(typed), ids=[each.id for each in found])
        )
    if not found:
        known = [word for each in office.webhooks for word in (each.id, each.url)]
        rule = Rule(
            "webhook_not_listed",
            office=quoted(office.name),
            webhook=quoted(typed),
            nearest=suggested(typed, known),
            id=office.id,
        )
        raise NotFound(rule)
    return found[0]
