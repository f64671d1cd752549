"""`hanbeon prune`"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import typer

from hanbeon.cli.options import Database, Json, Yes
from hanbeon.rule import Rule
from hanbeon.store.operations.prune import count_prunable

_BATCH = 1_000


def prune(
    database: Database = None,
    older_than: Annotated[
        str | None,
        typer.Option(
            metavar="SPAN", help="Delete what ended longer ago; by default $HANBEON_RETENTION.", show_default=False
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count what would be deleted.")] = False,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Delete old data: ended jobs, attempts, logs, events, fires, instances and orphaned queues.

    Workers prune, too; this is for a database that is too large now. A job that an unfinished one depends on
    is kept, and so is the last fire of a schedule. Queues of deleted offices and removed webhooks are deleted once no
    job is left in them. A job's idempotency key is forgotten with it.
    """
    from hanbeon.cli.confirm import confirm
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.output import print_json
    from hanbeon.clock import seconds_of

    age = None if older_than is None else seconds_of(older_than, "older_than")
    found = run(_count(database, age))
    if not dry_run and any(found.values()):
        confirm(f"Delete {_counts_text(found)}?", yes=yes)
        run(_prune(database, age))
    if json:
        print_json({"dry_run": dry_run, **found})
    else:
        typer.echo(f"{'would delete' if dry_run else 'deleted'} {_counts_text(found)}")


def _counts_text(found: Mapping[str, int]) -> str:
    *first, last = (f"{number:,} {kind.replace('_', ' ')}" for kind, number in found.items())
    return f"{', '.join(first)} and {last}"


async def _count(database: str | None, age: float | None) -> dict[str, int]:
    from hanbeon.cli.app_loader import open_app

    async with open_app(database) as app:
        return await app.store.read(
            lambda tx: count_prunable(tx, app.store.retention, _age_us(age, app.settings.retention, app.settings.lease))
        )


async def _prune(database: str | None, age: float | None) -> None:
    from hanbeon.cli.app_loader import open_app

    async with open_app(database) as app:
        store = app.store
        older_than_us = _age_us(age, app.settings.retention, app.settings.lease)
        # Events are only deleted once they have been counted.
        while await store.number_events() or await store.fold():
            pass
        while await store.prune(older_than_us, _BATCH):
            # A queue is only deleted once the deletion of its last jobs has been counted.
            await store.number_events()
            await store.fold()


def _age_us(age: float | None, retention: float, lease: float) -> int:
    from hanbeon.clock import micros
    from hanbeon.errors import InvalidInput
    from hanbeon.tasks.options import duration_us

    if age is None:
        return micros(retention)
    if age < lease:
        raise InvalidInput(Rule("younger_than_lease", lease=f"{lease:g}", got=f"{age:g}"), field="older_than")
    return duration_us(age, "older_than")
