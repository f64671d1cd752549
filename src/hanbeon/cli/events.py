"""`hanbeon events`"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Annotated

import typer

from hanbeon.cli.completion import queue_names
from hanbeon.cli.options import Database, Follow, JsonLines

if TYPE_CHECKING:
    from hanbeon.app import App
    from hanbeon.domain.events import Event
    from hanbeon.surfaces.engine.schemas import EngineEvent
    from hanbeon.surfaces.installation import Installation


def events(
    database: Database = None,
    after: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Only events after this id, or INCARNATION:ID.", show_default=False),
    ] = None,
    last: Annotated[int, typer.Option(metavar="N", help="Without --after: start with the last N events.", min=0)] = 20,
    follow: Follow = False,
    queue: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Only events of this queue.", autocompletion=queue_names, show_default=False),
    ] = None,
    job: Annotated[str | None, typer.Option(metavar="ID", help="Only events of this job.", show_default=False)] = None,
    json: JsonLines = False,
) -> None:
    """Print events in commit order."""
    from hanbeon.cli.event_loop import run

    run(_print(database, after, last, follow=follow, queue=queue, job=job, json=json))


async def _print(
    database: str | None, after: str | None, last: int, *, follow: bool, queue: str | None, job: str | None, json: bool
) -> None:
    from hanbeon.cli.arguments import check_queue, whole_ids
    from hanbeon.cli.event_line import event_line
    from hanbeon.cli.installation import database_of, open_installation
    from hanbeon.cli.output import console, print_json_line
    from hanbeon.cli.queues import read_queues

    out = console()
    async with open_installation(database) as installation:
        if job is not None:
            (job,) = await whole_ids(installation, [job])
        if not follow:
            database_of(installation, "follow", "a server streams events; add --follow")
            if queue is not None:
                check_queue(queue, [each.name for each in (await read_queues(installation)).items])
        start = await _start_of_last(installation, last) if after is None else after
        async for event, took in _events(installation, start, follow=follow, exact=after is not None):
            if queue not in (None, event.queue) or job not in (None, event.job_id):
                continue
            if json:
                print_json_line(event)
            else:
                out.print(event_line(event, took))


async def _start_of_last(installation: Installation, count: int) -> int:
    from hanbeon.app import App
    from hanbeon.cli.installation import last_event
    from hanbeon.events.feed import Feed

    start = max(0, await last_event(installation) - count)
    if not isinstance(installation, App):
        return start
    # Of those that are kept: the older ones may have been deleted.
    return (await Feed(installation.store, installation.hub).position(start)).after


async def _events(
    installation: Installation, after: int | str, *, follow: bool, exact: bool
) -> AsyncIterator[tuple[EngineEvent, int | None]]:
    """Yield events with what the job waited or took, which only a database tells."""
    from hanbeon.app import App
    from hanbeon.cli.event_line import body_of

    if not isinstance(installation, App):
        async for moved in _streamed(installation, after, exact=exact):
            yield moved, None
        return
    zone = installation.settings.zone
    async for event in installation.events(after) if follow else _until_now(installation, after):
        yield body_of(event, zone), event.took


async def _streamed(installation: Installation, after: int | str, *, exact: bool) -> AsyncIterator[EngineEvent]:
    """Yield the events of a server; unless the position is exact, from those on that are kept."""
    from hanbeon.errors import EventsMissed

    while True:
        try:
            async for event in installation.engine.follow(after=after):
                exact = True
                yield event
        except EventsMissed as missed:
            if exact:
                raise
            after, exact = missed.after, True


async def _until_now(app: App, after: int | str) -> AsyncIterator[Event]:
    while page := await app.events_after(after):
        for event in page:
            after = event.id
            yield event
