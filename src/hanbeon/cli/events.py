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
    from hanbeon.cli.checks import check_ids, check_queue
    from hanbeon.cli.event_line import event_line
    from hanbeon.cli.json_output import event_shape
    from hanbeon.cli.open_app import open_app
    from hanbeon.cli.output import console, print_json_line

    check_ids([] if job is None else [job])
    out = console()
    async with open_app(database) as app:
        if queue is not None and not follow:
            check_queue(queue, [each.name for each in await app.queues()])
        start: int | str = await _start_of_last(app, last) if after is None else after
        async for event in app.events(start) if follow else _until_now(app, start):
            if queue not in (None, event.queue) or job not in (None, event.job_id):
                continue
            if json:
                print_json_line(event_shape(event, app.settings.zone))
            else:
                out.print(event_line(event, app.settings.zone))


async def _start_of_last(app: App, count: int) -> int:
    from hanbeon.events.feed import Feed
    from hanbeon.store.operations.events import last_event_id

    while await app.store.number_events():
        pass
    # Of those that are kept: the older ones may have been deleted.
    return (await Feed(app.store, app.hub).place(max(0, await app.store.read(last_event_id) - count))).after


async def _until_now(app: App, after: int | str) -> AsyncIterator[Event]:
    while page := await app.events_after(after):
        for event in page:
            after = event.id
            yield event
