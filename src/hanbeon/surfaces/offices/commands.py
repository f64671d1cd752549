"""`hanbeon office`: the group, and the commands on offices themselves: list, create, show, change, config, delete."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from hanbeon.cli.groups import group
from hanbeon.cli.options import AppName, Cursor, Database, Json, Limit, Yes
from hanbeon.quotation import quoted
from hanbeon.rule import Rule
from hanbeon.surfaces.offices import job_commands as jobs
from hanbeon.surfaces.offices.command_options import Office, pair, settings_of

if TYPE_CHECKING:
    from hanbeon.surfaces.offices import schemas


def list_(database: Database = None, cursor: Cursor = None, limit: Limit = 100, json: Json = False) -> None:
    """List offices, one page at a time."""
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.output import print_json, print_next_page, print_table
    from hanbeon.surfaces.offices.command_lookup import offices_of
    from hanbeon.surfaces.offices.command_output import pairs_text

    async def work() -> schemas.OfficePage:
        async with offices_of(database) as offices:
            return await offices.list(cursor=cursor, limit=limit)

    page = run(work())
    if json:
        print_json(page)
        return
    rows = [(each.id, each.created_at, pairs_text(each.sessions), each.name) for each in page.items]
    print_table(("id", "created", "sessions", "name"), rows, empty="no offices")
    print_next_page("--cursor", page.next_cursor)


def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The office's name.", show_default=False)],
    session: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ROLE=TASK",
            help="The task that runs jobs of this role, or default=TASK; may be repeated.",
            show_default=False,
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A config setting; may be repeated.", show_default=False),
    ] = None,
    notify: Annotated[
        list[str] | None,
        typer.Option(
            metavar="URL", help="Notify this URL when a job fails permanently; may be repeated.", show_default=False
        ),
    ] = None,
    app: AppName = None,
    database: Database = None,
    json: Json = False,
) -> None:
    """Create an office and print its id.

    Its sessions name tasks of --app or hanbeon.toml, or tasks that a live worker has registered. --set takes the same
    settings as `config set`.
    """
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.output import print_json
    from hanbeon.surfaces.offices.command_lookup import offices_with_tasks

    body: dict[str, Any] = {"name": name}
    if session:
        body["sessions"] = dict(pair(each, "session") for each in session)
    if set_:
        body["config"] = settings_of(set_)
    if notify:
        body["notifications"] = notify

    async def work() -> schemas.Office:
        async with offices_with_tasks(app, database, create_file=True) as offices:
            return await offices.create(**body)

    created = run(work())
    if json:
        print_json(created)
    else:
        typer.echo(created.id)


def show(office: Office, database: Database = None, json: Json = False) -> None:
    """Show an office: its config, sessions, notifications, webhooks and job counts."""
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.output import print_facts, print_json
    from hanbeon.surfaces.offices.command_lookup import find, offices_of
    from hanbeon.surfaces.offices.command_output import office_facts

    async def work() -> tuple[schemas.Office, schemas.JobQueueStats]:
        async with offices_of(database) as offices:
            found = await find(offices, office)
            return found, await offices.stats(found.id)

    found, stats = run(work())
    if json:
        print_json(found)
    else:
        print_facts(office_facts(found, stats))


def change(
    office: Office,
    name: Annotated[str | None, typer.Option(metavar="NAME", help="The new name.", show_default=False)] = None,
    session: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ROLE=TASK",
            help="The task that runs jobs of this role; ROLE= removes it; may be repeated.",
            show_default=False,
        ),
    ] = None,
    notify: Annotated[
        list[str] | None,
        typer.Option(
            metavar="URL", help="Replace all notification URLs with this one; may be repeated.", show_default=False
        ),
    ] = None,
    app: AppName = None,
    database: Database = None,
    json: Json = False,
) -> None:
    """Change an office's name, sessions or notifications.

    Sessions that are not named stay. Jobs that wait without a handler get the one that the new sessions assign.
    """
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.output import print_json
    from hanbeon.errors import InvalidInput
    from hanbeon.surfaces.offices.command_lookup import find, offices_with_tasks

    body: dict[str, Any] = {} if name is None else {"name": name}
    if session:
        body["sessions"] = {role: task or None for role, task in (pair(each, "session") for each in session)}
    if notify:
        body["notifications"] = notify
    if not body:
        raise InvalidInput(Rule("no_office_change"))

    async def work() -> schemas.Office:
        async with offices_with_tasks(app, database, create_file=False) as offices:
            return await offices.change((await find(offices, office)).id, **body)

    changed = run(work())
    if json:
        print_json(changed)
    else:
        typer.echo(f"office {changed.id} is at version {changed.version}")


def show_config(office: Office, database: Database = None, json: Json = False) -> None:
    """Show how an office runs its jobs. Times are in milliseconds."""
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.output import print_facts, print_json
    from hanbeon.surfaces.offices.command_lookup import find, offices_of
    from hanbeon.surfaces.offices.command_output import config_facts

    async def work() -> schemas.Office:
        async with offices_of(database) as offices:
            return await find(offices, office)

    config = run(work()).config
    if json:
        print_json(config)
    else:
        print_facts(config_facts(config))


def set_config(
    office: Office,
    settings: Annotated[
        list[str],
        typer.Argument(
            metavar="KEY=VALUE",
            help="maxConcurrentJobs=5, maxConcurrentByRole.FE=2 (null: no limit), retryBackoff=linear, …",
            show_default=False,
        ),
    ],
    database: Database = None,
    json: Json = False,
) -> None:
    """Change an office's config; settings that are not named stay. Takes effect at every worker's next claim."""
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.output import print_facts, print_json
    from hanbeon.surfaces.offices.command_lookup import find, offices_of
    from hanbeon.surfaces.offices.command_output import config_facts

    changes = settings_of(settings)

    async def work() -> schemas.VersionedConfig:
        async with offices_of(database) as offices:
            return await offices.change_config((await find(offices, office)).id, **changes)

    changed = run(work()).config
    if json:
        print_json(changed)
    else:
        print_facts(config_facts(changed))


def delete(
    office: Office,
    database: Database = None,
    cancel: Annotated[
        bool, typer.Option("--cancel", help="Cancel unfinished jobs first; without it, they prevent the deletion.")
    ] = False,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Delete an office. Its finished jobs are kept for their retention, but belong to no office any more."""
    from hanbeon.cli.confirm import confirm
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.output import print_json
    from hanbeon.surfaces.offices.command_lookup import find_office, offices_of

    async def work(office_id: str) -> None:
        async with offices_of(database) as offices:
            await offices.delete(office_id, cancel=cancel)

    found = run(find_office(database, office))
    confirm(f"Delete office {quoted(found.name)}?", yes=yes)
    run(work(found.id))
    if json:
        print_json({"deleted": found.id})
    else:
        typer.echo(f"office {found.id} is deleted")


office = group("Manage offices: their jobs, config, statistics and events.")
config = group("Show or change how an office runs its jobs.")

# In the order of the help.
office.command("list")(list_)
office.command()(create)
office.command()(show)
office.command()(change)
office.add_typer(config, name="config")
config.command("show")(show_config)
config.command("set")(set_config)
office.command()(jobs.stats)
office.command()(jobs.simulate)
office.command()(jobs.jobs)
office.command()(jobs.add)
office.command()(jobs.events)
office.command()(jobs.process)
office.command("cancel-all")(jobs.cancel_all)
office.command()(delete)
office.command("test-webhook")(jobs.send_test)
