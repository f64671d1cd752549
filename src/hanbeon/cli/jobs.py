"""`hanbeon jobs`"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from hanbeon.cli.options import Database, Json, Limit, QueueFilter, RoleFilter, StateFilter, TaskFilter, WorkItemFilter

if TYPE_CHECKING:
    import datetime as dt

    from hanbeon.domain.job import JobRecord


def jobs(
    database: Database = None,
    state: StateFilter = None,
    queue: QueueFilter = None,
    task: TaskFilter = None,
    role: RoleFilter = None,
    work_item: WorkItemFilter = None,
    oldest: Annotated[
        bool, typer.Option("--oldest", help="List the oldest first, in the order of their creation.")
    ] = False,
    after: Annotated[
        int, typer.Option(metavar="SEQ", help="Resume after the job with this seq, the last one of the previous page.")
    ] = 0,
    limit: Limit = 50,
    json: Json = False,
) -> None:
    """List jobs, newest first. If there is a next page, a line on stderr shows how to get it."""
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.json_output import job_shape
    from hanbeon.cli.output import print_json, print_next_page, print_table

    filters = {"states": state, "queue": queue, "task": task, "role": role, "work_item": work_item}
    found, more, zone = run(_page(database, {"newest": not oldest, "after": after, "limit": limit, **filters}))
    if json:
        print_json({"jobs": [job_shape(job, zone) for job in found], "after": found[-1].seq if more else None})
        return
    rows = [_row(job, zone) for job in found]
    headings = ("seq", "id", "state", "queue", "task", "role", "try", "created", "note")
    print_table(headings, rows, right=("seq", "try"), empty="no matching jobs")
    print_next_page("--after", str(found[-1].seq) if more else None)


async def _page(database: str | None, query: dict[str, Any]) -> tuple[list[JobRecord], bool, dt.tzinfo]:
    """Return a page, whether there is a next one, and the zone to show it in."""
    from hanbeon.cli.checks import check_queue
    from hanbeon.cli.source.source import open_source

    async with open_source(database) as source:
        found, more = await source.jobs(**query)
        if not found and query["queue"] is not None:
            check_queue(query["queue"], [queue.name for queue in await source.queues()])
        return found, more, source.zone


def _row(job: JobRecord, zone: dt.tzinfo) -> list[Any]:
    from hanbeon.cli.formats import clock_time, progress_text
    from hanbeon.cli.output import state_cell
    from hanbeon.domain.lifecycle import State

    note = "" if job.state is State.SUCCEEDED else progress_text(job)
    if job.failure_type:
        note = f"{job.failure_type}: {job.error_message}"
    tries = str(job.fence) if job.fence else ""
    created = clock_time(job.created_at, zone)
    return [str(job.seq), job.id, state_cell(job.state), job.queue, job.task, job.role, tries, created, note]
