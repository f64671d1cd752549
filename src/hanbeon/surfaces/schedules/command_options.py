"""Arguments and options shared by the schedule commands. Choices are completed from the enums that declare them."""

from __future__ import annotations

from typing import Annotated

import typer

from hanbeon.cli.completion import names_or_ids


def _overlaps() -> list[str]:
    from hanbeon.surfaces.schedules.misfire import Overlap

    return list(Overlap)


def _misfires() -> list[str]:
    from hanbeon.surfaces.schedules.misfire import Misfire

    return list(Misfire)


def _gaps() -> list[str]:
    from hanbeon.domain.timing.fire_times import ClockGap

    return list(ClockGap)


def _folds() -> list[str]:
    from hanbeon.domain.timing.fire_times import ClockFold

    return list(ClockFold)


def _outcomes() -> list[str]:
    from hanbeon.surfaces.schedules.vocabulary import FireOutcome

    return list(FireOutcome)


def field_names() -> list[str]:
    from hanbeon.surfaces.schedules.schemas import NamedSettings

    return list(NamedSettings.__struct_fields__)


def schedule_names(ctx: typer.Context, incomplete: str) -> list[str]:
    from hanbeon.surfaces.schedules.rows import schedules

    return names_or_ids(ctx, schedules, incomplete)


Schedule = Annotated[
    str,
    typer.Argument(
        metavar="SCHEDULE", help="The schedule's name or id.", autocompletion=schedule_names, show_default=False
    ),
]
Schedules = Annotated[
    list[str],
    typer.Argument(
        metavar="SCHEDULE", help="Names or ids of schedules.", autocompletion=schedule_names, show_default=False
    ),
]
Cron = Annotated[
    str | None,
    typer.Option("--cron", metavar="TEXT", help='A cron expression: "0 9 * * MON-FRI", @daily, ….', show_default=False),
]
Every = Annotated[
    str | None,
    typer.Option(
        "--every", metavar="SPAN", help="Run at this interval, like 90m; counted from --starts-at.", show_default=False
    ),
]
RunAt = Annotated[
    str | None,
    typer.Option("--run-at", metavar="TIME", help="Run once, at this time, in ISO-8601.", show_default=False),
]
Name = Annotated[
    str | None,
    typer.Option("--name", metavar="TEXT", help="The schedule's name, which must be unique.", show_default=False),
]
Timezone = Annotated[
    str | None,
    typer.Option(
        "--timezone", metavar="ZONE", help="The time zone; by default the configured one.", show_default=False
    ),
]
Overlap = Annotated[
    str | None,
    typer.Option(
        "--overlap",
        metavar="CHOICE",
        help="When an execution of the task is unfinished: skip, allow or queue_one.",
        autocompletion=_overlaps,
        show_default=False,
    ),
]
Misfire = Annotated[
    str | None,
    typer.Option(
        "--misfire",
        metavar="CHOICE",
        help="When fires were missed: coalesce, skip or all.",
        autocompletion=_misfires,
        show_default=False,
    ),
]
MisfireLimit = Annotated[
    int | None,
    typer.Option(
        "--misfire-limit", metavar="N", help="The most missed fires that --misfire all catches up.", show_default=False
    ),
]
Jitter = Annotated[
    str | None, typer.Option("--jitter", metavar="SPAN", help="Delay each fire by up to this long.", show_default=False)
]
StartsAt = Annotated[
    str | None, typer.Option("--starts-at", metavar="TIME", help="Do not fire before this time.", show_default=False)
]
EndsAt = Annotated[
    str | None, typer.Option("--ends-at", metavar="TIME", help="Do not fire after this time.", show_default=False)
]
DstGap = Annotated[
    str | None,
    typer.Option(
        "--dst-gap",
        metavar="CHOICE",
        help="For a local time that the clocks skip: fire or skip.",
        autocompletion=_gaps,
        show_default=False,
    ),
]
DstFold = Annotated[
    str | None,
    typer.Option(
        "--dst-fold",
        metavar="CHOICE",
        help="For a local time that occurs twice: first, second or both.",
        autocompletion=_folds,
        show_default=False,
    ),
]
Outcome = Annotated[
    str | None,
    typer.Option(
        "--outcome",
        metavar="CHOICE",
        help="Only fires with this outcome: created, skipped, missed or coalesced.",
        autocompletion=_outcomes,
        show_default=False,
    ),
]
