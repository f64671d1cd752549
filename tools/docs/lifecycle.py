"""The states, reasons and attempts of docs/jobs.md, generated from the table of transitions."""

from __future__ import annotations

from hanbeon.domain.lifecycle import LIFECYCLE, TERMINAL, AttemptStatus, State, sources_of
from tools.docs.markdown import code, table

_STATES = {
    State.PENDING: "waits for its time or for its dependencies",
    State.READY: "may be claimed by any worker that knows its task",
    State.RUNNING: "held by one worker, under a lease and a fence",
    State.SUCCEEDED: "its task returned, or a user marked it as done; the result is kept",
    State.FAILED: "its last attempt failed, or a dependency failed and `on_dependency_failure` is `fail`",
    State.CANCELLED: "it was cancelled, or another job took its unique key",
}
_ATTEMPTS = {
    AttemptStatus.RUNNING: "in progress; it is the job's own row, and no attempt row exists yet",
    AttemptStatus.COMPLETED: "the task returned",
    AttemptStatus.FAILED: "the task raised, or its result could not be kept",
    AttemptStatus.TIMEOUT: "its deadline passed; uses a retry",
    AttemptStatus.CANCELLED: "the job was cancelled while it ran",
    AttemptStatus.LOST: "its lease expired and the outcome is unknown; uses a retry unless it is the first in a row",
    AttemptStatus.RELEASED: "released by a worker that stops, or postponed by the task; uses no retry",
}


_SECTIONS = """
## States

{states}
```mermaid
{diagram}```

## Reasons

Every transition of a job has a *reason*. The reason is also the `type` of the event and the name in the log.
The events of a job explain its current state.

{reasons}
A job that is cancelled while it runs stays `running` until its work has stopped (`stop_requested`, then
`stopped`). `App.retry()` requeues a failed or cancelled job with its full number of retries (`requeued`).

A job that failed or was cancelled, and whose work a person has done or found needless, is marked as done by
`App.mark_done(job, "why")`, `hanbeon mark-done` or its page (`marked_done`): it has succeeded, with the result
that is given, and jobs that depend on it go on. Who did it and why is kept with the job and its events. It counts
as a success that took no time, its failed attempts stay, and dependents that have failed with it are retried by
hand. Jobs of chains, workflows and exports are moved through those.

## Attempts

An attempt is one execution of a job. Its number is the fence of its claim, so it only grows, also across
manual retries. Its row is written once, in the transaction that ends it.

{attempts}"""


def render() -> str:
    states = ((f"`{state}`", _STATES[state], "yes" if state in TERMINAL else "") for state in State)
    reasons = (
        (
            f"`{reason}`",
            code(sources_of(reason)) if move.sources else "(new)",
            f"`{move.target}`" if move.target else "(stays)",
            move.meaning,
        )
        for reason, move in LIFECYCLE.items()
    )
    attempts = ((f"`{status}`", _ATTEMPTS[status]) for status in AttemptStatus)
    return _SECTIONS.format(
        states=table(("state", "meaning", "ends the job"), states),
        diagram=_diagram(),
        reasons=table(("reason", "from", "to", "meaning"), reasons),
        attempts=table(("status", "meaning"), attempts),
    )


def _diagram() -> str:
    arrows: dict[tuple[str, str], list[str]] = {}
    for reason, move in LIFECYCLE.items():
        for source in sources_of(reason) or ("[*]",):
            arrows.setdefault((source, move.target or source), []).append(reason)
    lines = [f"  {source} --> {target}: {' / '.join(reasons)}\n" for (source, target), reasons in arrows.items()]
    return (
        "stateDiagram-v2\n" + "".join(lines) + "".join(f"  {state} --> [*]\n" for state in State if state in TERMINAL)
    )
