"""Changes existing queues. A mistyped name would otherwise create another queue and change that one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import typer

from hanbeon.cli.checks import check_queue
from hanbeon.cli.event_loop import run
from hanbeon.cli.json_output import limits_shape
from hanbeon.cli.output import print_json
from hanbeon.cli.queues import limits_text
from hanbeon.cli.source.source import open_source
from hanbeon.domain.limits import QueueLimits
from hanbeon.quotation import plain
from hanbeon.store.operations.queues import QueueRecord

Changes = Callable[[QueueLimits], Mapping[str, Any]]
"""Returns the limits to change, from those in force."""


def change_each(
    database: str | None,
    names: Sequence[str],
    changes: Changes,
    *,
    paused: bool | None = None,
    create: bool,
    json: bool,
) -> None:
    """Change all of these queues or, if one does not exist, none; print the new limits of each."""
    changed = run(_change_each(database, names, changes, paused, create))
    if json:
        print_json({"queues": [limits_shape(each) for each in changed]})
        return
    for each in changed:
        typer.echo(f"{plain(each.name)}: {plain(limits_text(each.limits, paused=each.paused)) or 'no limits'}")


async def _change_each(
    database: str | None, names: Sequence[str], changes: Changes, paused: bool | None, create: bool
) -> list[QueueRecord]:
    async with open_source(database) as source:
        known = {queue.name: queue.limits for queue in await source.queues()}
        for name in names:
            if not create:
                check_queue(name, known, "; its first job creates it, or `hanbeon limit --create`")
        return [
            await source.change_queue(name, changes(known.get(name, QueueLimits())), paused=paused, create=create)
            for name in dict.fromkeys(names)
        ]
