"""`hanbeon cancel`"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from hanbeon.cli.options import (
    Database,
    Json,
    MaybeJobIds,
    QueueFilter,
    RoleFilter,
    StateFilter,
    TaskFilter,
    WorkItemFilter,
    Yes,
)

if TYPE_CHECKING:
    from hanbeon.app import App
    from hanbeon.domain.lifecycle import State


def cancel(
    ids: MaybeJobIds = None,
    database: Database = None,
    state: StateFilter = None,
    queue: QueueFilter = None,
    task: TaskFilter = None,
    role: RoleFilter = None,
    work_item: WorkItemFilter = None,
    all: Annotated[bool, typer.Option("--all", help="Every unfinished job of the database.")] = False,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Cancel jobs by id, or all unfinished ones that a filter matches.

    What waits is cancelled at once; what runs is told to stop, is `running` until it has, and `cancelled` then.
    """
    from hanbeon.cli.bulk_jobs import move_each
    from hanbeon.domain.lifecycle import UNFINISHED, State
    from hanbeon.errors import InvalidInput

    given = {"queue": queue, "task": task, "role": role, "work_item": work_item, "states": state or None}
    chosen = {name: value for name, value in given.items() if value is not None}
    if not UNFINISHED.issuperset(state or []):
        words = ", ".join(each for each in State if each in UNFINISHED)
        raise InvalidInput(f"what has ended cannot be cancelled; use {words}", field="state")
    filtered = bool(chosen)
    if ids and (filtered or all):
        raise InvalidInput("give ids or filters, not both", field="ids")
    if not (ids or filtered or all):
        raise InvalidInput(
            "give ids, or say which jobs: --queue, --task, --role, --work-item, --state, --all", field="ids"
        )
    if ids:
        move_each(database, ids, _cancel, json=json)
    else:
        _cancel_where(database, chosen, yes=yes, json=json)


async def _cancel(app: App, job_id: str) -> State:
    return await app.cancel(job_id)


def _cancel_where(database: str | None, chosen: dict[str, Any], *, yes: bool, json: bool) -> None:
    from hanbeon.cli.confirm import confirm
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.output import print_json

    if not yes:
        count = run(_count(database, chosen))
        if count:
            confirm(f"Cancel {count} job{'s' * (count != 1)}?", yes=yes)
    ids = run(_cancel_all(database, chosen))
    if json:
        print_json({"cancelled": ids})
    else:
        typer.echo(f"cancelled {len(ids)} job{'s' * (len(ids) != 1)}" if ids else "no unfinished job matches")


async def _count(database: str | None, chosen: dict[str, Any]) -> int:
    from hanbeon.cli.open_app import open_app
    from hanbeon.store.operations.cancel import CancelFilter

    async with open_app(database) as app:
        return await app.store.count_unfinished(CancelFilter(**chosen))


async def _cancel_all(database: str | None, chosen: dict[str, Any]) -> list[str]:
    from hanbeon.cli.open_app import open_app

    async with open_app(database) as app:
        return await app.cancel_where(**chosen)
