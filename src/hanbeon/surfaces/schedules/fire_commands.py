"""`hanbeon schedule preview` and `hanbeon schedule fires`: a schedule's next and past fires."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hanbeon.cli.options import Cursor, Database, Json, Limit
from hanbeon.quotation import quoted
from hanbeon.rule import Rule
from hanbeon.surfaces.schedules.command_options import DstFold, DstGap, Outcome, Schedule, Timezone, schedule_names

if TYPE_CHECKING:
    from hanbeon.surfaces.schedules import schemas

# Only an expression begins like this, so that one with a typo in it is not looked up as a name.
_EXPRESSION = re.compile(r"@|[\d*?][\d*?/,-]*\s")


def preview(
    schedule: Annotated[
        str,
        typer.Argument(
            metavar="SCHEDULE",
            help='The name or id of a schedule, or a cron expression: "0 9 * * MON-FRI".',
            autocompletion=schedule_names,
        ),
    ],
    n: Annotated[int, typer.Option("-n", metavar="N", help="The number of fires to show.")] = 10,
    timezone: Timezone = None,
    start: Annotated[
        str | None,
        typer.Option("--from", metavar="TIME", help="Start at this time instead of now.", show_default=False),
    ] = None,
    dst_gap: DstGap = None,
    dst_fold: DstFold = None,
    database: Database = None,
    json: Json = False,
) -> None:
    """Show when a schedule fires next, or when a cron expression would, with notes where the clocks change.

    A cron expression needs no database. --timezone, --from, --dst-gap and --dst-fold are for expressions only: a
    schedule has its own.
    """
    from hanbeon.cli.output import print_json, print_table
    from hanbeon.errors import InvalidInput
    from hanbeon.surfaces.schedules.command_output import PREVIEW_HEADINGS, preview_row

    options = {"timezone": timezone, "from": start, "dst_gap": dst_gap, "dst_fold": dst_fold}
    if _EXPRESSION.match(schedule.strip()):
        found = _of_expression({"cron": schedule, "n": n, **options})
    else:
        for option, value in options.items():
            if value is not None:
                raise InvalidInput(Rule("schedule_has_its_own", schedule=quoted(schedule)), field=option)
        found = _of_schedule(database, schedule, n)
    if json:
        print_json({"fires": found})
    else:
        print_table(PREVIEW_HEADINGS, [preview_row(each) for each in found], empty="it does not fire any more")


def _of_expression(body: dict[str, Any]) -> list[schemas.PreviewedFire]:
    from hanbeon.cli.location import settings_here
    from hanbeon.clock import SystemClock
    from hanbeon.surfaces.schedules.preview import plan_preview
    from hanbeon.surfaces.schedules.schemas import PreviewRequest
    from hanbeon.surfaces.validation import convert

    return plan_preview(convert(PreviewRequest, body), settings_here().zone).fires(SystemClock().now_us())


def _of_schedule(database: str | None, typed: str, n: int) -> list[schemas.PreviewedFire]:
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.installation import open_installation
    from hanbeon.surfaces.schedules.command_lookup import find

    async def work() -> list[schemas.PreviewedFire]:
        async with open_installation(database) as app:
            return await app.schedules.preview(await find(app, typed), n=n)

    return run(work())


def fires(
    schedule: Schedule,
    database: Database = None,
    outcome: Outcome = None,
    cursor: Cursor = None,
    limit: Limit = 50,
    json: Json = False,
) -> None:
    """Show the outcome of a schedule's fires, newest first: created, skipped (with the reason), missed or coalesced."""
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.installation import open_installation
    from hanbeon.cli.output import print_json, print_next_page, print_table
    from hanbeon.surfaces.schedules.command_lookup import find
    from hanbeon.surfaces.schedules.command_output import FIRE_HEADINGS, fire_row

    async def work() -> schemas.FirePage:
        async with open_installation(database) as app:
            found = await find(app, schedule)
            return await app.schedules.fires(found, outcome=outcome, cursor=cursor, limit=limit)

    page = run(work())
    if json:
        print_json(page)
        return
    print_table(FIRE_HEADINGS, [fire_row(each) for each in page.items], empty="no matching fires")
    print_next_page("--cursor", page.next_cursor)
