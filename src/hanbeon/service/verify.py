"""Audit of a whole database or of a part: reads it and reports every row that contradicts a guarantee."""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from functools import partial
from itertools import chain, groupby
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from hanbeon.cleanup import to_the_end
from hanbeon.domain.audit.findings import Code, EngineInvariant, Finding, FindingCode, Findings, Invariant, Severity
from hanbeon.service import table_audit
from hanbeon.service.auditor import Auditor, AuditStopped, Checkpoint, Unit, UnitRun, Watch
from hanbeon.service.work_file import WorkFile
from hanbeon.store.operations.audit import WHOLE, Extent, Window
from hanbeon.store.store import Store
from hanbeon.store.tx import Tx

_INSTANTS = frozenset(
    {"at", "created_at", "run_at", "started_at", "ended_at", "finished_at", "locked_until", "fire_at", "until"}
)


class Audited(NamedTuple):
    """The audit of one surface: how many rows of each kind it checked, and its findings."""

    counts: Mapping[str, int]
    findings: list[Finding]


class SurfaceAudit(NamedTuple):
    """Audits the tables of a surface in a transaction that began at that instant; its own invariants.

    `queue`: the queue that all its jobs are in, so that an audit of that queue includes it.
    """

    run: Callable[[Tx, int], Awaitable[Audited]]
    invariants: Sequence[Invariant]
    queue: str | None = None


class VerifyReport(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers of rows that an audit checked, and its findings: errors first, in the order of the codes.

    `counts` has the rows of the surfaces. `read_at` are the instants of the views of the database: more than one if the
    audit was resumed. `unchecked`: the codes that an audit of a part cannot find.
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
    omitted: Mapping[str, int] = msgspec.field(default_factory=dict)
    """How many further findings of each code there are."""
    read_at: tuple[int, ...] = ()
    queue: str | None = None
    since: int | None = None
    until: int | None = None
    unchecked: tuple[FindingCode, ...] = ()

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(each for each in self.findings if each.severity is Severity.ERROR)

    @property
    def sound(self) -> bool:
        """True if no guarantee is broken. Warnings do not count."""
        return not self.errors


async def audit_database(
    store: Store,
    surfaces: Sequence[SurfaceAudit],
    window: Window = WHOLE,
    *,
    resume: Path | None = None,
    watch: Watch | None = None,
) -> VerifyReport:
    """Audit the engine's tables and those of the surfaces, or the part of them in the window, as of one instant.

    Writes nothing to the database. Exact on a quiet one; on a live one it reads one consistent snapshot, in which every
    job stands together with the events of its moves. What does not fit into memory is in a work file: `resume` names
    it, and an audit that was interrupted continues from there. `watch` is called with the share that is done, from
    another thread.
    """
    rules = {str(rule): rule for rule in chain(EngineInvariant, *(each.invariants for each in surfaces))}
    file = WorkFile.temporary() if resume is None else WorkFile.open(resume)
    stopped = threading.Event()
    try:
        auditor = Auditor(store.incarnation, window, file, _units(surfaces, window), rules)

        def tell(step: str, share: float) -> None:
            if stopped.is_set():
                raise AuditStopped
            if watch is not None:
                watch(step, share)

        async def read() -> None:
            with contextlib.suppress(AuditStopped):
                await store.read(lambda tx: auditor.run(tx, tell))

        await to_the_end(read(), stopped.set)
    except BaseException:
        file.close()
        raise
    file.delete()
    return _report(auditor, window, surfaces)


def _report(auditor: Auditor, window: Window, surfaces: Sequence[SurfaceAudit]) -> VerifyReport:
    state, codes = auditor.state, [*Code, *(rule.code for each in surfaces for rule in each.invariants)]
    assert state.extent is not None
    assert state.numbering is not None
    order = {code: order_of for order_of, code in enumerate(dict.fromkeys(codes))}
    bounds, findings = state.extent.bounds, auditor.findings

    def order_of(finding: Finding) -> tuple[bool, int, str]:
        return finding.severity is not Severity.ERROR, order[finding.code], finding.job_id or ""

    return VerifyReport(
        at=state.read_at[-1],
        jobs=state.jobs,
        attempts=state.attempts,
        events=state.numbering.events,
        counts=state.counts,
        first_event=bounds.first_id,
        last_event=bounds.last_id,
        pruned=not bounds.whole and window.since is None,
        findings=tuple(sorted(findings.kept, key=order_of)),
        omitted=dict(findings.omitted),
        read_at=tuple(state.read_at),
        **window._asdict(),
        unchecked=_unchecked(window, surfaces),
    )


def _units(surfaces: Sequence[SurfaceAudit], window: Window) -> list[Unit]:
    """Return what is checked beside the history and the rows of jobs. A part of a database has less of it."""
    units = list[Unit]() if window.timed else [Unit("tallies", partial(table_audit.tallies, queue=window.queue))]
    units.append(Unit("logs", partial(table_audit.logs, window=window)))
    if window == WHOLE:
        units += [
            Unit("keys", table_audit.keys),
            Unit("orphans", table_audit.orphans),
            Unit("dispatches", table_audit.dispatches),
            Unit("index", table_audit.index),
        ]
    return [*units, *(Unit(f"surface {n}", _unit(each)) for n, each in enumerate(surfaces) if _includes(window, each))]


def _includes(window: Window, surface: SurfaceAudit) -> bool:
    return not window.timed and window.queue in (None, surface.queue)


def _unit(surface: SurfaceAudit) -> UnitRun:
    async def run(tx: Tx, extent: Extent, state: Checkpoint, findings: Findings) -> Mapping[str, int]:
        audited = await surface.run(tx, extent.bounds.now)
        findings.add(audited.findings)
        return audited.counts

    return run


_OF_ALL = (Code.BROKEN_DISPATCH,)
"""Codes that only an audit of a whole database can find."""


def _unchecked(window: Window, surfaces: Sequence[SurfaceAudit]) -> tuple[FindingCode, ...]:
    """Return the codes that an audit of this part cannot find."""
    if window == WHOLE:
        return ()
    left_out = [rule.code for each in surfaces if not _includes(window, each) for rule in each.invariants]
    return tuple(dict.fromkeys([*_OF_ALL, *([Code.TALLY_MISMATCH] if window.timed else []), *left_out]))


def render(report: VerifyReport, *, zone: tzinfo = UTC, most: int | None = 20) -> str:
    """Format the report: a verdict, then every finding with its rows, at most `most` of each code (None: all)."""
    lines = [_verdict(report, zone)]
    if report.unchecked:
        lines.append(f"not checked in a part: {', '.join(report.unchecked)}")
    if len(report.read_at) > 1:
        views = ", ".join(_instant(at, zone) for at in report.read_at)
        lines.append(f"resumed: what was compared before is as of its own view of the database ({views})")
    for code, group in groupby(report.findings, key=lambda finding: finding.code):
        findings = list(group)
        lines += [
            "",
            f"{findings[0].severity} {code} ({len(findings) + report.omitted.get(code, 0):,}): {code.meaning}",
        ]
        for finding in findings[:most]:
            lines.append(f"  {_subject(finding)}{finding.message}")
            lines += [f"    {_row(row, zone)}" for row in finding.rows]
        shown = len(findings) if most is None else min(most, len(findings))
        if more := len(findings) - shown + report.omitted.get(code, 0):
            lines.append(f"  … and {more:,} more")
    return "\n".join(lines)


def _verdict(report: VerifyReport, zone: tzinfo) -> str:
    seen = f"{report.jobs:,} jobs, {report.attempts:,} attempts, {report.events:,} events"
    seen += "".join(f", {number:,} {name.replace('_', ' ')}" for name, number in report.counts.items() if number)
    seen += _part(report, zone)
    if report.pruned:
        seen += f" (history before event {report.first_event or report.last_event + 1} was pruned)"
    counted = Counter(finding.severity for finding in report.findings)
    # A code has one severity; there is no omitted finding without others of its code.
    severities: dict[str, Severity] = {finding.code: finding.severity for finding in report.findings}
    for code, number in report.omitted.items():
        counted[severities[code]] += number
    found = ", ".join(f"{counted[each]:,} {each}{'s' * (counted[each] != 1)}" for each in Severity if counted[each])
    return f"{'sound' if report.sound else 'NOT SOUND'}: {found + ' in ' if found else ''}{seen}"


def _part(report: VerifyReport, zone: tzinfo) -> str:
    """Say which part of a database was audited, if it was not all of it."""
    part = "" if report.queue is None else f" of queue {report.queue!r}"
    part += "" if report.since is None else f" since {_instant(report.since, zone)}"
    return part + ("" if report.until is None else f" until {_instant(report.until, zone)}")


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
        return _instant(value, zone)
    return str(value)


def _instant(micros: int, zone: tzinfo) -> str:
    # Counted from the epoch as whole numbers: a float of seconds is off by a microsecond at times.
    instant = datetime.fromtimestamp(0, UTC) + timedelta(microseconds=micros)
    return instant.astimezone(zone).isoformat(timespec="microseconds")
