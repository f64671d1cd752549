"""`hanbeon instances`"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hanbeon.cli.options import Database, Json

if TYPE_CHECKING:
    import datetime as dt

    from hanbeon.store.operations.instances import InstanceRecord


def instances(
    database: Database = None,
    alive: Annotated[
        bool, typer.Option("--alive", help="Only instances whose last heartbeat is within a lease.")
    ] = False,
    json: Json = False,
) -> None:
    """Show the instances that work, or lately worked, on the database: host, process, load, tasks."""
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.formats import clock_time
    from hanbeon.cli.json_output import instance_shape
    from hanbeon.cli.output import print_json, print_table

    found, zone = run(_read(database))
    found = [each for each in found if each.alive or not alive]
    if json:
        print_json({"instances": [instance_shape(each, zone) for each in found]})
        return
    print_table(
        ("id", "name", "host", "pid", "version", "life", "slots", "started", "seen", "tasks"),
        [
            (
                str(each.id),
                each.name,
                each.host,
                str(each.pid),
                each.version,
                _life(each),
                f"{each.running}/{each.capacity}",
                clock_time(each.started_at, zone),
                clock_time(each.seen_at, zone),
                ", ".join(each.tasks),
            )
            for each in found
        ],
        right=("id", "pid", "slots"),
        empty="no matching instances; `hanbeon worker` starts one",
    )


async def _read(database: str | None) -> tuple[list[InstanceRecord], dt.tzinfo]:
    from hanbeon.cli.source.source import open_source

    async with open_source(database) as source:
        return await source.instances(), source.zone


def _life(instance: InstanceRecord) -> str:
    if instance.alive:
        return "alive"
    return "silent" if instance.stopped_at is None else "stopped"
