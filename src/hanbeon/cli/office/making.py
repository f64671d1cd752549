"""The commands that make and change: create, change, add, config set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from hanbeon.cli.office.options import Office
from hanbeon.cli.options import AppName, Database, Json

if TYPE_CHECKING:
    from hanbeon.surfaces.offices import schemas

_PAIR = "name=value"


def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What to call it.", show_default=False)],
    session: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ROLE=TASK", help="The task that runs its jobs of a role, or default=TASK.", show_default=False
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A setting of its config.", show_default=False),
    ] = None,
    notify: Annotated[
        list[str] | None,
        typer.Option(metavar="URL", help="Whom to tell when a job fails for good.", show_default=False),
    ] = None,
    app: AppName = None,
    database: Database = None,
    json: Json = False,
) -> None:
    """Make an office and print its id.

    Its sessions are tasks of --app or hanbeon.toml, or of a worker that is alive. Settings are written as for `config
    set`.
    """
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.office.opening import offices_with_tasks
    from hanbeon.cli.output import print_json

    told: dict[str, Any] = {"name": name}
    if session:
        told["sessions"] = dict(_pair(each, "session") for each in session)
    if set_:
        told["config"] = _settings(set_)
    if notify:
        told["notifications"] = notify

    async def work() -> schemas.Office:
        async with offices_with_tasks(app, database, made=True) as offices:
            return await offices.create(told)

    made = run(work())
    if json:
        print_json(made)
    else:
        typer.echo(made.id)


def change(
    office: Office,
    name: Annotated[str | None, typer.Option(metavar="NAME", help="Call it so.", show_default=False)] = None,
    session: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ROLE=TASK", help="The task that runs its jobs of a role; ROLE= for none.", show_default=False
        ),
    ] = None,
    notify: Annotated[
        list[str] | None,
        typer.Option(metavar="URL", help="Whom to tell, instead of all there were.", show_default=False),
    ] = None,
    app: AppName = None,
    database: Database = None,
    json: Json = False,
) -> None:
    """Change the name of an office, its sessions, or whom it tells.

    Sessions that are not named stay. Jobs that wait without a handler get the one that the sessions name now.
    """
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.office.opening import find, offices_with_tasks
    from hanbeon.cli.output import print_json
    from hanbeon.errors import InvalidInput

    told: dict[str, Any] = {} if name is None else {"name": name}
    if session:
        told["sessions"] = {role: task or None for role, task in (_pair(each, "session") for each in session)}
    if notify:
        told["notifications"] = notify
    if not told:
        raise InvalidInput("say what to change: --name, --session or --notify")

    async def work() -> schemas.Office:
        async with offices_with_tasks(app, database, made=False) as offices:
            return await offices.change((await find(offices, office)).id, told)

    changed = run(work())
    if json:
        print_json(changed)
    else:
        typer.echo(f"office {changed.id} is at version {changed.version}")


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
    """Make a batch of jobs in an office, all of them or none, and print their ids in the same order."""
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.office.opening import find, offices_with_tasks
    from hanbeon.cli.output import print_json

    batch = _batch(file)

    async def work() -> list[schemas.Job]:
        async with offices_with_tasks(app, database, made=False) as offices:
            return await offices.create_jobs((await find(offices, office)).id, batch)

    made = run(work())
    if json:
        print_json({"jobs": made})
        return
    for job in made:
        typer.echo(job.id)


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
    """Change the config of an office; what is not named stays. In force at the next claim of every worker."""
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.office.opening import find, offices_of
    from hanbeon.cli.office.showing import config_facts
    from hanbeon.cli.output import print_facts, print_json

    changes = _settings(settings)

    async def work() -> schemas.VersionedConfig:
        async with offices_of(database) as offices:
            return await offices.change_config((await find(offices, office)).id, changes)

    changed = run(work()).config
    if json:
        print_json(changed)
    else:
        print_facts(config_facts(changed))


def _pair(text: str, field: str) -> tuple[str, str]:
    from hanbeon.errors import InvalidInput

    name, equals, value = text.partition("=")
    if not (name and equals):
        raise InvalidInput(f"{text!r} does not fit; write {_PAIR}", field=field)
    return name, value


def _settings(words: list[str]) -> dict[str, Any]:
    """`a=1 b.c=null` as {"a": 1, "b": {"c": None}}. What is no JSON is text."""
    import msgspec

    told: dict[str, Any] = {}
    for word in words:
        path, text = _pair(word, "config")
        try:
            value = msgspec.json.decode(text)
        except msgspec.DecodeError:
            value = text
        name, dot, inner = path.partition(".")
        if dot:
            told.setdefault(name, {})[inner] = value
        else:
            told[name] = value
    return told


def _batch(file: str) -> Any:
    import sys
    from pathlib import Path

    import msgspec

    from hanbeon.errors import InvalidInput, NotFound

    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
        found = msgspec.json.decode(text)
    except OSError as error:
        raise NotFound(f"{file} cannot be read: {error.strerror}; give a JSON file, or - for stdin") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidInput(f'{file} is not JSON: {error}; write {{"jobs": […]}}', field="jobs") from error
    return {"jobs": found} if isinstance(found, list) else found
