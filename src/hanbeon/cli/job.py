"""`hanbeon job` and `hanbeon explain`"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from hanbeon.cli.options import Database, JobId, Json
from hanbeon.rule import Rule

if TYPE_CHECKING:
    from hanbeon.surfaces.engine.schemas import EngineAttempt, EngineJobDetail
    from hanbeon.surfaces.installation import Installation
    from hanbeon.surfaces.schema import Explanation


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
    from hanbeon.cli.output import print_json
    from hanbeon.errors import InvalidInput

    if attempt is not None and (follow or not log):
        raise InvalidInput(Rule("requires_log"), field="attempt")
    if follow:
        run(_follow(database, id, log=log, json=json))
        return
    if log:
        run(_print_log(database, id, attempt, json=json))
        return
    detail, dashboard = run(_read(database, id))
    if json:
        print_json(detail)
    else:
        _show(detail, dashboard)


async def _follow(database: str | None, job_id: str, *, log: bool, json: bool) -> None:
    from hanbeon.cli.arguments import whole_ids
    from hanbeon.cli.installation import open_installation
    from hanbeon.cli.job_follower import Screen, bar, follow, lines, print_as_json, raise_unless_succeeded
    from hanbeon.cli.output import console, json_text

    async with open_installation(database) as installation:
        (job_id,) = await whole_ids(installation, [job_id])
        if log and json:
            job = await follow(installation, job_id, Screen(lambda _: None, print_as_json))
        elif json or not (log or console(stderr=True).is_terminal):
            job = await follow(installation, job_id, lines(json=json))
        else:
            with bar(console()) as screen:
                job = await follow(installation, job_id, screen)
    raise_unless_succeeded(job)
    if not json and not log:
        typer.echo(json_text(job.result) or "null")


async def _print_log(database: str | None, job_id: str, attempt: int | None, *, json: bool) -> None:
    from hanbeon.cli.arguments import whole_ids
    from hanbeon.cli.installation import open_installation
    from hanbeon.cli.job_follower import print_as_json, print_log, printer_on
    from hanbeon.cli.output import console

    async with open_installation(database) as installation:
        (job_id,) = await whole_ids(installation, [job_id])
        await print_log(installation, job_id, print_as_json if json else printer_on(console()), attempt=attempt)


async def _read(database: str | None, job_id: str) -> tuple[EngineJobDetail, str | None]:
    from hanbeon.cli.arguments import whole_ids
    from hanbeon.cli.installation import dashboard_of, open_installation

    async with open_installation(database) as installation:
        (job_id,) = await whole_ids(installation, [job_id])
        return await installation.engine.job(job_id), dashboard_of(installation)


def _show(job: EngineJobDetail, dashboard: str | None) -> None:
    from hanbeon.cli.output import brief, json_text, print_facts, print_lines, print_table, state_cell
    from hanbeon.domain.lifecycle import AttemptStatus
    from hanbeon.settings import page_url

    shown: list[tuple[str, Any]] = [("state", state_cell(job.state))]
    shown += [(name, getattr(job, name)) for name in ("id", "task", "queue", "role", "concurrency_key", "work_item")]
    shown += [
        ("priority", f"{job.priority}{' urgent' if job.urgent else ''}"),
        ("attempts", f"{job.attempt}; {_retries(job)}"),
        ("timeout", brief(job.timeout_ms / 1_000) if job.timeout_ms else None),
        ("expires_at", job.expires_at),
        ("instance", str(job.instance_id) if job.instance_id is not None else None),
    ]
    instants = ("created_at", "run_at", "started_at", "deadline_at", "stop_requested_at", "finished_at")
    shown += [(name, getattr(job, name)) for name in instants]
    shown += [(name, json_text(getattr(job, name))) for name in ("args", "progress", "result")]
    names = ("failure_type", "error_message", "idempotency_key", "unique_key", "replaced_by")
    shown += [(name, getattr(job, name)) for name in names]
    shown.append(("meta", json_text(job.meta)))
    shown.append(("page", None if dashboard is None else page_url(dashboard, "jobs", job.id)))
    print_facts(shown)
    if job.depends_on:
        print()
        print_table(("waits for", "state"), [(each.id, state_cell(each.state)) for each in job.depends_on])
    ended = [each for each in job.attempts if each.status is not AttemptStatus.RUNNING]
    if ended:
        print()
        headings = ("attempt", "status", "instance", "started", "took", "message")
        print_table(headings, [_attempt_row(each) for each in ended], right=("attempt", "took"))
    for each in reversed(ended):
        if each.failure is not None and each.failure.traceback is not None:
            print(f"\nAttempt {each.attempt} raised {each.failure.exception}:")
            print_lines(each.failure.traceback)
            break


def _attempt_row(attempt: EngineAttempt) -> list[str]:
    from hanbeon.cli.output import brief, seconds_between, to_seconds

    return [
        str(attempt.attempt),
        attempt.status.value,
        "" if attempt.instance_id is None else str(attempt.instance_id),
        to_seconds(attempt.started_at),
        brief(seconds_between(attempt.started_at, attempt.ended_at)),
        f"{attempt.failure_type}: {attempt.error_message}" if attempt.failure_type else "",
    ]


def _retries(job: EngineJobDetail) -> str:
    """Return the retries used. `retry_count` has the next one, too, as soon as the attempt before it has failed."""
    from hanbeon.domain.lifecycle import State

    most = job.max_retries
    if job.retry_count and job.state in (State.PENDING, State.READY):
        return f"waits for retry {job.retry_count} of {most}"
    return f"{job.retry_count} of {most} retries used"


def explain(id: JobId, database: Database = None, json: Json = False) -> None:
    """Explain why a job is not running, or why it failed.

    For a waiting job: its dependencies, time, queue, slots and workers. For a job that failed or was cancelled: the
    error of its last attempt, the retries it used, when, and what to do.
    """
    from hanbeon.cli.arguments import whole_ids
    from hanbeon.cli.installation import ask
    from hanbeon.cli.output import print_json, print_lines
    from hanbeon.quotation import plain

    async def read(installation: Installation) -> Explanation:
        (job_id,) = await whole_ids(installation, [id])
        return await installation.engine.explain(job_id)

    explanation = ask(database, read)
    if json:
        print_json(explanation)
        return
    for reason in explanation.reasons:
        typer.echo(plain(reason["text"]))
        if traceback := reason.get("traceback"):
            print()
            print_lines(traceback)
