"""`hanbeon jobs`"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from hanbeon.cli.options import Database, Json, Limit, QueueFilter, RoleFilter, StateFilter, TaskFilter, WorkItemFilter

if TYPE_CHECKING:
    from hanbeon.app import App
    from hanbeon.surfaces.engine.schemas import EngineJob, EngineJobPage
    from hanbeon.surfaces.installation import Installation

_LIMIT_MOST = 10_000


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
    from hanbeon.cli.output import print_json, print_next_page, print_table

    filters = {"state": state, "queue": queue, "task": task, "role": role}
    found = run(_page(database, filters, work_item, oldest=oldest, after=after, limit=limit))
    if json:
        print_json(found)
        return
    headings = ("seq", "id", "state", "queue", "task", "role", "try", "created", "note")
    print_table(headings, [_row(job) for job in found.items], right=("seq", "try"), empty="no matching jobs")
    print_next_page("--after", found.next_cursor)


async def _page(
    database: str | None, filters: dict[str, Any], work_item: str | None, *, oldest: bool, after: int, limit: int
) -> EngineJobPage:
    from hanbeon.cli.arguments import check_queue
    from hanbeon.cli.installation import database_of, open_installation
    from hanbeon.cli.queues import read_queues
    from hanbeon.domain.job import check_whole

    check_whole("after", after, 0)
    check_whole("limit", limit, 1, _LIMIT_MOST)
    async with open_installation(database) as installation:
        if oldest or work_item is not None:
            option = "oldest" if oldest else "work-item"
            app = database_of(installation, option, "a server lists the newest first, without that filter")
            found = await _in_order(app, filters, work_item, newest=not oldest, after=after, limit=limit)
        else:
            found = await _newest(installation, filters, after, limit)
        if not found.items and filters["queue"] is not None:
            check_queue(filters["queue"], [queue.name for queue in (await read_queues(installation)).items])
        return found


async def _newest(installation: Installation, filters: dict[str, Any], after: int, limit: int) -> EngineJobPage:
    from hanbeon.domain.bounds import PAGE_ROWS
    from hanbeon.surfaces.engine.schemas import EngineJobPage

    items: list[EngineJob] = []
    cursor = str(after) if after else None
    while True:
        rows = min(limit - len(items), PAGE_ROWS)
        page = await installation.engine.jobs(cursor=cursor, limit=rows, **filters)
        items, cursor = [*items, *page.items], page.next_cursor
        if cursor is None or len(items) >= limit:
            break
    if cursor is not None and not (await installation.engine.jobs(cursor=cursor, limit=1, **filters)).items:
        cursor = None
    return EngineJobPage(items=items, next_cursor=cursor)


async def _in_order(
    app: App, filters: dict[str, Any], work_item: str | None, *, newest: bool, after: int, limit: int
) -> EngineJobPage:
    """List jobs in an order or by a filter that the search of a server has not."""
    from hanbeon.surfaces.engine.schemas import EngineJobPage

    given = {"states" if name == "state" else name: value for name, value in filters.items()}
    query = {**given, "work_item": work_item, "newest": newest}
    found = await app.jobs(after=after, limit=limit, **query)
    more = len(found) == limit and await app.jobs(after=found[-1].seq, limit=1, **query)
    return EngineJobPage(items=app.engine.shown(found), next_cursor=str(found[-1].seq) if more else None)


def _row(job: EngineJob) -> list[Any]:
    from hanbeon.cli.output import progress_text, state_cell, to_seconds
    from hanbeon.domain.lifecycle import State

    note = "" if job.state is State.SUCCEEDED else progress_text(job.progress)
    if job.failure_type:
        note = f"{job.failure_type}: {job.error_message}"
    tries = str(job.attempt) if job.attempt else ""
    created = to_seconds(job.created_at)
    return [str(job.seq), job.id, state_cell(job.state), job.queue, job.task, job.role or "", tries, created, note]
