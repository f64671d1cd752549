"""Drains a full queue: runs workers until every job has run and the database has recorded it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from bench.cpu_meter import CpuMeter
from bench.processes import ProcessGroup, ProgramError
from bench.rig import Rig
from bench.scenario import Measurement
from bench.servers import connected, execute
from bench.subjects import Store, Subject

_TIMEOUT = 180.0
_DURABLE_TIMEOUT = 30.0
_POLL_SECONDS = 0.005


def drain(
    rig: Rig,
    subject: Subject,
    url: str,
    count: int,
    workers: int,
    measure: str,
    *,
    some: bool = False,
    on_poll: Callable[[ProcessGroup], None] = ProcessGroup.check,
    settings: Mapping[str, str] = {},
) -> Measurement:
    """Run the `count` jobs queued at `url`; with `some`, only the first `count` of more.

    `rate` is measured from the first execution to the last, `durable_rate` from the first until the subject's own
    tables record every job as finished. Neither includes the start of the interpreters. `worker_us` and `server_us` are
    processor time for each job. `on_poll` is called meanwhile; `settings` are environment variables of the workers.
    """
    quiet = rig.quiet()
    rig.marks.clear()
    with rig.workers(subject, url, workers, settings) as group:
        meter = CpuMeter(group.pids, rig.servers.pid(subject.store))

        def poll() -> None:
            on_poll(group)
            if rig.marks.count():
                meter.begin()

        done = rig.marks.wait(count, _TIMEOUT, poll)
        if some and not done:
            raise ProgramError(f"{rig.marks.count()} of {count} jobs ran in {_TIMEOUT:.0f} s")
        recorded_at = _wait_finished(subject, url) if done and not some else None
        used = meter.per_job(count)
        if recorded_at is None and not some:
            time.sleep(0.2)  # Time for a second execution of a job to show.
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
        **used,
    }
    if recorded_at is not None:
        values["durable_rate"] = count / (recorded_at - instants[0]) * 1e9
    return Measurement(measure, values, quiet)


def analyze(subject: Subject, url: str) -> None:
    """Give the planner statistics, as a table in production has."""
    if subject.store is Store.POSTGRES:
        execute(url, "VACUUM ANALYZE")


def _wait_finished(subject: Subject, url: str) -> int | None:
    """Return the nanosecond at which its tables show no unfinished job; None if they cannot or do not."""
    if subject.unfinished is None:
        return None
    until = time.monotonic() + _DURABLE_TIMEOUT
    with connected(url) as query:
        while time.monotonic() < until:
            left = query(subject.unfinished)
            at = time.time_ns()
            if left == 0:
                return at
            time.sleep(_POLL_SECONDS)
    return None
