"""`hanbeon job`"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from hanbeon.cli.options import Database, JobId

if TYPE_CHECKING:
    import datetime as dt

    from hanbeon.domain.job import AttemptRecord, JobRecord
    from hanbeon.store.operations.queries import Dependency


def job(
    id: JobId,
    database: Database = None,
    follow: Annotated[
        bool,
        typer.Option(
            "--follow", "-f", help="Show its log and progress until it ends; exits with 1 unless it succeeds."
        ),
    ] = False,
    log: Annotated[bool, typer.Option("--log", help="Print only its log; with --follow, new lines too.")] = False,
    attempt: Annotated[
        int | None,
        typer.Option(metavar="N", help="With --log: only the log of this attempt.", min=1, show_default=False),
    ] = None,
    json: Annotated[
        bool,
        typer.Option("--json", help="Print one JSON document; with --log or --follow, one per line as they arrive."),
    ] = False,
) -> None:
    """Show a job: its record, its attempts and its dependencies."""
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.json_output import attempt_shape, job_shape
    from hanbeon.cli.output import print_json
    from hanbeon.errors import InvalidInput

    if attempt is not None and (follow or not log):
        raise InvalidInput("requires --log, without --follow", field="attempt")
    if follow:
        run(_follow(database, id, log=log, json=json))
        return
    if log:
        run(_print_log(database, id, attempt, json=json))
        return
    record, attempts, dependencies, zone = run(_read(database, id))
    if json:
        print_json(
            {
                **job_shape(record, zone),
                "attempts": [attempt_shape(attempt, zone) for attempt in attempts],
                "dependencies": dependencies,
            }
        )
    else:
        _show(record, attempts, dependencies, zone)


async def _follow(database: str | None, job_id: str, *, log: bool, json: bool) -> None:
    from hanbeon.cli.checks import check_ids
    from hanbeon.cli.job_follower import Screen, bar, follow, json_printer, lines, raise_unless_succeeded
    from hanbeon.cli.open_app import open_app
    from hanbeon.cli.output import console

    check_ids([job_id])
    async with open_app(database) as app:
        if log and json:
            record = await follow(app, job_id, Screen(lambda _: None, json_printer(app.settings.zone)))
        elif json or not (log or console(stderr=True).is_terminal):
            record = await follow(app, job_id, lines(app.settings.zone, json=json))
        else:
            with bar(console()) as screen:
                record = await follow(app, job_id, screen)
    raise_unless_succeeded(record)
    if not json and not log:
        typer.echo(record.result)


async def _print_log(database: str | None, job_id: str, attempt: int | None, *, json: bool) -> None:
    from hanbeon.cli.checks import check_ids
    from hanbeon.cli.job_follower import json_printer
    from hanbeon.cli.log_output import print_log, printer_on
    from hanbeon.cli.open_app import open_app
    from hanbeon.cli.output import console

    check_ids([job_id])
    async with open_app(database) as app:
        printer = json_printer(app.settings.zone) if json else printer_on(console())
        await print_log(app, job_id, printer, attempt=attempt)


async def _read(
    database: str | None, job_id: str
) -> tuple[JobRecord, list[AttemptRecord], list[Dependency], dt.tzinfo]:
    from hanbeon.cli.checks import check_ids
    from hanbeon.cli.open_app import open_app
    from hanbeon.store.operations import queries

    check_ids([job_id])
    async with open_app(database) as app:
        job = app.job(job_id)
        return (
            await job.record(),
            await job.attempts(),
            await app.store.read(lambda tx: queries.dependencies_of(tx, job_id)),
            app.settings.zone,
        )


def _show(job: JobRecord, attempts: list[AttemptRecord], dependencies: list[Dependency], zone: dt.tzinfo) -> None:
    from hanbeon.cli.formats import brief, clock_time, iso
    from hanbeon.cli.output import print_facts, print_table, state_cell

    shown: list[tuple[str, Any]] = [("state", state_cell(job.state))]
    shown += [(name, getattr(job, name)) for name in ("id", "task", "queue", "role", "concurrency_key", "work_item")]
    shown += [
        ("priority", f"{job.priority}{' urgent' if job.urgent else ''}"),
        ("attempts", f"{job.fence}; {job.retry_count} of {job.policy.max_retries} retries used"),
        ("timeout", brief(job.timeout_us / 1_000_000) if job.timeout_us else None),
        ("instance", str(job.locked_by) if job.locked_by is not None else None),
    ]
    shown += [
        (name, iso(getattr(job, name), zone))
        for name in ("created_at", "run_at", "started_at", "deadline_at", "stop_requested_at", "finished_at")
    ]
    names = ("args", "progress", "result", "failure_type", "error_message", "idempotency_key", "unique_key")
    shown += [(name, getattr(job, name)) for name in (*names, "replaced_by", "meta")]
    print_facts(shown)
    if dependencies:
        print()
        print_table(("waits for", "state"), [(each.id, state_cell(each.state)) for each in dependencies])
    if attempts:
        print()
        print_table(
            ("attempt", "status", "instance", "started", "took", "message"),
            [
                (
                    str(each.attempt),
                    each.status.value,
                    "" if each.instance is None else str(each.instance),
                    clock_time(each.started_at, zone),
                    brief((each.ended_at - each.started_at) / 1_000_000),
                    f"{each.failure_type}: {each.message}" if each.failure_type else "",
                )
                for each in attempts
            ],
            right=("attempt", "took"),
        )
