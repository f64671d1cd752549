"""Chains as text: a table of their jobs, and the walk line by line."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from rich.text import Text

from hanbeon.cli.output import Cell
from hanbeon.quotation import plain
from hanbeon.surfaces.chains.schemas import Chain, ChainEvent, ChainJob, Run
from hanbeon.surfaces.chains.vocabulary import NO_OPERATION, ChainEventType, ChainState, Direction

CHAIN_HEADINGS = ("chain", "state", "direction", "jobs", "run", "library")
JOB_HEADINGS = ("job", "forward", "backward", "state", "returned")
RUN_HEADINGS = ("run", "direction", "steps", "started", "seconds")
_STATES = {
    ChainState.EMPTY: "dim",
    ChainState.READY: "green",
    ChainState.RUNNING: "bold yellow",
    ChainState.BLOCKED: "bold red",
}
_ARROWS = {Direction.FORWARD: "→", Direction.BACKWARD: "←"}
_TEXTS = {
    ChainEventType.STARTED: "run {run} started",
    ChainEventType.TURNED: "the walk turns back",
    ChainEventType.STEP_LOST: "job {job_id}: lost {losses} times in a row, tried again; skip goes on without it",
    ChainEventType.BLOCKED: "blocked at job {job_id}: resume tries it again, skip goes on without it",
    ChainEventType.RESUMED: "resumed at job {job_id}",
    ChainEventType.ABORTED: "abort requested",
    ChainEventType.ENDED: "run {run} ended {operation_direction}",
}


def chain_row(chain: Chain) -> list[Cell]:
    return [
        str(chain.queue_id),
        Text(chain.state.value, _STATES[chain.state]),
        chain.operation_direction.value,
        str(chain.job_number),
        str(chain.run),
        chain.queue_library,
    ]


def chain_facts(chain: Chain) -> list[tuple[str, Cell | None]]:
    return [
        ("chain", str(chain.queue_id)),
        ("state", Text(chain.state.value, _STATES[chain.state])),
        ("direction", chain.operation_direction.value),
        ("library", chain.queue_library),
        ("running job", str(chain.running_job)),
        ("run", str(chain.run)),
        ("options", _options(chain)),
        ("context", plain(msgspec.json.encode(chain.context).decode())),
    ]


def _options(chain: Chain) -> str:
    return f"retries {chain.retries}, on_unknown {chain.on_unknown}, on_backward_failure {chain.on_backward_failure}"


def job_row(job: ChainJob) -> list[Cell]:
    returned = "" if job.job_return == "UNINIT" else msgspec.json.encode(job.job_return).decode()
    return [str(job.job_id), job.forward_operation, job.backward_operation, _state(job.state), plain(returned)]


def run_row(run: Run) -> list[Cell]:
    direction = "" if run.operation_direction is None else run.operation_direction.value
    seconds = "" if run.duration is None else f"{run.duration:.3f}"
    return [str(run.run), direction, str(len(run.queue_return)), run.started_at, seconds]


def event_line(event: ChainEvent, jobs: Mapping[int, ChainJob]) -> Text:
    """One line of the walk: an arrow in its direction, the job, its operation and the state that it left."""
    details = event.details
    if event.type is not ChainEventType.STEP_ENDED:
        return Text(_TEXTS[event.type].format(run=event.run, **details), "dim")
    direction = Direction(details["direction"])
    job = jobs.get(details["job_id"])
    operation = ""
    if job is not None:
        operation = job.forward_operation if direction is Direction.FORWARD else job.backward_operation
        operation = "" if operation == NO_OPERATION else f" {operation}"
    return Text.assemble(f"{_ARROWS[direction]} job {details['job_id']}{operation}  ", _state(details["state"]))


def _state(state: str) -> Text:
    last = state.rpartition(", ")[2]
    style = {"SUCCESS": "green", "CANCELED": "magenta", "FAILED": "bold red", "TIMEOUT": "bold red"}.get(last, "dim")
    return Text(state, style)
