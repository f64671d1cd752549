"""Changes existing queues. A mistyped name would otherwise create another queue and change that one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import typer

from hanbeon.cli.arguments import check_queue
from hanbeon.cli.event_loop import run
from hanbeon.cli.installation import database_of, open_installation
from hanbeon.cli.output import print_json
from hanbeon.cli.queues import limits_of, limits_text, read_queues
from hanbeon.domain.limits import QueueLimits
from hanbeon.quotation import plain
from hanbeon.surfaces.engine.schemas import EngineQueue

Changes = Callable[[QueueLimits], Mapping[str, Any]]
"""Returns the changes, from the limits in force."""


def change_each(database: str | None, names: Sequence[str], changes: Changes, *, create: bool, json: bool) -> None:
    """Change all of these queues or, if one does not exist, none; print the new limits of each."""
    changed = run(_change_each(database, names, changes, create))
    if json:
        print_json({"items": changed})
        return
    for each in changed:
        typer.echo(f"{plain(each.name)}: {plain(limits_text(limits_of(each), paused=each.paused)) or 'no limits'}")


async def _change_each(database: str | None, names: Sequence[str], changes: Changes, create: bool) -> list[EngineQueue]:
    async with open_installation(database) as installation:
        known = {queue.name: limits_of(queue) for queue in (await read_queues(installation)).items}
        for name in names:
            if create and name not in known:
                app = database_of(installation, "create", "a server changes existing queues only")
                limits = {field: value for field, value in changes(QueueLimits()).items() if field != "paused"}
                await app.configure_queue(name, **limits)
            elif not create:
                check_queue(name, known, "its first job creates it, or `hanbeon limit --create`")
        return [
            await installation.engine.change_queue(name, **changes(known.get(name, QueueLimits())))
            for name in dict.fromkeys(names)
        ]
