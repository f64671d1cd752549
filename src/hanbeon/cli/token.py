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

token = group("Create, list and revoke API tokens.")


@token.command()
def create(
    user: Annotated[
        str, typer.Option("--user", metavar="NAME", help="The user that the token belongs to.", show_default=False)
    ],
    scope: Annotated[
        Scope, typer.Option("--scope", metavar="SCOPE", help="admin, user, cron or read.", show_default=False)
    ],
    database: Database = None,
    json: Json = False,
) -> None:
    """Create a token and print it, this once: only its hash is stored.

    The first token turns authentication on, within seconds also on running servers.
    """
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.json_output import token_shape
    from hanbeon.cli.output import print_json

    created, zone = run(_create(database, user, scope))
    if json:
        print_json({"token": created.text, **token_shape(created.record, zone)})
    else:
        typer.echo(created.text)


@token.command("list")
def list_(database: Database = None, json: Json = False) -> None:
    """List all tokens, revoked ones included, without their secrets."""
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.formats import clock_time
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
        empty="no tokens; servers of this database only serve localhost",
    )


@token.command()
def revoke(
    id: Annotated[int, typer.Argument(metavar="ID", help="The token's number.", show_default=False)],
    database: Database = None,
    json: Json = False,
) -> None:
    """Revoke a token permanently; every server rejects it within seconds."""
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.json_output import token_shape
    from hanbeon.cli.output import print_json

    revoked, zone = run(_revoke(database, id))
    if json:
        print_json(token_shape(revoked, zone))
    else:
        typer.echo(f"token {revoked.id} of {revoked.user_name} is revoked")


async def _create(database: str | None, user: str, scope: Scope) -> tuple[NewToken, dt.tzinfo]:
    from hanbeon.cli.config_option import settings_here
    from hanbeon.cli.open_app import opened
    from hanbeon.service.tokens import create_token

    # A missing database is created: its first server may be meant to be reached by others, which needs a token.
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
