"""Arguments and options that several of these commands share. Words are completed from where they are declared."""

from __future__ import annotations

from typing import Annotated

import typer

from hanbeon.cli.completion import schedule_names


def _overlaps() -> list[str]:
    from hanbeon.domain.schedules.misfire import Overlap

    return list(Overlap)


def _misfires() -> list[str]:
    from hanbeon.domain.schedules.misfire import Misfire

    return list(Misfire)


def _gaps() -> list[str]:
    from hanbeon.domain.schedules.fire_times import ClockGap

    return list(ClockGap)


def _folds() -> list[str]:
    from hanbeon.domain.schedules.fire_times import ClockFold

    return list(ClockFold)


def _outcomes() -> list[str]:
    from hanbeon.domain.schedules.history import FireOutcome

    return list(FireOutcome)


Schedule = Annotated[
    str,
    typer.Argument(metavar="SCHEDULE", help="Its name or its id.", autocompletion=schedule_names, show_default=False),
]
Schedules = Annotated[
    list[str],
    typer.Argument(metavar="SCHEDULE", help="Names or ids.", autocompletion=schedule_names, show_default=False),
]
Cron = Annotated[
    str | None,
    typer.Option("--cron", metavar="TEXT", help='When: "0 9 * * MON-FRI", or @daily and the like.', show_default=False),
]
RunAt = Annotated[
    str | None,
    typer.Option("--run-at", metavar="TIME", help="When: once, at this moment, in ISO-8601.", show_default=False),
]
Name = Annotated[str | None, typer.Option("--name", metavar="TEXT", help="Its name, a unique one.", show_default=False)]
Timezone = Annotated[
    str | None,
    typer.Option(
        "--timezone", metavar="ZONE", help="Its zone; by default that of the installation.", show_default=False
    ),
]
Overlap = Annotated[
    str | None,
    typer.Option(
        "--overlap",
        metavar="WORD",
        help="If an execution of the task is unfinished: skip, allow or queue_one.",
        autocompletion=_overlaps,
        show_default=False,
    ),
]
Misfire = Annotated[
    str | None,
    typer.Option(
        "--misfire",
        metavar="WORD",
        help="If fires were missed: coalesce, skip or all.",
        autocompletion=_misfires,
        show_default=False,
    ),
]
MisfireLimit = Annotated[
    int | None,
    typer.Option("--misfire-limit", metavar="N", help="How many are caught up with by all.", show_default=False),
]
Jitter = Annotated[
    str | None, typer.Option("--jitter", metavar="SPAN", help="Up to so much later each time.", show_default=False)
]
StartsAt = Annotated[
    str | None, typer.Option("--starts-at", metavar="TIME", help="Not before this moment.", show_default=False)
]
EndsAt = Annotated[
    str | None, typer.Option("--ends-at", metavar="TIME", help="Not after this moment.", show_default=False)
]
DstGap = Annotated[
    str | None,
    typer.Option(
        "--dst-gap",
        metavar="WORD",
        help="What a time does that the clocks skip: fire or skip.",
        autocompletion=_gaps,
        show_default=False,
    ),
]
DstFold = Annotated[
    str | None,
    typer.Option(
        "--dst-fold",
        metavar="WORD",
        help="What a time does that comes twice: first, second or both.",
        autocompletion=_folds,
        show_default=False,
    ),
]
Outcome = Annotated[
    str | None,
    typer.Option(
        "--outcome",
        metavar="WORD",
        help="Only created, skipped, missed or coalesced ones.",
        autocompletion=_outcomes,
        show_default=False,
    ),
]
Cursor = Annotated[
    str | None, typer.Option("--cursor", metavar="TEXT", help="Go on where the page before ended.", show_default=False)
]
Limit = Annotated[int, typer.Option("--limit", metavar="N", help="How many at the most.")]
