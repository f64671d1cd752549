"""`hanbeon job`"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from hanbeon.cli.options import Database, JobId

if TYPE_CHECKING:
    import datetime as dt

    from hanbeon.cli.source.source import JobDetail
    from hanbeon.domain.job import JobRecord


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
    detail, zone, dashboard = run(_read(database, id))
    if json:
        print_json(
            {
                **job_shape(detail.record, zone),
                "attempts": [attempt_shape(attempt, zone) for attempt in detail.attempts],
                "dependencies": detail.dependencies,
            }
        )
    else:
        _show(detail, zone, dashboard)


async def _follow(database: str | None, job_id: str, *, log: bool, json: bool) -> None:
    from hanbeon.cli.checks import check_ids
    from hanbeon.cli.job_follower import Screen, bar, follow, json_printer, lines, raise_unless_succeeded
    from hanbeon.cli.output import console
    from hanbeon.cli.source.source import open_source

    check_ids([job_id])
    async with open_source(database) as source:
        if log and json:
            record = await follow(source, job_id, Screen(lambda _: None, json_printer(source.zone)))
        elif json or not (log or console(stderr=True).is_terminal):
            record = await follow(source, job_id, lines(source.zone, json=json))
        else:
            with bar(console()) as screen:
                record = await follow(source, job_id, screen)
    raise_unless_succeeded(record)
    if not json and not log:
        typer.echo(record.result)


async def _print_log(database: str | None, job_id: str, attempt: int | None, *, json: bool) -> None:
    from hanbeon.cli.checks import check_ids
    from hanbeon.cli.job_follower import json_printer
    from hanbeon.cli.log_output import print_log, printer_on
    from hanbeon.cli.output import console
    from hanbeon.cli.source.source import open_source

    check_ids([job_id])
    async with open_source(database) as source:
        printer = json_printer(source.zone) if json else printer_on(console())
        await print_log(source, job_id, printer, attempt=attempt)


async def _read(database: str | None, job_id: str) -> tuple[JobDetail, dt.tzinfo, str | None]:
    from hanbeon.cli.checks import check_ids
    from hanbeon.cli.source.source import open_source

    check_ids([job_id])
    async with open_source(database) as source:
        return await source.detail(job_id), source.zone, source.dashboard


def _show(detail: JobDetail, zone: dt.tzinfo, dashboard: str | None) -> None:
    from hanbeon.cli.formats import brief, clock_time, iso
    from hanbeon.cli.output import print_facts, print_table, state_cell
    from hanbeon.settings import page_url

    job, attempts, dependencies = detail
    shown: list[tuple[str, Any]] = [("state", state_cell(job.state))]
    shown += [(name, getattr(job, name)) for name in ("id", "task", "queue", "role", "concurrency_key", "work_item")]
    shown += [
        ("priority", f"{job.priority}{' urgent' if job.urgent else ''}"),
        ("attempts", f"{job.fence}; {_retries(job)}"),
        ("timeout", brief(job.timeout_us / 1_000_000) if job.timeout_us else None),
        ("instance", str(job.locked_by) if job.locked_by is not None else None),
    ]
    shown += [
        (name, iso(getattr(job, name), zone))
        for name in ("created_at", "run_at", "started_at", "deadline_at", "stop_requested_at", "finished_at")
    ]
    names = ("args", "progress", "result", "failure_type", "error_message", "idempotency_key", "unique_key")
    shown += [(name, getattr(job, name)) for name in (*names, "replaced_by", "meta")]
    shown.append(("page", None if dashboard is None else page_url(dashboard, "jobs", job.id)))
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


def _retries(job: JobRecord) -> str:
    """Return the retries used. `retry_count` has the next one, too, as soon as the attempt before it has failed."""
    from hanbeon.domain.lifecycle import State

    most = job.policy.max_retries
    if job.retry_count and job.state in (State.PENDING, State.READY):
        return f"waits for retry {job.retry_count} of {most}"
    return f"{job.retry_count} of {most} retries used"
