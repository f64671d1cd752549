"""Commands on what an office contains: stats, simulate, jobs, add, events, process, cancel-all, test-webhook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from hanbeon.cli.options import AppName, Cursor, Database, Follow, Json, JsonLines, Limit, Yes
from hanbeon.quotation import quoted
from hanbeon.rule import Rule
from hanbeon.surfaces.offices.command_options import Item, Office, Role, Statuses

if TYPE_CHECKING:
    from hanbeon.surfaces.offices import schemas


def stats(office: Office, database: Database = None, json: Json = False) -> None:
    """Show the exact number of jobs by status, and the average duration of done jobs in milliseconds."""
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.output import print_facts, print_json
    from hanbeon.surfaces.offices.command_lookup import find, offices_of
    from hanbeon.surfaces.offices.command_output import stats_facts

    async def work() -> schemas.JobQueueStats:
        async with offices_of(database) as offices:
            return await offices.stats((await find(offices, office)).id)

    found = run(work())
    if json:
        print_json(found)
    else:
        print_facts(stats_facts(found))


def simulate(
    office: Office,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="A limit to try: maxConcurrentJobs=5, maxConcurrentByRole.FE=2 (null: no limit); may be repeated.",
            show_default=False,
        ),
    ] = None,
    assume: Annotated[
        float, typer.Option(metavar="SECONDS", help="How long a job runs if its task was never measured.")
    ] = 60,
    database: Database = None,
    json: Json = False,
) -> None:
    """Estimate how long the unfinished jobs of an office take, and which slot to add.

    A job is taken to run as long as the latest of its task and role did. Nothing is changed.
    """
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.output import print_facts, print_json, print_table
    from hanbeon.surfaces.offices.command_lookup import find, offices_of
    from hanbeon.surfaces.offices.command_options import settings_of
    from hanbeon.surfaces.offices.command_output import path_row, simulation_facts

    limits = settings_of(set_ or [])

    async def work() -> schemas.Simulation:
        async with offices_of(database) as offices:
            found = await find(offices, office)
            return await offices.simulate(found.id, assumed_ms=round(assume * 1_000), **limits)

    found = run(work())
    if json:
        print_json(found)
        return
    print_facts(simulation_facts(found))
    if found.critical_path:
        headings = ("start", "end", "waited for", "role", "critical path")
        print_table(headings, [path_row(each) for each in found.critical_path], right=("start", "end"))


def jobs(
    office: Office,
    database: Database = None,
    status: Statuses = None,
    role: Role = None,
    task_id: Item = None,
    cursor: Cursor = None,
    limit: Limit = 50,
    json: Json = False,
) -> None:
    """List the jobs of an office in the order of their creation."""
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.output import print_json, print_next_page, print_table
    from hanbeon.surfaces.offices.command_lookup import find, offices_of
    from hanbeon.surfaces.offices.command_output import job_row

    async def work() -> schemas.JobPage:
        async with offices_of(database) as offices:
            found = await find(offices, office)
            return await offices.jobs(
                found.id, status=status or None, role=role, task_id=task_id, cursor=cursor, limit=limit
            )

    page = run(work())
    if json:
        print_json(page)
        return
    headings = ("id", "status", "role", "task_id", "retries", "created", "title")
    print_table(headings, [job_row(each) for each in page.items], right=("retries",), empty="no matching jobs")
    print_next_page("--cursor", page.next_cursor)


def add(
    office: Office,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help='A JSON file with {"jobs": […]} or a list of jobs, or - for stdin.', show_default=False
        ),
    ],
    app: AppName = None,
    database: Database = None,
    json: Json = False,
) -> None:
    """Create a batch of jobs in an office, all or none, and print their ids in the order of the file."""
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.output import print_json
    from hanbeon.surfaces.offices.command_lookup import find, offices_with_tasks

    batch = _read_batch(file)

    async def work() -> list[schemas.Job]:
        async with offices_with_tasks(app, database, create_file=False) as offices:
            found = await find(offices, office)
            return (await offices.create_jobs(found.id, jobs=batch)).jobs

    created = run(work())
    if json:
        print_json({"jobs": created})
        return
    for job in created:
        typer.echo(job.id)


def events(
    office: Office,
    database: Database = None,
    after: Annotated[str, typer.Option(metavar="ID", help="Only events after this id, or INCARNATION:ID.")] = "0",
    follow: Follow = False,
    json: JsonLines = False,
) -> None:
    """Print the events of an office in commit order."""
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.installation import database_of, open_installation
    from hanbeon.cli.output import console, print_json_line
    from hanbeon.errors import EventsMissed
    from hanbeon.surfaces.offices.command_lookup import find
    from hanbeon.surfaces.offices.command_output import event_line

    out = console()

    def print_event(event: schemas.SchedulerEvent) -> None:
        if json:
            print_json_line(event)
        else:
            out.print(event_line(event))

    async def work() -> None:
        async with open_installation(database) as installation:
            if not follow:
                database_of(installation, "follow", "a server streams events; add --follow")
            offices = installation.offices
            found, last = await find(offices, office), after
            if follow:
                async for event in offices.follow(found.id, after=last):
                    print_event(event)
            while (page := await offices.events(found.id, after=last)).items or page.more or page.gap:
                if page.gap is not None:
                    raise EventsMissed(page.gap.value, page.after)
                last = str(page.after)
                for event in page.items:
                    print_event(event)

    run(work())


def process(office: Office, database: Database = None, json: Json = False) -> None:
    """Make due jobs of an office ready now, and wake all workers."""
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.output import print_json
    from hanbeon.surfaces.offices.command_lookup import find, offices_of

    async def work() -> schemas.Processed:
        async with offices_of(database) as offices:
            return await offices.process((await find(offices, office)).id)

    done = run(work())
    if json:
        print_json(done)
    else:
        typer.echo(f"{done.activated} became ready; {done.available_slots} slots are free; workers were woken")


def cancel_all(
    office: Office,
    database: Database = None,
    status: Statuses = None,
    role: Role = None,
    task_id: Item = None,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Cancel every unfinished job of an office that matches the filters; without a filter, all of them.

    Waiting jobs are cancelled at once. Running jobs are asked to stop and are cancelled when they have stopped.
    """
    from hanbeon.cli.confirm import confirm
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.output import print_json
    from hanbeon.surfaces.offices.command_lookup import find_office, offices_of

    given = {"statuses": status or None, "role": role, "task_id": task_id}
    filters: dict[str, Any] = {name: value for name, value in given.items() if value is not None}

    async def work(office_id: str) -> list[str]:
        ids: list[str] = []
        async with offices_of(database) as offices:
            while True:
                done = await offices.cancel_all(office_id, **filters)
                ids += done.cancelled
                if not done.more:
                    return ids

    found = run(find_office(database, office))
    which = "every unfinished job that matches" if filters else "every unfinished job"
    confirm(f"Cancel {which} in office {quoted(found.name)}?", yes=yes)
    ids = run(work(found.id))
    if json:
        print_json({"cancelled": ids})
    else:
        typer.echo(f"cancelled {len(ids)} job{'s' * (len(ids) != 1)}" if ids else "no unfinished job matches")


def send_test(
    office: Office,
    webhook: Annotated[str, typer.Argument(metavar="WEBHOOK", help="The webhook's id or URL.", show_default=False)],
    database: Database = None,
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait until a worker has sent it, and report the outcome.")
    ] = False,
    json: Json = False,
) -> None:
    """Send one signed test message to a webhook, even a disabled one.

    A worker sends it. The outcome does not change the webhook's state.
    """
    from hanbeon.cli.command_words import command_here
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.installation import open_installation
    from hanbeon.cli.job_follower import QUIET, follow, raise_unless_succeeded
    from hanbeon.cli.output import print_json
    from hanbeon.surfaces.offices.command_lookup import find, find_webhook

    async def work() -> tuple[schemas.Webhook, schemas.Delivery]:
        async with open_installation(database) as installation:
            offices = installation.offices
            found = await find(offices, office)
            hook = find_webhook(found, webhook)
            sent = await offices.test_webhook(found.id, hook.id)
            if wait:
                if not any(each.alive for each in (await installation.engine.instances()).items):
                    command = command_here("worker", server=False)
                    typer.echo(f"no worker is alive; start one to send the message: {command}", err=True)
                job = await follow(installation, sent.id, QUIET)
                sent = await offices.delivery(found.id, hook.id, sent.id)
                if json:
                    print_json(sent)
                raise_unless_succeeded(job)
            return hook, sent

    hook, sent = run(work())
    if not json:
        typer.echo(f"{hook.url} accepted the message" if wait else sent.id)
    elif not wait:
        print_json(sent)


def _read_batch(file: str) -> list[schemas.JobSpec]:
    import sys
    from pathlib import Path

    import msgspec

    from hanbeon.errors import InvalidInput, NotFound
    from hanbeon.surfaces.offices.schemas import JobBatch
    from hanbeon.surfaces.validation import convert

    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
        found = msgspec.json.decode(text)
    except OSError as error:
        raise NotFound(Rule("jobs_file_unreadable", file=file, error=error.strerror)) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidInput(Rule("not_jobs_json", got=file, error=error), field="jobs") from error
    return convert(JobBatch, {"jobs": found} if isinstance(found, list) else found).jobs
