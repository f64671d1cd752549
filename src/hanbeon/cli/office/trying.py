"""The command that tries a webhook out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hanbeon.cli.office.options import Office
from hanbeon.cli.options import Database, Json

if TYPE_CHECKING:
    from hanbeon.surfaces.offices import schemas


def try_webhook(
    office: Office,
    webhook: Annotated[str, typer.Argument(metavar="WEBHOOK", help="Its id or its address.", show_default=False)],
    database: Database = None,
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait until a worker has sent it, and say how that went.")
    ] = False,
    json: Json = False,
) -> None:
    """Send a signed message to a webhook, once, to see whether it is taken. It may be disabled.

    A worker sends it. How it went changes nothing of the webhook's state.
    """
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.job_follower import refuse_unless_succeeded
    from hanbeon.cli.office.opening import find, find_webhook
    from hanbeon.cli.open_app import open_app
    from hanbeon.cli.output import print_json
    from hanbeon.surfaces.offices.service import Offices

    async def work() -> tuple[schemas.Webhook, schemas.Delivery]:
        async with open_app(database) as app:
            offices = Offices(app)
            found = await find(offices, office)
            hook = find_webhook(found, webhook)
            sent = await offices.test_webhook(found.id, hook.id)
            if wait:
                if not any(each.alive for each in await app.instances()):
                    typer.echo("no worker is alive; the message waits for one: hanbeon worker", err=True)
                record = await app.job(sent.id).wait()
                sent = await offices.delivery(found.id, hook.id, sent.id)
                if json:
                    print_json(sent)
                refuse_unless_succeeded(record)
            return hook, sent

    hook, sent = run(work())
    if not json:
        typer.echo(f"{hook.url} has taken it" if wait else sent.id)
    elif not wait:
        print_json(sent)
