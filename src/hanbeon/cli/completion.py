"""Shell completion of names, from the database and the file that the command would use.

The user is waiting at the prompt: names that are not found within a second are not offered, and no error is shown.
Nothing is created or changed, and no code of an App is imported.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from hanbeon.store.operations.pages import Slice
    from hanbeon.store.tx import Tx

    Read = Callable[[Tx], Awaitable[list[str]]]
    Page = Callable[[Tx, str | None, int], Awaitable[Slice[Any]]]

_SECONDS = 1.0
_MOST = 1_000
# Names that every shell takes literally. The names come from others, and some shells evaluate what they complete.
_SAFE = re.compile(r"\w[\w.@%+,/-]*")


def queue_names(ctx: typer.Context, incomplete: str) -> list[str]:
    async def read(tx: Tx) -> list[str]:
        from hanbeon.store.operations.queues import queues

        return [queue.name for queue in await queues(tx)]

    return _offered(_found(ctx, read), incomplete)


def task_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """Complete the tasks that workers of the database have registered, and those of the file."""

    async def read(tx: Tx) -> list[str]:
        from hanbeon.domain.job import RESERVED
        from hanbeon.store.operations.tasks import tasks

        return [task.name for task in await tasks(tx, limit=_MOST) if not task.name.startswith(RESERVED)]

    return _offered([*_tasks_of_file(), *_found(ctx, read)], incomplete)


def names_or_ids(ctx: typer.Context, page: Page, incomplete: str) -> list[str]:
    """Complete what `page` lists from its beginning."""

    async def read(tx: Tx) -> list[str]:
        return _names_or_ids([(each.name, each.id) for each in (await page(tx, None, _MOST)).items], incomplete)

    return _offered(_found(ctx, read), incomplete)


def _names_or_ids(things: list[tuple[str | None, str]], incomplete: str) -> list[str]:
    """Return each thing's name if it is unique and safe to type; its id otherwise, or if an id has been begun."""
    names = [name for name, _ in things]
    return [
        thing_id
        if name is None
        or names.count(name) > 1
        or not _SAFE.fullmatch(name)
        or (incomplete and thing_id.startswith(incomplete))
        else name
        for name, thing_id in things
    ]


def _offered(names: Iterable[str], incomplete: str) -> list[str]:
    return sorted({name for name in names if name.startswith(incomplete) and _SAFE.fullmatch(name)})


def _tasks_of_file() -> list[str]:
    def read_names() -> list[str]:
        from hanbeon.cli.location import named_file
        from hanbeon.config.document import Document
        from hanbeon.config.file import find

        path = find(named_file())
        return [] if path is None else list(Document.read(path).content["tasks"])

    return _quietly(read_names)


def _found(ctx: typer.Context, read: Read) -> list[str]:
    """Return the names that `read` finds in the database, or none if it cannot be read."""

    def read_names() -> list[str]:
        from hanbeon.cli.event_loop import run
        from hanbeon.cli.location import settings_here
        from hanbeon.clock import SystemClock
        from hanbeon.store.backends import open_store
        from hanbeon.store.database.sqlite import SqliteDatabase
        from hanbeon.surfaces.registry import SURFACES
        from hanbeon.surfaces.store_parts import add_parts

        add_parts(SURFACES)
        url = settings_here(database_url=ctx.params.get("database")).database_url
        database = open_store(url, SystemClock(), pool_size=2).database

        async def read_database() -> list[str]:
            await (database.open_to_read() if isinstance(database, SqliteDatabase) else database.open())
            try:
                return await database.read(read)
            finally:
                await database.close()

        with at_most(_SECONDS):
            return run(read_database())

    return _quietly(read_names)


def _quietly(read_names: Callable[[], list[str]]) -> list[str]:
    """Return the names, or none on any error. Output is discarded: the shell would read it as completions."""
    discarded = io.StringIO()
    with contextlib.redirect_stdout(discarded), contextlib.redirect_stderr(discarded):
        try:
            return read_names()
        except Exception:
            return []


@contextlib.contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """End the process silently if the block takes longer.

    Nothing less is certain: a thread that waits for a lock cannot be stopped, and Python would wait for it at exit.
    Nothing is lost, since nothing has been printed yet.
    """
    timer = threading.Timer(seconds, os._exit, (0,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
