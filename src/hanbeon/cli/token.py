"""`hanbeon token`"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hanbeon.cli.groups import group
from hanbeon.cli.options import Database, Json
from hanbeon.domain.access import Scope

if TYPE_CHECKING:
    import datetime as dt

    from hanbeon.service.tokens import NewToken
    from hanbeon.store.operations.tokens import TokenRecord

token = group("Make, list and revoke the tokens that a server asks for.")


@token.command()
def create(
    user: Annotated[str, typer.Option("--user", metavar="NAME", help="Whose it is.", show_default=False)],
    scope: Annotated[
        Scope, typer.Option("--scope", metavar="SCOPE", help="admin, user, cron or read.", show_default=False)
    ],
    database: Database = None,
    json: Json = False,
) -> None:
    """Make a token and print it: this once, for only its hash is kept.

    The first one turns authentication on, also for servers that run, within seconds.
    """
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.json_output import token_shape
    from hanbeon.cli.output import print_json

    made, zone = run(_create(database, user, scope))
    if json:
        print_json({"token": made.text, **token_shape(made.record, zone)})
    else:
        typer.echo(made.text)


@token.command("list")
def list_(database: Database = None, json: Json = False) -> None:
    """List all tokens there ever were, without the tokens themselves."""
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.formatting import clock_time
    from hanbeon.cli.json_output import token_shape
    from hanbeon.cli.output import print_json, print_table

    found, zone = run(_list(database))
    if json:
        print_json({"tokens": [token_shape(each, zone) for each in found]})
        return
    print_table(
        ("id", "user", "scope", "created", "used", "revoked"),
        [
            (
                str(each.id),
                each.user_name,
                each.scope.value,
                clock_time(each.created_at, zone),
                clock_time(each.last_used_at, zone),
                clock_time(each.revoked_at, zone),
            )
            for each in found
        ],
        right=("id",),
        empty="there are no tokens; servers of this database serve this machine alone",
    )


@token.command()
def revoke(
    id: Annotated[int, typer.Argument(metavar="ID", help="The token's number.", show_default=False)],
    database: Database = None,
    json: Json = False,
) -> None:
    """Make a token invalid for ever, on every server within seconds."""
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.json_output import token_shape
    from hanbeon.cli.output import print_json

    gone, zone = run(_revoke(database, id))
    if json:
        print_json(token_shape(gone, zone))
    else:
        typer.echo(f"token {gone.id} of {gone.user_name} is revoked")


async def _create(database: str | None, user: str, scope: Scope) -> tuple[NewToken, dt.tzinfo]:
    from hanbeon.cli.config_option import settings_here
    from hanbeon.cli.open_app import opened
    from hanbeon.service.tokens import create_token

    # A database that is not there yet is made: its first server may be meant for others.
    async with opened(settings_here(database_url=database)) as app:
        return await create_token(app.store, user, scope), app.settings.zone


async def _list(database: str | None) -> tuple[list[TokenRecord], dt.tzinfo]:
    from hanbeon.cli.open_app import open_app
    from hanbeon.service.tokens import list_tokens

    async with open_app(database) as app:
        return await list_tokens(app.store), app.settings.zone


async def _revoke(database: str | None, number: int) -> tuple[TokenRecord, dt.tzinfo]:
    from hanbeon.cli.open_app import open_app
    from hanbeon.service.tokens import revoke_token

    async with open_app(database) as app:
        return await revoke_token(app.store, number), app.settings.zone
