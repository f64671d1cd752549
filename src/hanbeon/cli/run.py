"""`hanbeon run`"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from hanbeon.cli.options import AppName, Arguments, Database, Json, Log, TaskName, Wait

if TYPE_CHECKING:
    from hanbeon.domain.job import JobRecord


def run(
    task: TaskName,
    arguments: Arguments = None,
    app: AppName = None,
    database: Database = None,
    wait: Wait = False,
    log: Log = False,
    json: Json = False,
) -> None:
    """Run a task by hand, now, and print the execution's id.

    It is refused, with exit code 4, while an execution of the task is unfinished, whoever asked for that one; `enqueue`
    makes jobs that may run beside each other. Its queue, timeout and retries are the task's. With --wait it exits with
    1 if the execution does not succeed.
    """
    from hanbeon.cli.arguments import parse_arguments
    from hanbeon.cli.event_loop import run as run_here

    run_here(_run(app, database, task, parse_arguments(arguments or []), wait=wait, log=log, json=json))


async def _run(
    target: str | None, database: str | None, task: str, args: dict[str, Any], *, wait: bool, log: bool, json: bool
) -> None:
    from hanbeon.cli.job_wait import goes_on, wait_for
    from hanbeon.cli.new_job import warn_without_worker
    from hanbeon.cli.output import print_json
    from hanbeon.cli.schedule.opening import with_tasks

    async with with_tasks(target, database) as (app, has_tasks):
        made = await app.schedules.run(task, args)

        async def shape(_: JobRecord) -> Any:
            return await app.schedules.execution(made.execution_id)

        with goes_on(made.execution_id):
            if not has_tasks:
                await warn_without_worker(app, task)
            if wait:
                await wait_for(app, made.execution_id, shape, log=log, json=json)
            elif json:
                print_json(made)
            else:
                typer.echo(made.execution_id)
