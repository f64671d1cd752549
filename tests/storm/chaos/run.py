"""A run: one phase after the other, each with its load, and judged before the next begins."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import AsyncIterator, Sequence

import msgspec

from bench.numbers import percentile
from hanbeon.surfaces.verify import verify
from tests.storm.chaos.load import KINDS, Load
from tests.storm.chaos.phases import Phase
from tests.storm.chaos.site import LEASE, Site
from tests.storm.moments import rows_of, until
from tests.storm.sizes import TIMEOUT

RECOVERY_SECONDS = LEASE + 2.0
_SURFACES_SHARE = 100
"""One chain and one workflow for so many jobs of the load."""
_GROSS, _SHOWN = 2.0, 5
_BY_THE_CLOCK = ("overlapping_claims", "limit_exceeded", "broken_dependency", "overlapping_executions")
"""Findings that the audit makes by the database's clock, and that mean nothing once that was set back."""
_RECOVERED = """
SELECT i.pid, a.started_at, a.ended_at, a.status, j.task
FROM hanbeon.attempt AS a JOIN hanbeon.instance AS i ON i.id = a.instance JOIN hanbeon.jobs AS j ON j.seq = a.job
WHERE a.job > $1 AND a.status IN ('lost', 'released') AND j.dispatched_at IS NULL
"""


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """The results of one phase. Rates are jobs in a second, `cpu` µs of processor time for each; 0 if not measured."""

    phase: str
    store: str
    jobs: int
    seconds: float
    faults: int
    lost: list[str]
    doubled: list[str]
    findings: list[str]
    orphans: int
    slowest: list[str]
    recovery_p50: float
    recovery_p99: float
    rate_before: float
    rate_after: float
    cpu_before: float
    cpu_after: float
    note: str = ""

    @property
    def is_sound(self) -> bool:
        return not (self.lost or self.doubled or self.findings)

    @property
    def is_slower(self) -> bool:
        """True if it was far slower afterwards, by the clock and by processor time: no neighbour is to blame."""
        return self.rate_after * _GROSS < self.rate_before and self.cpu_after > self.cpu_before * _GROSS


async def run(site: Site, phases: Sequence[Phase], jobs: int, windows: int = 0) -> AsyncIterator[Result]:
    """Yield the result of each phase, which has this many jobs; `windows` are measured between two of them."""
    if windows:
        await site.measure(windows)
    for phase in phases:
        yield await _run_phase(site, phase, jobs, windows)


async def _run_phase(site: Site, phase: Phase, jobs: int, windows: int) -> Result:
    since, before, began = await site.last_seq(), site.throughput, time.monotonic()
    site.faults, site.gone = 0, []
    site.load = Load(site.app, site.rng, site.journal, jobs, KINDS)
    await site.load.begin()
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(site.load.run())
            group.create_task(site.surfaces.run(site.load, jobs // _SURFACES_SHARE + 1))
            note = await phase.strike(site)
    except BaseException as error:
        error.add_note(f"in the phase {phase.name}")
        raise
    await site.heal()
    await site.surfaces.settle()
    seconds = time.monotonic() - began
    site.pace = site.load.pace
    verdict = await site.load.work.judge(site.app, since)
    verdict.add(await site.surfaces.judge(fires=site.clock != "back"))
    report = await until("an audit", lambda: verify(site.app.store), TIMEOUT)
    tolerated = _BY_THE_CLOCK if site.clock == "back" else ()
    recoveries = await _recoveries(site, since)
    waits = [seconds for seconds, _ in recoveries] or [0.0]
    after = await site.measure(windows) if windows else site.throughput
    site.assert_healthy()
    return Result(
        phase=phase.name,
        store="postgres" if site.is_postgres else "sqlite",
        jobs=len(site.load.work.requests),
        seconds=seconds,
        faults=site.faults,
        lost=verdict.lost,
        doubled=verdict.doubled,
        findings=[f"{each.code} {each.message}" for each in report.errors if each.code not in tolerated],
        orphans=len(recoveries),
        slowest=[f"{seconds:.1f} s: {what}" for seconds, what in recoveries[-_SHOWN:]],
        recovery_p50=statistics.median(waits),
        recovery_p99=percentile(waits, 0.99),
        rate_before=before.rate,
        rate_after=after.rate,
        cpu_before=before.cpu,
        cpu_after=after.cpu,
        note=note or "",
    )


async def _recoveries(site: Site, since: int) -> list[tuple[float, str]]:
    """Return the seconds from the end of an instance until each of its jobs was taken over, in their order."""
    if site.clock != "steady":
        return []
    rows = await rows_of(site.app.store, _RECOVERED, since)
    return sorted(
        ((row["ended_at"] - gone.at_us) / 1e6, f"{row['task']} {row['status']}, pid {gone.pid}")
        for row in rows
        for gone in site.gone
        if gone.pid == row["pid"] and row["started_at"] <= gone.at_us < row["ended_at"]
    )
