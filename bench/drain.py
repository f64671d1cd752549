"""The drain of a filled queue: started workers until every job has run, and until the database knows it."""

from __future__ import annotations

import time
from collections.abc import Callable

from bench.processes import Crew, ProgramError
from bench.rig import Rig
from bench.scenario import Measurement
from bench.servers import asking, execute
from bench.subjects import Store, Subject

_TIMEOUT = 180.0
_DURABLE_TIMEOUT = 30.0
_LOOK = 0.005


def drain(
    rig: Rig,
    subject: Subject,
    url: str,
    count: int,
    workers: int,
    measure: str,
    *,
    some: bool = False,
    look: Callable[[Crew], None] = Crew.check,
) -> Measurement:
    """Work off the `count` jobs that are queued at `url`, or only the first ones, if they are but `some`.

    `rate` counts from the first execution to the last one, `durable_rate` from the first until the subject's own
    tables call every job finished. The start of the interpreters is in neither. `look` is called meanwhile.
    """
    quiet = rig.quiet()
    rig.marks.clear()
    with rig.workers(subject, url, workers) as crew:
        done = rig.marks.wait(count, _TIMEOUT, lambda: look(crew))
        if some and not done:
            raise ProgramError(f"{rig.marks.count()} of {count} jobs ran in {_TIMEOUT:.0f} s")
        known_at = _wait_finished(subject, url) if done and not some else None
        if known_at is None and not some:
            time.sleep(0.2)  # Whoever runs a job twice gets the time to show it.
    marks = rig.marks.read()
    if len(marks) < 2:
        raise ProgramError(f"{len(marks)} of {count} jobs ran in {_TIMEOUT:.0f} s")
    instants = sorted(at for _, at in marks)[:count]
    values = {
        "jobs": count,
        "ran": len(marks),
        "duplicates": len(marks) - len({x for x, _ in marks}),
        "seconds": (instants[-1] - instants[0]) / 1e9,
        "rate": (len(instants) - 1) / max(1, instants[-1] - instants[0]) * 1e9,
    }
    if known_at is not None:
        values["durable_rate"] = count / (known_at - instants[0]) * 1e9
    return Measurement(measure, values, quiet)


def analyze(subject: Subject, url: str) -> None:
    """Statistics for the planner, such as a table in production has."""
    if subject.store is Store.POSTGRES:
        execute(url, "VACUUM ANALYZE")


def _wait_finished(subject: Subject, url: str) -> int | None:
    """The nanosecond at which its tables say that nothing is left; None if they cannot or do not."""
    if subject.unfinished is None:
        return None
    until = time.monotonic() + _DURABLE_TIMEOUT
    with asking(url) as ask:
        while time.monotonic() < until:
            left = ask(subject.unfinished)
            at = time.time_ns()
            if left == 0:
                return at
            time.sleep(_LOOK)
    return None
