"""Audit of a whole database: reads all of it and reports every row that contradicts a guarantee."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import chain, groupby
from typing import Any, NamedTuple

import msgspec

from hanbeon.domain.audit.case import Case, audit_case, audit_missing
from hanbeon.domain.audit.findings import Code, Finding, FindingCode, Severity
from hanbeon.domain.audit.history import AuditedBatch, Bounds, History
from hanbeon.domain.audit.sweep import Intervals, SlotChange, Timeline, sweep
from hanbeon.domain.statistics import all_states
from hanbeon.domain.tally import Stock
from hanbeon.store.operations import audit, tallies
from hanbeon.store.store import Store
from hanbeon.store.tx import Tx

_MISSED = "batches of its events are not in its index: readers of the queue miss them"
_MISLEADING = "entries of its index name no folded batch with its events"
# If a whole index is lost, the first rows show it as well as all.
_ROWS_SHOWN = 10


class QueueEventIndexes:
    """Collects the inconsistencies: `look_at` all batches, then `finish`."""

    def __init__(self) -> None:
        self._wrong: dict[tuple[str, str], tuple[int, list[dict[str, Any]]]] = {}

    async def look_at(self, tx: Tx, batches: Sequence[AuditedBatch]) -> None:
        self._add(_MISSED, await audit.unindexed(tx, batches))

    async def finish(self, tx: Tx) -> list[Finding]:
        self._add(_MISLEADING, await audit.misleading(tx))
        return list(self._findings())

    def _add(self, what: str, rows: Iterable[dict[str, Any]]) -> None:
        for row in rows:
            number, shown = self._wrong.get((row["queue"], what), (0, []))
            if number < _ROWS_SHOWN:
                shown.append(row)
            self._wrong[row["queue"], what] = (number + 1, shown)

    def _findings(self) -> Iterator[Finding]:
        for (queue, what), (number, shown) in sorted(self._wrong.items()):
            yield Finding(code=Code.BROKEN_INDEX, message=f"{number} {what}", queue=queue, rows=tuple(shown))


_NUMBERED_AT_ONCE = 1000
_INSTANTS = frozenset(
    {"at", "created_at", "run_at", "started_at", "ended_at", "finished_at", "locked_until", "fire_at", "until"}
)


class Audited(NamedTuple):
    """The audit of one surface: how many rows of each kind it checked, and its findings."""

    counts: Mapping[str, int]
    findings: list[Finding]


class SurfaceAudit(NamedTuple):
    """Audits the tables of a surface in a transaction that began at that instant; the codes of its own findings."""

    run: Callable[[Tx, int], Awaitable[Audited]]
    codes: Sequence[FindingCode]


class VerifyReport(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers of rows that an audit checked, and its findings: errors first, in the order of the codes.

    `counts` has the rows of the surfaces.
    """

    at: int
    jobs: int
    attempts: int
    events: int
    first_event: int | None
    last_event: int
    counts: Mapping[str, int]
    pruned: bool
    findings: tuple[Finding, ...]

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(each for each in self.findings if each.severity is Severity.ERROR)

    @property
    def sound(self) -> bool:
        """True if no guarantee is broken. Warnings do not count."""
        return not self.errors


async def audit_database(store: Store, surfaces: Sequence[SurfaceAudit]) -> VerifyReport:
    """Audit the engine's tables and those of the surfaces, as they are at one instant.

    Writes nothing, except that it numbers events that have no public number yet.

    Exact on a quiet database. On a live one it reads one consistent snapshot, in which every job stands together with
    the events of its moves; what moves meanwhile is left for the next time. Memory grows with the jobs that have
    events and the attempts of limited queues, never with the number of events.
    """
    while await store.number_events(_NUMBERED_AT_ONCE) == _NUMBERED_AT_ONCE:
        pass
    return await store.read(lambda tx: _audit(tx, surfaces))


async def _audit(tx: Tx, surfaces: Sequence[SurfaceAudit]) -> VerifyReport:
    bounds = await audit.bounds(tx)
    history = History(bounds)
    indexes = QueueEventIndexes()
    async for batches in audit.batches(tx):
        for batch in batches:
            history.follow(batch)
        await indexes.look_at(tx, batches)
    history.finish()
    timelines = _timelines(history, await audit.current_changes(tx))
    jobs = _Jobs(bounds, timelines)
    after = 0
    while page := await audit.cases(tx, after, history.traces):
        for case in page:
            jobs.look_at(case)
        after = page[-1].job.seq
    parts = [await each.run(tx, bounds.now) for each in surfaces]
    order = {code: place for place, code in enumerate(chain(Code, *(each.codes for each in surfaces)))}
    findings = [
        *history.findings,
        *jobs.findings,
        *(finding for job_id, trace in history.traces.items() for finding in audit_missing(job_id, trace)),
        *_orphans(await audit.orphans(tx)),
        *_doubled_keys(await audit.doubled_keys(tx)),
        *_broken_logs(await audit.broken_logs(tx)),
        *_broken_dispatches(await audit.broken_dispatches(tx)),
        *_tallies(await tallies.stocks(tx), await tallies.recount(tx)),
        *await indexes.finish(tx),
        *(finding for queue in jobs.intervals for finding in sweep(queue, timelines[queue], jobs.intervals[queue])),
        *(finding for part in parts for finding in part.findings),
    ]
    return VerifyReport(
        at=bounds.now,
        jobs=jobs.jobs,
        attempts=jobs.attempts,
        events=history.events,
        counts={name: number for part in parts for name, number in part.counts.items()},
        first_event=bounds.first_id,
        last_event=bounds.last_id,
        pruned=not bounds.whole,
        findings=tuple(
            sorted(findings, key=lambda finding: (finding.severity is not Severity.ERROR, order[finding.code]))
        ),
    )


def _timelines(history: History, current: dict[str, SlotChange]) -> dict[str, Timeline]:
    """Return the limits over time of each queue that ever had any. Pruned changes are known from the queue's row."""
    whole = history.bounds.whole
    changes = history.changes if whole else {name: [change] for name, change in current.items()} | history.changes
    timelines = {name: Timeline(each, whole=whole) for name, each in changes.items()}
    return {name: timeline for name, timeline in timelines.items() if timeline.matters}


class _Jobs:
    """Checks jobs one by one, and records when those of limited queues ran."""

    def __init__(self, bounds: Bounds, timelines: dict[str, Timeline]) -> None:
        self._bounds = bounds
        self.intervals = {queue: Intervals() for queue in timelines}
        self.findings: list[Finding] = []
        self.jobs = 0
        self.attempts = 0

    def look_at(self, case: Case) -> None:
        self.jobs += 1
        self.attempts += len(case.attempts) + (case.held is not None)
        self.findings += audit_case(case, self._bounds)
        job = case.job
        if job.queue is None or (intervals := self.intervals.get(job.queue)) is None:
            return
        for each in case.attempts:
            start = case.slot_from(each.attempt, each.started_at)
            intervals.add(job.id, each.attempt, job.role, job.key, start, each.ended_at)
        if case.held is not None and job.started_at is not None:
            intervals.add(job.id, case.held, job.role, job.key, case.slot_from(case.held, job.started_at))
        elif case.waits_for_worker and job.dispatched_at is not None:
            intervals.add(job.id, job.fence, job.role, job.key, job.dispatched_at)


def _orphans(rows: list[dict[str, Any]]) -> Iterator[Finding]:
    for seq, group in groupby(rows, key=lambda row: row["job"]):
        found = tuple(group)
        message = (
            f"job #{seq} is gone, but {len(found)} rows of its id, attempts, dependencies, logs and traces are left"
        )
        yield Finding(code=Code.LOST_JOB, message=message, rows=found)


def _broken_dispatches(rows: list[dict[str, Any]]) -> Iterator[Finding]:
    for row in rows:
        what = f"the request of attempt {row['fence']} to its stream workers"
        message = f"{what} is gone, though it goes on" if row["kind"] == "missing" else f"{what} outlives it"
        yield Finding(code=Code.BROKEN_DISPATCH, message=message, job_id=row["job_id"], rows=(row,))


def _doubled_keys(rows: list[dict[str, Any]]) -> Iterator[Finding]:
    for (kind, key), group in groupby(rows, key=lambda row: (row["kind"], row["key"])):
        found = tuple(group)
        message = f"{kind} {key!r} is held by {len(found)} jobs"
        yield Finding(code=Code.DOUBLED_JOB, message=message, job_id=found[0]["job_id"], rows=found)


def _broken_logs(rows: list[dict[str, Any]]) -> Iterator[Finding]:
    for job_id, group in groupby(rows, key=lambda row: row["job_id"]):
        found = tuple(group)
        message = f"{len(found)} rows of its log belong to no attempt of it, or repeat lines"
        yield Finding(code=Code.BROKEN_LOG, message=message, job_id=job_id, rows=found)


def _tallies(stored: dict[str, Stock], found: dict[str, Stock]) -> Iterator[Finding]:
    for queue in sorted(stored.keys() | found.keys()):
        tally, count = stored.get(queue, Stock()), found.get(queue, Stock())
        if all_states(tally) != all_states(count) or tally.ran != count.ran:
            rows = tuple(
                {"from": source, **msgspec.to_builtins(all_states(each)), "ran_us": each.ran}
                for source, each in (("tallies", tally), ("jobs", count))
            )
            yield Finding(
                code=Code.TALLY_MISMATCH, message="its tallies are not those of its jobs", queue=queue, rows=rows
            )


def render(report: VerifyReport, *, zone: tzinfo = UTC, most: int | None = 20) -> str:
    """Format the report: a verdict, then every finding with its rows, at most `most` of each code (None: all)."""
    lines = [_verdict(report)]
    for code, group in groupby(report.findings, key=lambda finding: finding.code):
        findings = list(group)
        lines += ["", f"{findings[0].severity} {code} ({len(findings)}): {code.meaning}"]
        for finding in findings[:most]:
            lines.append(f"  {_subject(finding)}{finding.message}")
            lines += [f"    {_row(row, zone)}" for row in finding.rows]
        if most is not None and len(findings) > most:
            lines.append(f"  … and {len(findings) - most} more")
    return "\n".join(lines)


def _verdict(report: VerifyReport) -> str:
    seen = f"{report.jobs:,} jobs, {report.attempts:,} attempts, {report.events:,} events"
    seen += "".join(f", {number:,} {name.replace('_', ' ')}" for name, number in report.counts.items() if number)
    if report.pruned:
        seen += f" (history before event {report.first_event or report.last_event + 1} was pruned)"
    counted = Counter(finding.severity for finding in report.findings)
    found = ", ".join(f"{counted[each]:,} {each}{'s' * (counted[each] != 1)}" for each in Severity if counted[each])
    return f"{'sound' if report.sound else 'NOT SOUND'}: {found + ' in ' if found else ''}{seen}"


def _subject(finding: Finding) -> str:
    queue = f" of queue {finding.queue!r}" if finding.queue else ""
    if finding.schedule_id:
        return f"schedule {finding.schedule_id}{f', execution {finding.job_id}' if finding.job_id else ''}: "
    if finding.job_id:
        return f"job {finding.job_id}{queue}: "
    return f"queue {finding.queue!r}: " if finding.queue else ""


def _row(row: dict[str, Any], zone: tzinfo) -> str:
    return " ".join(f"{name}={_value(name, value, zone)}" for name, value in row.items() if value is not None)


def _value(name: str, value: Any, zone: tzinfo) -> str:
    if name in _INSTANTS and isinstance(value, int):
        # Counted from the epoch as whole numbers: a float of seconds is off by a microsecond at times.
        instant = datetime.fromtimestamp(0, UTC) + timedelta(microseconds=value)
        return instant.astimezone(zone).isoformat(timespec="microseconds")
    return str(value)
