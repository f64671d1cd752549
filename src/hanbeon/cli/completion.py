"""Names that a shell completes, from the database that the command would work on and the file that it goes by.

Whoever presses the key waits: what is not found within a second is not offered, and neither is an error shown. Nothing
is made or changed, and no code of an App is imported.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from hanbeon.store.tx import Tx

    Read = Callable[[Tx], Awaitable[list[str]]]

_SECONDS = 1.0
_MOST = 1_000
# What any shell takes as it stands. Others wrote these names, and some shells evaluate what they complete.
_SAFE = re.compile(r"\w[\w.@%+,/-]*")


def queue_names(ctx: typer.Context, incomplete: str) -> list[str]:
    async def read(tx: Tx) -> list[str]:
        from hanbeon.store.operations.queues import queues

        return [queue.name for queue in await queues(tx)]

    return _offered(_found(ctx, read), incomplete)


def task_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """Those that a worker of the database has registered, and those of the file."""

    async def read(tx: Tx) -> list[str]:
        from hanbeon.domain.job import RESERVED
        from hanbeon.store.operations.tasks import tasks

        return [task.name for task in await tasks(tx, limit=_MOST) if not task.name.startswith(RESERVED)]

    return _offered([*_tasks_of_the_file(), *_found(ctx, read)], incomplete)


def schedule_names(ctx: typer.Context, incomplete: str) -> list[str]:
    async def read(tx: Tx) -> list[str]:
        from hanbeon.store.operations.schedules import schedules

        return _names_or_ids([(each.name, each.id) for each in await schedules(tx, None, _MOST)], incomplete)

    return _offered(_found(ctx, read), incomplete)


def office_names(ctx: typer.Context, incomplete: str) -> list[str]:
    async def read(tx: Tx) -> list[str]:
        from hanbeon.store.operations.offices import offices

        return _names_or_ids([(each.name, each.id) for each in await offices(tx, None, _MOST)], incomplete)

    return _offered(_found(ctx, read), incomplete)


def _names_or_ids(things: list[tuple[str | None, str]], incomplete: str) -> list[str]:
    """Of each its name, if that means it alone and can be typed; otherwise, or if somebody has begun one, its id."""
    names = [name for name, _ in things]
    return [
        its_id
        if name is None
        or names.count(name) > 1
        or not _SAFE.fullmatch(name)
        or (incomplete and its_id.startswith(incomplete))
        else name
        for name, its_id in things
    ]


def _offered(names: Iterable[str], incomplete: str) -> list[str]:
    return sorted({name for name in names if name.startswith(incomplete) and _SAFE.fullmatch(name)})


def _tasks_of_the_file() -> list[str]:
    def look() -> list[str]:
        from hanbeon.cli.config_option import named_file
        from hanbeon.config.document import Document
        from hanbeon.config.file import find

        path = find(named_file())
        return [] if path is None else list(Document.read(path).said["tasks"])

    return _quietly(look)


def _found(ctx: typer.Context, read: Read) -> list[str]:
    """What there is in the database, if it can be asked."""

    def look() -> list[str]:
        from hanbeon.cli.config_option import settings_here
        from hanbeon.cli.event_loop import run
        from hanbeon.clock import SystemClock
        from hanbeon.store.backends import open_store
        from hanbeon.store.sqlite import SqliteDatabase

        url = settings_here(database_url=ctx.params.get("database")).database_url
        database = open_store(url, SystemClock(), pool_size=2).database

        async def ask() -> list[str]:
            await (database.open_to_read() if isinstance(database, SqliteDatabase) else database.open())
            try:
                return await database.read(read)
            finally:
                await database.close()

        with at_most(_SECONDS):
            return run(ask())

    return _quietly(look)


def _quietly(look: Callable[[], list[str]]) -> list[str]:
    """What it finds, or nothing if anything goes wrong. What is printed goes nowhere: the shell reads what we print."""
    unread = io.StringIO()
    with contextlib.redirect_stdout(unread), contextlib.redirect_stderr(unread):
        try:
            return look()
        except Exception:
            return []


@contextlib.contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Ends the process, silently, when the block takes longer.

    Only so it is certain: a thread that waits for a lock cannot be stopped, and would be waited for at the end. Nothing
    is lost by it, since whoever completes has said nothing yet.
    """
    hurry = threading.Timer(seconds, os._exit, (0,))
    hurry.daemon = True
    hurry.start()
    try:
        yield
    finally:
        hurry.cancel()
