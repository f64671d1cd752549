"""Applies one action to several jobs: a job that refuses it does not stop the others."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

import typer

from hanbeon.cli import exits
from hanbeon.cli.arguments import whole_ids
from hanbeon.cli.event_loop import run
from hanbeon.cli.installation import open_installation
from hanbeon.cli.output import print_json
from hanbeon.domain.lifecycle import State
from hanbeon.errors import HanbeonError, Kind
from hanbeon.surfaces.installation import Installation

Action = Callable[[Installation, str], Awaitable[State]]


class Outcome(NamedTuple):
    """The outcome for one job: its new state, or the error."""

    id: str
    state: State | None
    error: HanbeonError | None = None


def for_each_job(database: str | None, ids: Sequence[str], action: Action, *, json: bool) -> None:
    """Apply the action to each job, print the outcomes, and exit with the code of the first error."""
    outcomes = run(_for_each_job(database, ids, action))
    if json:
        print_json(
            {
                "jobs": [{"id": each.id, "state": each.state} for each in outcomes if each.error is None],
                "errors": [
                    {"id": each.id, "code": each.error.code, "message": str(each.error)}
                    | ({"rule": each.error.rule.serialize()} if each.error.rule is not None else {})
                    for each in outcomes
                    if each.error
                ],
            }
        )
    for each in outcomes:
        if each.error is not None:
            typer.echo(f"error: {each.error}", err=True)
        elif not json:
            typer.echo(f"{each.id} {each.state}")
    errors = [each.error for each in outcomes if each.error is not None]
    if errors:
        raise typer.Exit(exits.EXIT_CODES[errors[0].kind])


async def _for_each_job(database: str | None, ids: Sequence[str], action: Action) -> list[Outcome]:
    outcomes = []
    async with open_installation(database) as installation:
        for job_id in await whole_ids(installation, ids):
            try:
                outcomes.append(Outcome(job_id, await action(installation, job_id)))
            except HanbeonError as error:
                if error.kind not in (Kind.NOT_FOUND, Kind.CONFLICT):
                    raise
                outcomes.append(Outcome(job_id, None, error))
    return outcomes
