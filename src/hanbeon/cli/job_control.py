"""Commands that change jobs: `hanbeon cancel`, `retry`, `mark-done` and `priority`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from hanbeon.cli.options import (
    Database,
    JobIds,
    Json,
    MaybeJobIds,
    QueueFilter,
    RoleFilter,
    StateFilter,
    TaskFilter,
    WorkItemFilter,
    Yes,
)
from hanbeon.rule import Rule

if TYPE_CHECKING:
    from hanbeon.domain.lifecycle import State
    from hanbeon.surfaces.installation import Installation


def retry(
    ids: JobIds,
    comment: Annotated[
        str | None, typer.Option("--comment", "-c", metavar="TEXT", help="A comment for their next attempts.")
    ] = None,
    args: Annotated[
        str | None, typer.Option(metavar="JSON", help='All arguments of their next attempts, such as {"path": "a"}.')
    ] = None,
    database: Database = None,
    json: Json = False,
) -> None:
    """Retry failed or cancelled jobs, with their full number of retries."""
    from hanbeon.cli.arguments import json_of
    from hanbeon.cli.bulk_jobs import for_each_job

    given = {"comment": comment, "args": None if args is None else json_of("args", args)}
    fields: Any = {name: value for name, value in given.items() if value is not None}

    async def again(installation: Installation, job_id: str) -> State:
        return (await installation.engine.retry(job_id, **fields)).state

    for_each_job(database, ids, again, json=json)


def mark_done(
    ids: JobIds,
    comment: Annotated[
        str, typer.Option("--comment", "-c", metavar="TEXT", help="Why they are done all the same.", show_default=False)
    ],
    result: Annotated[
        str | None, typer.Option(metavar="JSON", help="The result that their dependents and readers find.")
    ] = None,
    database: Database = None,
    json: Json = False,
) -> None:
    """Mark failed or cancelled jobs as done, and say why; their dependents go on."""
    from hanbeon.cli.arguments import json_of
    from hanbeon.cli.bulk_jobs import for_each_job

    fields: Any = {"comment": comment} | ({} if result is None else {"result": json_of("result", result)})

    async def mark(installation: Installation, job_id: str) -> State:
        return (await installation.engine.mark_done(job_id, **fields)).state

    for_each_job(database, ids, mark, json=json)


def priority(
    ids: JobIds,
    database: Database = None,
    to: Annotated[
        int | None, typer.Option("--to", metavar="N", help="The new priority; lower runs first.", show_default=False)
    ] = None,
    urgent: Annotated[
        bool | None,
        typer.Option("--urgent/--not-urgent", help="Run before all jobs that are not urgent.", show_default=False),
    ] = None,
    json: Json = False,
) -> None:
    """Change the priority or urgency of unfinished jobs."""
    from hanbeon.cli.bulk_jobs import for_each_job
    from hanbeon.errors import InvalidInput

    if to is None and urgent is None:
        raise InvalidInput(Rule("no_priority_given"), field="priority")

    given: dict[str, Any] = {"priority": to, "urgent": urgent}
    changes: Any = {name: value for name, value in given.items() if value is not None}

    async def reprioritise(installation: Installation, job_id: str) -> State:
        return (await installation.engine.reprioritise(job_id, **changes)).state

    for_each_job(database, ids, reprioritise, json=json)


_NO_WORK_ITEMS = "a server has no such filter"


def cancel(
    ids: MaybeJobIds = None,
    database: Database = None,
    state: StateFilter = None,
    queue: QueueFilter = None,
    task: TaskFilter = None,
    role: RoleFilter = None,
    work_item: WorkItemFilter = None,
    all: Annotated[bool, typer.Option("--all", help="Cancel every unfinished job of the database.")] = False,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Cancel jobs by id, or all unfinished jobs that match a filter.

    Waiting jobs are cancelled at once. A running job is asked to stop: it stays `running` until it has stopped, and is
    `cancelled` then.
    """
    from hanbeon.cli.bulk_jobs import for_each_job
    from hanbeon.domain.lifecycle import UNFINISHED, State
    from hanbeon.errors import InvalidInput

    given = {"queue": queue, "task": task, "role": role, "work_item": work_item, "states": state or None}
    filters = {name: value for name, value in given.items() if value is not None}
    if not UNFINISHED.issuperset(state or []):
        choices = ", ".join(each for each in State if each in UNFINISHED)
        raise InvalidInput(Rule("states_to_cancel", choices=choices), field="state")
    if ids and (filters or all):
        raise InvalidInput(Rule("ids_or_filters"), field="ids")
    if not (ids or filters or all):
        raise InvalidInput(Rule("choose_jobs"), field="ids")
    if ids:
        for_each_job(database, ids, _cancel, json=json)
    else:
        _cancel_where(database, filters, yes=yes, json=json)


async def _cancel(installation: Installation, job_id: str) -> State:
    return (await installation.engine.cancel(job_id)).job.state


def _cancel_where(database: str | None, filters: dict[str, Any], *, yes: bool, json: bool) -> None:
    from hanbeon.cli.confirm import confirm
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.output import print_json

    if not yes:
        count, exact = run(_count(database, filters))
        if count:
            confirm(f"Cancel {'' if exact else 'at least '}{count} job{'s' * (count != 1)}?", yes=yes)
    ids = run(_cancel_all(database, filters))
    if json:
        print_json({"cancelled": ids})
    else:
        typer.echo(f"cancelled {len(ids)} job{'s' * (len(ids) != 1)}" if ids else "no unfinished job matches")


async def _count(database: str | None, filters: dict[str, Any]) -> tuple[int, bool]:
    """Return how many jobs match, and False if there are more."""
    from hanbeon.cli.installation import database_of, open_installation
    from hanbeon.store.batch_cancel import count_unfinished
    from hanbeon.store.operations.cancel import CancelFilter

    async with open_installation(database) as installation:
        if "work_item" in filters:
            app = database_of(installation, "work-item", _NO_WORK_ITEMS)
            return await count_unfinished(app.store, CancelFilter(**filters)), True
        found = await installation.engine.bulk(action="cancel", filter=_filter(filters), dry_run=True)
        return found.matched, not found.more


async def _cancel_all(database: str | None, filters: dict[str, Any]) -> list[str]:
    from hanbeon.cli.arguments import check_queue
    from hanbeon.cli.installation import database_of, open_installation
    from hanbeon.cli.queues import read_queues

    cancelled: list[str] = []
    async with open_installation(database) as installation:
        if "work_item" in filters:
            return await database_of(installation, "work-item", _NO_WORK_ITEMS).cancel_where(**filters)
        while True:
            done = await installation.engine.bulk(action="cancel", filter=_filter(filters))
            cancelled += done.ids
            if not (done.more and done.done):
                break
        if not cancelled and "queue" in filters:
            check_queue(filters["queue"], [queue.name for queue in (await read_queues(installation)).items])
        return cancelled


def _filter(filters: dict[str, Any]) -> dict[str, Any]:
    return {"state" if name == "states" else name: value for name, value in filters.items()}
