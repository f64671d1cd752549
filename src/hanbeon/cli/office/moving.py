"""The commands that move what is there: process, cancel-all, delete."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from hanbeon.cli.office.options import Item, Office, Role, Statuses
from hanbeon.cli.options import Database, Json, Yes

if TYPE_CHECKING:
    from hanbeon.surfaces.offices import schemas


def process(office: Office, database: Database = None, json: Json = False) -> None:
    """Make due jobs of an office ready now, and wake all workers."""
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.office.opening import find, offices_of
    from hanbeon.cli.output import print_json

    async def work() -> schemas.Processed:
        async with offices_of(database) as offices:
            return await offices.process((await find(offices, office)).id)

    done = run(work())
    if json:
        print_json(done)
    else:
        typer.echo(f"{done.activated} became ready; {done.available_slots} slots are free; workers are woken")


def cancel_all(
    office: Office,
    database: Database = None,
    status: Statuses = None,
    role: Role = None,
    task_id: Item = None,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Cancel every unfinished job of an office that matches; without a filter, all.

    What waits is cancelled at once; what runs is told to stop, and is cancelled when it has.
    """
    from hanbeon.cli.confirm import confirm
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.office.opening import find, offices_of
    from hanbeon.cli.output import print_json

    given = {"statuses": status or None, "role": role, "task_id": task_id}
    chosen: dict[str, Any] = {name: value for name, value in given.items() if value is not None}

    async def look() -> schemas.Office:
        async with offices_of(database) as offices:
            return await find(offices, office)

    async def work(office_id: str) -> schemas.CancelledAll:
        async with offices_of(database) as offices:
            return await offices.cancel_all(office_id, chosen)

    found = run(look())
    which = "every unfinished job that matches" if chosen else "every unfinished job"
    confirm(f"Cancel {which} in office {found.name!r}?", yes=yes)
    ids = run(work(found.id)).cancelled
    if json:
        print_json({"cancelled": ids})
    else:
        typer.echo(f"cancelled {len(ids)} job{'s' * (len(ids) != 1)}" if ids else "no unfinished job matches")


def delete(
    office: Office,
    database: Database = None,
    cancel: Annotated[
        bool, typer.Option("--cancel", help="Cancel what is unfinished first; refused otherwise.")
    ] = False,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Delete an office. Its finished jobs stay until their retention is over, but not within reach of an office."""
    from hanbeon.cli.confirm import confirm
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.office.opening import find, offices_of
    from hanbeon.cli.output import print_json

    async def look() -> schemas.Office:
        async with offices_of(database) as offices:
            return await find(offices, office)

    async def work(office_id: str) -> None:
        async with offices_of(database) as offices:
            await offices.delete(office_id, cancel=cancel)

    found = run(look())
    confirm(f"Delete office {found.name!r}?", yes=yes)
    run(work(found.id))
    if json:
        print_json({"deleted": found.id})
    else:
        typer.echo(f"office {found.id} is deleted")
