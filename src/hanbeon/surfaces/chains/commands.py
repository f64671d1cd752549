"""`hanbeon chain`: the group and its commands."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hanbeon.cli import exits
from hanbeon.cli.groups import group
from hanbeon.cli.installation import ask
from hanbeon.cli.options import Arguments, Cursor, Database, Json, Limit
from hanbeon.rule import Rule
from hanbeon.surfaces.chains.vocabulary import ChainState, OnBackwardFailure, OnUnknown

if TYPE_CHECKING:
    from hanbeon.surfaces.chains import schemas
    from hanbeon.surfaces.installation import Installation

    Action = Callable[[Installation], Awaitable[schemas.Chain]]

ChainId = Annotated[str, typer.Argument(metavar="CHAIN", help="The chain's number, its queue_id.", show_default=False)]
Library = Annotated[
    str | None,
    typer.Option("--library", metavar="MODULE", help="The module that has the operations.", show_default=False),
]
Forward = Annotated[
    str | None,
    typer.Option("--forward", metavar="NAME", help="The forward operation; by default none.", show_default=False),
]
Backward = Annotated[
    str | None,
    typer.Option("--backward", metavar="NAME", help="The backward operation; by default none.", show_default=False),
]
ExpiredTime = Annotated[
    float | None,
    typer.Option(
        "--expired-time", metavar="SECONDS", help="Time limit of each operation; by default 30.", show_default=False
    ),
]
Retries = Annotated[
    int | None, typer.Option("--retries", metavar="N", help="Retries of each operation.", show_default=False)
]
Unknown = Annotated[
    OnUnknown | None,
    typer.Option("--on-unknown", help="When a worker is lost in a forward operation.", show_default=False),
]
BackwardFailure = Annotated[
    OnBackwardFailure | None,
    typer.Option("--on-backward-failure", help="When a backward operation fails.", show_default=False),
]
StateFilter = Annotated[
    ChainState | None, typer.Option("--state", help="Only chains in this state.", show_default=False)
]
Context = Annotated[
    str | None, typer.Option("--context", metavar="JSON", help="The first context, an object.", show_default=False)
]
Follow = Annotated[bool, typer.Option("--follow", "-f", help="Show the walk until it ends or is blocked.")]


def list_(
    database: Database = None, state: StateFilter = None, cursor: Cursor = None, limit: Limit = 50, json: Json = False
) -> None:
    """List chains in the order of their creation."""
    from hanbeon.cli.output import print_json, print_next_page, print_table
    from hanbeon.surfaces.chains.command_output import CHAIN_HEADINGS, chain_row

    page = ask(database, lambda app: app.chains.list(state=state, cursor=cursor, limit=limit))
    if json:
        print_json(page)
        return
    print_table(CHAIN_HEADINGS, [chain_row(each) for each in page.items], empty="no matching chains")
    print_next_page("--cursor", page.next_cursor)


def show(chain: ChainId, database: Database = None, json: Json = False) -> None:
    """Show a chain: its state, its jobs in order, and what they returned in the last run."""
    found = ask(database, lambda app: app.chains.get(chain))
    _print(found, json=json)


def create(
    library: Library = None,
    database: Database = None,
    retries: Retries = None,
    on_unknown: Unknown = None,
    on_backward_failure: BackwardFailure = None,
    json: Json = False,
) -> None:
    """Create an empty chain and print its number; add jobs with `hanbeon chain add`."""
    from hanbeon.cli.output import print_json

    options = {
        "queue_library": library,
        "retries": retries,
        "on_unknown": on_unknown,
        "on_backward_failure": on_backward_failure,
    }
    made = ask(database, lambda app: app.chains.create(**_given(options)))
    if json:
        print_json(made)
        return
    typer.echo(made.queue_id)


def add(
    chain: ChainId,
    arguments: Arguments = None,
    forward: Forward = None,
    backward: Backward = None,
    library: Library = None,
    expired_time: ExpiredTime = None,
    database: Database = None,
    json: Json = False,
) -> None:
    """Append a job to a chain that is not running, and print its number."""
    from hanbeon.cli.arguments import parse_arguments
    from hanbeon.cli.output import print_json

    fields = {
        "forward_operation": forward,
        "backward_operation": backward,
        "operation_library": library,
        "expired_time": expired_time,
        "arguments": parse_arguments(arguments) if arguments else None,
    }
    added = ask(database, lambda app: app.chains.enqueue(chain, **_given(fields)))
    if json:
        print_json(added)
        return
    typer.echo(added.job_id)


def run(
    chain: ChainId, context: Context = None, database: Database = None, follow: Follow = False, json: Json = False
) -> None:
    """Run a chain; with --follow, show the walk going forward and back, and fail unless it ended FORWARD."""
    first = None if context is None else _object(context)
    _move(database, chain, lambda app: app.chains.run(chain, context=first), follow=follow, json=json)


def resume(chain: ChainId, database: Database = None, follow: Follow = False, json: Json = False) -> None:
    """Run the backward operation again that blocked a chain."""
    _move(database, chain, lambda app: app.chains.resume(chain), follow=follow, json=json)


def skip(chain: ChainId, database: Database = None, follow: Follow = False, json: Json = False) -> None:
    """Leave the job that blocks a chain as failed, and undo those before it."""
    _move(database, chain, lambda app: app.chains.skip(chain), follow=follow, json=json)


def abort(chain: ChainId, database: Database = None, follow: Follow = False, json: Json = False) -> None:
    """Stop the forward operation under way; then the walk goes backward."""
    _move(database, chain, lambda app: app.chains.abort(chain), follow=follow, json=json)


def runs(
    chain: ChainId, database: Database = None, cursor: Cursor = None, limit: Limit = 50, json: Json = False
) -> None:
    """List the runs of a chain, newest first."""
    from hanbeon.cli.output import print_json, print_next_page, print_table
    from hanbeon.surfaces.chains.command_output import RUN_HEADINGS, run_row

    page = ask(database, lambda app: app.chains.runs(chain, cursor=cursor, limit=limit))
    if json:
        print_json(page)
        return
    print_table(RUN_HEADINGS, [run_row(each) for each in page.items], empty="it has not run yet")
    print_next_page("--cursor", page.next_cursor)


def explain(chain: ChainId, database: Database = None, json: Json = False) -> None:
    """Explain why a chain does not move."""
    from hanbeon.cli.output import print_json
    from hanbeon.quotation import plain

    found = ask(database, lambda app: app.chains.explain(chain))
    if json:
        print_json(found)
        return
    for reason in found.reasons:
        typer.echo(f"{reason['code']}: {plain(reason['text'])}")


def delete(chain: ChainId, database: Database = None) -> None:
    """Delete a chain that is not running, with its history."""
    ask(database, lambda app: app.chains.delete(chain))


def _move(database: str | None, chain: str, action: Action, *, follow: bool, json: bool) -> None:
    from hanbeon.surfaces.chains.vocabulary import Direction

    found: schemas.Chain = ask(database, lambda app: _moved(app, chain, action, follow=follow, quiet=json))
    if json or not follow:
        _print(found, json=json)
    if follow and (found.is_unfinished or found.operation_direction is Direction.BACKWARD):
        raise typer.Exit(exits.FAILED)


async def _moved(app: Installation, chain: str, action: Action, *, follow: bool, quiet: bool) -> schemas.Chain:
    """Act on a chain and, if asked to, print the events of its walk until it has ended or is blocked."""
    from hanbeon.cli.installation import last_event
    from hanbeon.cli.output import console
    from hanbeon.surfaces.chains.command_output import event_line
    from hanbeon.surfaces.chains.vocabulary import ChainEventType

    after = await last_event(app) if follow else 0
    found = await action(app)
    if not follow:
        return found
    out, jobs = console(), {job.job_id: job for job in found.jobs}
    async for event in app.chains.follow(chain, after=after):
        if not quiet:
            out.print(event_line(event, jobs))
        if event.type in (ChainEventType.ENDED, ChainEventType.BLOCKED):
            break
    return await app.chains.get(chain)


def _print(chain: schemas.Chain, *, json: bool) -> None:
    from hanbeon.cli.output import print_facts, print_json, print_table
    from hanbeon.surfaces.chains.command_output import JOB_HEADINGS, chain_facts, job_row

    if json:
        print_json(chain)
        return
    print_facts(chain_facts(chain))
    if chain.jobs:
        print()
        print_table(JOB_HEADINGS, [job_row(each) for each in chain.jobs])


def _given(options: dict[str, Any]) -> Any:
    return {name: value for name, value in options.items() if value is not None}


def _object(text: str) -> dict[str, Any]:
    import msgspec

    from hanbeon.errors import InvalidInput

    try:
        found = msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise InvalidInput(Rule("context_not_json", got=repr(text[:60]), error=error), field="context") from error
    if not isinstance(found, dict):
        raise InvalidInput(Rule("must_be", what=Rule("json_object"), got=repr(text[:60])), field="context")
    return found


chain = group("Create, run, watch and undo chains of operations.")

# In the order of the help.
chain.command("list")(list_)
chain.command()(show)
chain.command()(create)
chain.command()(add)
chain.command()(run)
chain.command()(runs)
chain.command()(resume)
chain.command()(skip)
chain.command()(abort)
chain.command()(explain)
chain.command()(delete)
