"""`hanbeon token`"""

from __future__ import annotations

from typing import Annotated

import typer

from hanbeon.cli.groups import group
from hanbeon.cli.installation import ask
from hanbeon.cli.options import Database, Json
from hanbeon.domain.access import Scope

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
    from hanbeon.cli.output import print_json

    # A missing database is created: its first server may be meant to be reached by others, which needs a token.
    created = ask(database, lambda app: app.engine.create_token(user=user, scope=scope), create=True)
    if json:
        print_json(created)
    else:
        typer.echo(created.token)


@token.command("list")
def list_(database: Database = None, json: Json = False) -> None:
    """List all tokens, revoked ones included, without their secrets."""
    from hanbeon.cli.output import print_json, print_table, to_seconds

    found = ask(database, lambda app: app.engine.tokens())
    if json:
        print_json(found)
        return
    print_table(
        ("id", "user", "scope", "created", "used", "revoked"),
        [
            (
                str(each.id),
                each.user,
                each.scope.value,
                to_seconds(each.created_at),
                to_seconds(each.last_used_at),
                to_seconds(each.revoked_at),
            )
            for each in found.items
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
    from hanbeon.cli.output import print_json

    revoked = ask(database, lambda app: app.engine.revoke_token(id))
    if json:
        print_json(revoked)
    else:
        typer.echo(f"token {revoked.id} of {revoked.user} is revoked")
