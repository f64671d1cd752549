"""`hanbeon run`"""

from __future__ import annotations

from typing import Any

import typer

from hanbeon.cli.options import AppName, Arguments, Database, Json, Log, TaskName, Wait


def run(
    task: TaskName,
    arguments: Arguments = None,
    app: AppName = None,
    database: Database = None,
    wait: Wait = False,
    log: Log = False,
    json: Json = False,
) -> None:
    """Run a task once, now, and print the execution's id.

    Fails with exit code 4 while another execution of the task is unfinished, scheduled or manual; `enqueue` creates
    jobs that may run side by side. The task's queue, timeout and retries apply. With --wait, the exit code is 1 if the
    execution does not succeed.
    """
    from hanbeon.cli.arguments import parse_arguments
    from hanbeon.cli.event_loop import run as run_coroutine

    run_coroutine(_run(app, database, task, parse_arguments(arguments or []), wait=wait, log=log, json=json))


async def _run(
    target: str | None, database: str | None, task: str, args: dict[str, Any], *, wait: bool, log: bool, json: bool
) -> None:
    from hanbeon.cli.installation import open_with_tasks
    from hanbeon.cli.job_wait import hint_on_interrupt, wait_for
    from hanbeon.cli.new_job import warn_without_worker
    from hanbeon.cli.output import print_json

    async with open_with_tasks(target, database) as (installation, has_tasks):
        created = await installation.schedules.run(task, args)

        async def shape(_: object) -> Any:
            return await installation.schedules.execution(created.execution_id)

        with hint_on_interrupt(created.execution_id):
            if not has_tasks:
                await warn_without_worker(installation, task)
            if wait:
                await wait_for(installation, created.execution_id, log=log, json=json, shape=shape)
            elif json:
                print_json(created)
            else:
                typer.echo(created.execution_id)
