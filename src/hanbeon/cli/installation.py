"""The installation that a command works on: a database, or a server in front of one."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from hanbeon.cli.location import ServerAddress, chosen_server
from hanbeon.domain.event_cursor import MOST
from hanbeon.errors import EventsMissed, InvalidInput
from hanbeon.rule import Rule
from hanbeon.settings import masked
from hanbeon.surfaces.installation import Installation
from hanbeon.wait import Hints

if TYPE_CHECKING:
    from hanbeon.app import App

T = TypeVar("T")
_RETRY_SECONDS = 5.0
"""Somebody waits at the prompt: an answer that does not come is said soon."""


@contextlib.asynccontextmanager
async def open_installation(database: str | None, *, create: bool = False) -> AsyncIterator[Installation]:
    """Open the server that `--server` or HANBEON_SERVER names, or else the database.

    `create`: a missing SQLite file is created.
    """
    server = chosen_server(database)
    if server is None:
        from hanbeon.cli.app_loader import open_app

        async with open_app(database, create=create) as app:
            yield app
    else:
        async with _open_server(server) as remote:
            yield remote


@contextlib.asynccontextmanager
async def open_with_tasks(
    target: str | None, database: str | None, *, create: bool | None = None
) -> AsyncIterator[tuple[Installation, bool]]:
    """Open an installation with the tasks of an App or a file, so that arguments are checked before a worker does.

    The second value is True if it has tasks. A server checks arguments against its own. `create`: a missing SQLite file
    is created; by default if there are tasks.
    """
    from hanbeon.cli.app_loader import app_or_empty, recorded, refuse_missing_file

    server = chosen_server(database)
    if server is not None:
        async with _open_server(server) as remote:
            yield remote, False
        return
    app = app_or_empty(target, database)
    if not (bool(app.tasks.names()) if create is None else create):
        refuse_missing_file(app.settings.database_url)
    async with app:
        with recorded():
            yield app, bool(app.tasks.names())


@contextlib.asynccontextmanager
async def _open_server(address: ServerAddress) -> AsyncIterator[Installation]:
    """Open a server; no request is sent yet. Errors of the client stop here: each names the remedy."""
    from hanbeon.cli.server_problems import command_error
    from hanbeon.client import ClientError
    from hanbeon.client.installation import RemoteInstallation

    try:
        remote = RemoteInstallation(address.url, token=address.token, retry_for=_RETRY_SECONDS)
    except InvalidInput as error:
        field = {"url": "server"}.get(error.field or "", error.field)
        raise InvalidInput(error.reason, field=field) from None
    async with remote:
        try:
            yield remote
        except ClientError as error:
            raise await command_error(error, address, remote.client) from None


def ask(database: str | None, call: Callable[[Installation], Awaitable[T]], *, create: bool = False) -> T:
    """Open the installation, call a service of it, and return the result."""
    from hanbeon.cli.event_loop import run

    async def work() -> T:
        async with open_installation(database, create=create) as installation:
            return await call(installation)

    return run(work())


def ask_with_tasks(target: str | None, database: str | None, call: Callable[[Installation], Awaitable[T]]) -> T:
    """Like `ask`, with the tasks and the secrets of an App or a file."""
    from hanbeon.cli.event_loop import run

    async def work() -> T:
        async with open_with_tasks(target, database) as (installation, _):
            return await call(installation)

    return run(work())


def database_of(installation: Installation, option: str, why: str) -> App:
    """Return the App of a database; raises for an option that a server has not."""
    from hanbeon.app import App

    if not isinstance(installation, App):
        raise InvalidInput(Rule("requires_database", why=why), field=option)
    return installation


def address_of(installation: Installation) -> str:
    """Return the address of a database or a server, without secrets."""
    from hanbeon.app import App

    if isinstance(installation, App):
        return masked(installation.settings.database_url)
    server = chosen_server(None)
    return "" if server is None else masked(server.url)


def dashboard_of(installation: Installation) -> str | None:
    """Return the address of its dashboard, if that is known."""
    from hanbeon.app import App
    from hanbeon.cli.location import settings_here

    if isinstance(installation, App):
        return installation.settings.public_url
    return settings_here().public_url or address_of(installation)


def timezone_of(installation: Installation) -> str:
    """Return the time zone that is left out where a thing has no other; over a server the local one."""
    from hanbeon.app import App
    from hanbeon.cli.location import settings_here

    return (installation.settings if isinstance(installation, App) else settings_here()).timezone


def hints_of(installation: Installation) -> Hints | None:
    """Return what tells that something may have happened; None over a server, which is polled."""
    from hanbeon.app import App

    return installation.hub.hints if isinstance(installation, App) else None


async def last_event(installation: Installation) -> int:
    """Return the id of the last event that has committed."""
    from hanbeon.app import App

    if isinstance(installation, App):
        from hanbeon.store.operations.events import last_event_id

        while await installation.store.number_events():
            pass
        return await installation.store.read(last_event_id)
    try:
        # A place ahead of all events is refused with that of the last.
        await anext(installation.engine.follow(after=MOST))
    except EventsMissed as missed:
        return missed.after
    return 0
