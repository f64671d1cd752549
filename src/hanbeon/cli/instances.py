"""`hanbeon instances`"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hanbeon.cli.options import Database, Json

if TYPE_CHECKING:
    from hanbeon.surfaces.engine.schemas import EngineInstance


def instances(
    database: Database = None,
    alive: Annotated[
        bool, typer.Option("--alive", help="Only instances whose last heartbeat is within a lease.")
    ] = False,
    json: Json = False,
) -> None:
    """Show the instances that work, or lately worked, on the database: host, process, load, tasks."""
    from hanbeon.cli.command_words import command_here
    from hanbeon.cli.installation import ask
    from hanbeon.cli.output import print_json, print_table, to_seconds

    found = ask(database, lambda installation: installation.engine.instances()).items
    found = [each for each in found if each.alive or not alive]
    if json:
        print_json({"items": found})
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
                to_seconds(each.started_at),
                to_seconds(each.seen_at),
                ", ".join(each.tasks),
            )
            for each in found
        ],
        right=("id", "pid", "slots"),
        empty=f"no matching instances; `{command_here('worker', server=False)}` starts one",
    )


def _life(instance: EngineInstance) -> str:
    if instance.alive:
        return "alive"
    return "silent" if instance.stopped_at is None else "stopped"
