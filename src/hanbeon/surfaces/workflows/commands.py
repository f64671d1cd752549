"""`hanbeon workflow`: the group and its commands."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from hanbeon.cli import exits
from hanbeon.cli.groups import group
from hanbeon.cli.installation import ask, ask_with_tasks
from hanbeon.cli.options import AppName, Arguments, Cursor, Database, Json, Limit
from hanbeon.rule import Rule
from hanbeon.surfaces.workflows.vocabulary import WorkflowStatus

if TYPE_CHECKING:
    from hanbeon.surfaces.installation import Installation
    from hanbeon.surfaces.workflows import schemas

T = TypeVar("T")

WorkflowId = Annotated[str, typer.Argument(metavar="WORKFLOW", help="The workflow's name or id.", show_default=False)]
RunId = Annotated[str, typer.Argument(metavar="RUN", help="The run's id.", show_default=False)]
DefinitionFile = Annotated[
    Path,
    typer.Argument(
        metavar="FILE", help="A JSON file with the fields of the workflow; - reads stdin.", show_default=False
    ),
]
StatusFilter = Annotated[
    WorkflowStatus | None, typer.Option("--status", help="Only workflows in this status.", show_default=False)
]
Activate = Annotated[bool, typer.Option("--activate", help="Activate it at once.")]


def list_(
    database: Database = None, status: StatusFilter = None, cursor: Cursor = None, limit: Limit = 50, json: Json = False
) -> None:
    """List workflows with their next runs, in the order of their creation."""
    from hanbeon.cli.output import print_json, print_next_page, print_table
    from hanbeon.surfaces.workflows.command_output import WORKFLOW_HEADINGS, workflow_row

    page = ask(database, lambda app: app.workflows.list(status=status, cursor=cursor, limit=limit))
    if json:
        print_json(page)
        return
    print_table(WORKFLOW_HEADINGS, [workflow_row(each) for each in page.items], empty="no matching workflows")
    print_next_page("--cursor", page.next_cursor)


def show(workflow: WorkflowId, database: Database = None, json: Json = False) -> None:
    """Show a workflow: its status, times and steps, without secrets."""
    _print(_ask(database, workflow, lambda app, id: app.workflows.get(id)), json=json)


def create(
    file: DefinitionFile, activate: Activate = False, app: AppName = None, database: Database = None, json: Json = False
) -> None:
    """Save a workflow from a file and print its id; a draft, unless the file or --activate says otherwise."""
    from hanbeon.cli.output import print_json

    fields = _fields(str(file)) | ({"status": "active"} if activate else {})
    made = ask_with_tasks(app, database, lambda app: app.workflows.create(**fields))
    if json:
        print_json(made)
        return
    typer.echo(made.id)


def activate(workflow: WorkflowId, database: Database = None, json: Json = False) -> None:
    """Make a workflow run by its schedule."""
    _print(_ask(database, workflow, lambda app, id: app.workflows.activate(id)), json=json)


def pause(workflow: WorkflowId, database: Database = None, json: Json = False) -> None:
    """Start no more runs of a workflow."""
    _print(_ask(database, workflow, lambda app, id: app.workflows.pause(id)), json=json)


def delete(workflow: WorkflowId, database: Database = None) -> None:
    """Delete a workflow that has no run under way."""
    _ask(database, workflow, lambda app, id: app.workflows.delete(id))


def run(
    workflow: WorkflowId,
    variables: Arguments = None,
    app: AppName = None,
    database: Database = None,
    json: Json = False,
) -> None:
    """Run a workflow now, in this process; fail unless it completes within the time budget."""
    given = _variables(variables)

    async def execute(app: Installation, id: str) -> schemas.Execution:
        return await app.workflows.execute(id, variables=given)

    found = ask_with_tasks(app, database, lambda app: _with_id(app, workflow, execute))
    _print_run(found, json=json)
    if found.status != "completed":
        raise typer.Exit(exits.FAILED)


def dry_run(
    workflow: WorkflowId,
    variables: Arguments = None,
    database: Database = None,
    json: Json = False,
) -> None:
    """Print every message of a workflow, rendered and not sent."""
    from hanbeon.cli.output import print_json
    from hanbeon.quotation import plain

    given = _variables(variables)
    found = _ask(database, workflow, lambda app, id: app.workflows.dry_run(id, variables=given))
    if json:
        print_json(found)
        return
    for message in found.messages:
        typer.echo(f"{message.name} → {plain(message.target)}: {plain(message.title)}\n{message.body}\n")


def runs(
    workflow: WorkflowId, database: Database = None, cursor: Cursor = None, limit: Limit = 50, json: Json = False
) -> None:
    """List the runs of a workflow, newest first."""
    from hanbeon.cli.output import print_json, print_next_page, print_table
    from hanbeon.surfaces.workflows.command_output import RUN_HEADINGS, run_row

    page = _ask(database, workflow, lambda app, id: app.workflows.runs(id, cursor=cursor, limit=limit))
    if json:
        print_json(page)
        return
    print_table(RUN_HEADINGS, [run_row(each) for each in page.items], empty="it has not run yet")
    print_next_page("--cursor", page.next_cursor)


def history(workflow: WorkflowId, run: RunId, database: Database = None, json: Json = False) -> None:
    """Show a run with its steps."""
    _print_run(_ask(database, workflow, lambda app, id: app.workflows.run_of(id, run)), json=json)


def cancel(workflow: WorkflowId, run: RunId, database: Database = None, json: Json = False) -> None:
    """Cancel an unfinished run."""
    _print_run(_ask(database, workflow, lambda app, id: app.workflows.cancel(id, run)), json=json)


def retry(workflow: WorkflowId, run: RunId, database: Database = None, json: Json = False) -> None:
    """Run a failed run again, from the step that failed."""
    _print_run(_ask(database, workflow, lambda app, id: app.workflows.retry(id, run)), json=json)


def monitor(database: Database = None, json: Json = False) -> None:
    """Show how many runs there are, what is delayed, what is next, and what failed."""
    from hanbeon.cli.output import print_facts, print_json
    from hanbeon.surfaces.workflows.command_output import monitor_facts

    found = ask(database, lambda app: app.workflows.monitor())
    if json:
        print_json(found)
        return
    print_facts(monitor_facts(found))


def cron(database: Database = None) -> None:
    """Register the next runs of all active workflows, and print what was done as JSON."""
    from hanbeon.cli.output import print_json

    print_json(ask(database, lambda app: app.workflows.cron()))


def execute(app: AppName = None, database: Database = None) -> None:
    """Run the workflows that are due, in this process, and print them as JSON."""
    from hanbeon.cli.output import print_json

    print_json(ask_with_tasks(app, database, lambda app: app.workflows.execute_due()))


def _ask(database: str | None, workflow: str, call: Callable[[Installation, str], Awaitable[T]]) -> T:
    """Call a service with the id of the workflow that was named."""
    return ask(database, lambda app: _with_id(app, workflow, call))


async def _with_id(app: Installation, workflow: str, call: Callable[[Installation, str], Awaitable[T]]) -> T:
    from hanbeon.surfaces.workflows.command_lookup import id_of

    return await call(app, await id_of(app, workflow))


def _print(workflow: schemas.Workflow, *, json: bool) -> None:
    from hanbeon.cli.output import print_facts, print_json
    from hanbeon.surfaces.workflows.command_output import workflow_facts

    if json:
        print_json(workflow)
        return
    print_facts(workflow_facts(workflow))


def _print_run(run: Any, *, json: bool) -> None:
    from hanbeon.cli.output import print_facts, print_json, print_table
    from hanbeon.surfaces.workflows.command_output import STEP_HEADINGS, run_facts, step_row

    if json:
        print_json(run)
        return
    print_facts(run_facts(run))
    if run.steps:
        print()
        print_table(STEP_HEADINGS, [step_row(each) for each in run.steps])


def _variables(given: list[str] | None) -> dict[str, Any]:
    from hanbeon.cli.arguments import parse_arguments

    return dict(parse_arguments(given)) if given else {}


def _fields(path: str) -> dict[str, Any]:
    import sys
    from pathlib import Path

    import msgspec

    from hanbeon.errors import InvalidInput

    try:
        text = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
        found = msgspec.json.decode(text)
    except OSError as error:
        raise InvalidInput(Rule("unreadable", error=error.strerror), field="file") from None
    except msgspec.DecodeError as error:
        raise InvalidInput(Rule("not_json", error=error), field="file") from None
    if not isinstance(found, dict):
        raise InvalidInput(Rule("must_be", what=Rule("workflow_json")), field="file")
    return found


workflow = group("Create, run and watch workflows of messages, HTTP calls, waits and tasks.")

# In the order of the help.
workflow.command("list")(list_)
workflow.command()(show)
workflow.command()(create)
workflow.command()(activate)
workflow.command()(pause)
workflow.command()(run)
workflow.command("dry-run")(dry_run)
workflow.command()(runs)
workflow.command()(history)
workflow.command()(cancel)
workflow.command()(retry)
workflow.command()(monitor)
workflow.command()(cron)
workflow.command()(execute)
workflow.command()(delete)
