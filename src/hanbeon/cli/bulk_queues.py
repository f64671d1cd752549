"""Changes existing queues. A mistyped name would otherwise create another queue and change that one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import typer

from hanbeon.app import App
from hanbeon.cli.checks import check_queue
from hanbeon.cli.event_loop import run
from hanbeon.cli.json_output import limits_shape
from hanbeon.cli.open_app import open_app
from hanbeon.cli.output import print_json
from hanbeon.cli.queues import limits_text
from hanbeon.domain.limits import QueueLimits
from hanbeon.quotation import plain
from hanbeon.store.operations.queues import QueueRecord

Change = Callable[[App, str, QueueLimits], Awaitable[QueueRecord]]


def change_each(database: str | None, names: Sequence[str], change: Change, *, create: bool, json: bool) -> None:
    """Change all of these queues or, if one does not exist, none; print the new limits of each."""
    changed = run(_change_each(database, names, change, create))
    if json:
        print_json({"queues": [limits_shape(each) for each in changed]})
        return
    for each in changed:
        typer.echo(f"{plain(each.name)}: {plain(limits_text(each.limits, paused=each.paused)) or 'no limits'}")


async def _change_each(database: str | None, names: Sequence[str], change: Change, create: bool) -> list[QueueRecord]:
    async with open_app(database) as app:
        known = {queue.name: queue.limits for queue in await app.queues()}
        for name in names:
            if not create:
                check_queue(name, known, "; its first job creates it, or `hanbeon limit --create`")
        return [await change(app, name, known.get(name, QueueLimits())) for name in dict.fromkeys(names)]
