"""The steps of an audit: history, rows, their comparison, limits, and what single statements find, in bounded memory.

Events and jobs are read once each, and written to a work file as records, apart by the ends of the jobs' ids. So each
part of it has all events and the row of some jobs, few enough to be compared in memory.
"""

from __future__ import annotations

import heapq
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import groupby
from struct import Struct
from time import monotonic
from typing import Any, NamedTuple

import msgspec

from hanbeon.domain.audit.case import Case, JobRecord, audit_case, audit_missing, compare, pack_job, unpack_jobs
from hanbeon.domain.audit.findings import EngineInvariant, Finding, Findings, Invariant, Severity
from hanbeon.domain.audit.history import Bounds, History, Numbering
from hanbeon.domain.audit.moves import MOVE, Replay, Trace, id_text
from hanbeon.domain.audit.sweep import (
    INTERVAL_SIZE,
    STILL_RUNNING,
    Interval,
    SlotChange,
    Timeline,
    pack_interval,
    sweep,
    unpack_interval,
)
from hanbeon.errors import InvalidInput, NotFound
from hanbeon.quotation import quoted
from hanbeon.rule import Rule
from hanbeon.service.work_file import WorkFile
from hanbeon.store.operations import audit
from hanbeon.store.operations.audit import Extent, QueueRow, Window
from hanbeon.store.tx import Tx

Watch = Callable[[str, float], None]
"""Called with the step of an audit and the share of the whole that is done, from 0 to 1."""
_MOVES, _JOBS, _KEYS, _INTERVALS = range(4)
_KEY = Struct("<16sq")
_ROWS_A_PART = 150_000
_PARTS_AT_MOST = 256
_INTERVALS_A_RUN = 100_000
_READ_AT_ONCE = 1_000 * INTERVAL_SIZE
_SAVE_SECONDS = 5.0
_SHARES = {"events": 0.35, "jobs": 0.4, "comparison": 0.2, "tables": 0.05}
_DOUBLED_AT_MOST = 10_000
_FORMAT = 1


class AuditStopped(Exception):
    """The audit was cancelled; it ends at the next page."""


UnitRun = Callable[[Tx, Extent, "Checkpoint", Findings], Awaitable[Mapping[str, int]]]


class Unit(NamedTuple):
    """A part of an audit by single statements or by a surface: it adds findings and returns counts of rows."""

    name: str
    run: UnitRun


class Checkpoint(msgspec.Struct):
    """All that the rest of an audit needs of what was done, beside the records of the work file."""

    incarnation: str
    window: Window
    parts: int
    format: int = _FORMAT
    numbering: Numbering | None = None
    place: tuple[int, int] = (0, 0)
    """The number and the place of the last batch of events that was followed."""
    extent: Extent | None = None
    """Set once all events and rows were read, as of one instant."""
    jobs: int = 0
    attempts: int = 0
    queues: list[str] = msgspec.field(default_factory=list)
    """The names of the queues, which records refer to by their place from 1 on."""
    current: dict[str, SlotChange] = msgspec.field(default_factory=dict)
    lanes: set[int] = msgspec.field(default_factory=set)
    doubled: list[int] = msgspec.field(default_factory=list)
    """Jobs that seem to share a key with another."""
    compared: int = 0
    """How many parts of the work file were compared."""
    done: list[str] = msgspec.field(default_factory=list)
    """The units that have been run."""
    counts: dict[str, int] = msgspec.field(default_factory=dict)
    read_at: list[int] = msgspec.field(default_factory=list)
    """The instants of the views of the database that count."""
    omitted: dict[str, int] = msgspec.field(default_factory=dict)
    findings: list[dict[str, Any]] = msgspec.field(default_factory=list)


class Auditor:
    """Runs an audit, or the rest of one. Every comparison is between rows of one view of the database."""

    def __init__(
        self, incarnation: str, window: Window, file: WorkFile, units: Sequence[Unit], rules: Mapping[str, Invariant]
    ) -> None:
        self._file, self._units, self._window = file, units, window
        self.state = Checkpoint(incarnation, window, 0)
        self.findings = Findings()
        if file.checkpoint is not None:
            self._restore(file.checkpoint, rules)
        self._parts = self.state.parts
        self._watch: Watch = lambda step, share: None
        self._saved_at = monotonic()
        self._run: list[bytes] = []

    def _restore(self, checkpoint: bytes, rules: Mapping[str, Invariant]) -> None:
        found = msgspec.json.decode(checkpoint, type=Checkpoint)
        if found.incarnation != self.state.incarnation:
            raise InvalidInput(Rule("work_of_other_database"), field="resume")
        if found.window != self._window:
            raise InvalidInput(Rule("work_of_other_window"), field="resume")
        self.state = found
        self.findings = Findings((_finding(row, rules) for row in found.findings), found.omitted)

    async def run(self, tx: Tx, watch: Watch) -> None:
        """Do what is left, in one view of the database."""
        self._watch, state = watch, self.state
        extent = await audit.extent(tx, self._window)
        queues = await audit.queues(tx)
        number = self._number(queues)
        state.read_at.append(extent.bounds.now)
        if state.extent is None:
            # Rows of an earlier view say nothing about this one; events are the same in both.
            state.read_at = [extent.bounds.now]
            self._choose_parts(extent)
            await self._read_history(tx, extent)
            await self._read_jobs(tx, extent, number)
            self._check_queues(queues)
            state.current = {name: row.change for name, row in queues.items()}
            state.extent = extent
            self._save()
        bounds = state.extent.bounds
        timelines = self._timelines(bounds)
        for part in range(state.compared, self._parts):
            self._compare(part, bounds, timelines)
            self._tell("comparison", part + 1, self._parts)
            state.compared = part + 1
            self._save_now_and_then(self._end_run)
        self._end_run()
        lanes = await audit.lanes(tx, state.lanes) if state.lanes else {}
        for queue, intervals in groupby(self._intervals(), key=lambda pair: pair[0]):
            name = state.queues[queue - 1]
            self.findings.add(sweep(name, timelines[name], (each for _, each in intervals), lanes))
        await self._run_units(tx, extent)

    def _number(self, queues: Mapping[str, QueueRow]) -> int:
        if self._window.queue is None:
            return 0
        if self._window.queue not in queues:
            raise NotFound(Rule("queue_not_found", queue=quoted(self._window.queue)))
        return queues[self._window.queue].id

    def _choose_parts(self, extent: Extent) -> None:
        if not self._parts:
            bounds = extent.bounds
            rows = bounds.last_id - (bounds.first_id or 1) + extent.last_job - extent.first_job + 2
            self._parts = self.state.parts = min(_PARTS_AT_MOST, 1 << max(0, (rows // _ROWS_A_PART).bit_length()))

    async def _read_history(self, tx: Tx, extent: Extent) -> None:
        state, bounds, mask, add = self.state, extent.bounds, self._parts - 1, self._file.add
        numbering = state.numbering
        if numbering is not None and numbering.next_id is not None:
            if numbering.next_id > bounds.last_id + 1:
                raise InvalidInput(Rule("work_of_later_database"), field="resume")
            # What was pruned since is known already.
            numbering.next_id = max(numbering.next_id, bounds.first_id or 0)
        history = History(
            bounds,
            lambda record: add(_MOVES, record[15] & mask, record),
            queue=self._window.queue,
            numbering=numbering,
        )
        state.numbering = history.numbering
        first, total = bounds.first_id or 1, bounds.last_id - (bounds.first_id or 1) + 1
        start = state.place if state.place != (0, 0) else (first, -1)
        async for batches in audit.batches(tx, start, bounds.last_id, self._window):
            for batch in batches:
                history.follow(batch)
            self.findings.add(history.findings)
            history.findings.clear()
            if not batches:
                continue
            missed = await audit.unindexed(tx, batches)
            self.findings.add(_missed(row) for row in missed if self._window.queue in (None, row["queue"]))
            last = batches[-1]
            if last.first_id is not None:
                state.place = last.first_id, last.seq
                self._tell("events", last.first_id - first, total)
                self._save_now_and_then()
        history.finish()
        self.findings.add(history.findings)

    async def _read_jobs(self, tx: Tx, extent: Extent, queue: int) -> None:
        state, after, mask, add = self.state, extent.first_job - 1, self._parts - 1, self._file.add
        total, now = extent.last_job - extent.first_job + 1, extent.bounds.now
        numbers: dict[str, int] = {}
        while (page := await audit.cases(tx, after, self._window, queue)) is not None:
            after, cases = page
            for case in cases:
                job = case.job
                self.findings.add(audit_case(case, now))
                state.attempts += len(case.attempts) + (case.held is not None)
                number = 0 if job.queue is None else numbers.setdefault(job.queue, len(numbers) + 1)
                record = pack_job(case, number)
                add(_JOBS, record[15] & mask, record)
                if job.unique_key is not None or job.idempotency_key is not None:
                    self._add_keys(case)
            state.jobs += len(cases)
            self._tell("jobs", after - extent.first_job + 1, total)
        state.queues = list(numbers)

    def _add_keys(self, case: Case) -> None:
        for kind, key in ((b"u", case.job.unique_key), (b"i", case.job.idempotency_key)):
            if key is not None:
                digest = blake2b(key.encode(), digest_size=16, key=kind).digest()
                self._file.add(_KEYS, digest[15] & (self._parts - 1), _KEY.pack(digest, case.job.seq))

    def _check_queues(self, queues: Mapping[str, QueueRow]) -> None:
        for name, row in queues.items():
            limits = row.change.limits
            has_some = bool(limits.max_concurrent or limits.max_per_key or limits.roles or limits.keys)
            if row.limited != has_some and self._window.queue in (None, name):
                what = "has limits, but claims do" if has_some else "has no limits, but claims"
                shown = {"queue": name, "limited": row.limited, "limits": msgspec.to_builtins(limits)}
                message = f"it {what} {'not ' if has_some else ''}mind them"
                self.findings.add([EngineInvariant.LIMITS_IN_FORCE.broken(message, queue=name, rows=(shown,))])

    def _timelines(self, bounds: Bounds) -> dict[str, Timeline]:
        """Return the limits over time of each queue that ever had any. Its row tells of changes that were pruned."""
        assert self.state.numbering is not None
        found = self.state.numbering.changes
        changes = found if bounds.whole else {name: [change] for name, change in self.state.current.items()} | found
        timelines = {name: Timeline(each, whole=bounds.whole) for name, each in changes.items()}
        return {name: timeline for name, timeline in timelines.items() if timeline.matters}

    def _compare(self, part: int, bounds: Bounds, timelines: Mapping[str, Timeline]) -> None:
        replay, broken = Replay(whole=bounds.whole), Findings()
        for records in self._file.read(_MOVES, part):
            broken.add(replay.follow(MOVE.iter_unpack(records)))
        names: dict[str, str | None] = {}
        wanted = {finding.job_id for finding in broken.kept}
        traces = replay.traces
        for records in self._file.read(_JOBS, part):
            for job in unpack_jobs(records):
                queue = self.state.queues[job.queue - 1] if job.queue else None
                trace = traces.pop(job.id, None)
                self.findings.add(compare(job, queue, trace, bounds))
                if queue is not None and queue in timelines:
                    self._add_intervals(job, trace)
                if wanted and (job_id := id_text(job.id)) in wanted:
                    names[job_id] = queue
        self.findings.add(msgspec.structs.replace(each, queue=names.get(each.job_id or "")) for each in broken.kept)
        self.findings.omitted.update(broken.omitted)
        if self._window.until is None:
            for raw, trace in traces.items():
                self.findings.add(audit_missing(raw, trace))
        self._compare_keys(part)

    def _compare_keys(self, part: int) -> None:
        holders: dict[bytes, int] = {}
        doubled: set[int] = set()
        for records in self._file.read(_KEYS, part):
            for digest, seq in _KEY.iter_unpack(records):
                if (other := holders.setdefault(digest, seq)) != seq:
                    doubled |= {other, seq}
        self.state.doubled += sorted(doubled)[: _DOUBLED_AT_MOST - len(self.state.doubled)]

    def _add_intervals(self, job: JobRecord, trace: Trace | None) -> None:
        dispatches = {} if trace is None or trace.dispatches is None else trace.dispatches
        self.state.lanes.add(job.lane)
        for each in job.attempts:
            start = dispatches.get(each.attempt, each.started_at)
            self._add_interval(job, Interval(start, each.ended_at, job.id, each.attempt, job.lane))
        if (job.held or job.waits) and job.started_at is not None:
            start = dispatches.get(job.fence, job.started_at) if job.held else job.started_at
            self._add_interval(job, Interval(start, STILL_RUNNING, job.id, job.fence, job.lane))

    def _add_interval(self, job: JobRecord, interval: Interval) -> None:
        self._run.append(pack_interval(job.queue, interval))
        if len(self._run) >= _INTERVALS_A_RUN:
            self._end_run()

    def _end_run(self) -> None:
        if self._run:
            self._run.sort()
            self._file.add_chunk(_INTERVALS, 0, b"".join(self._run))
            self._run.clear()

    def _intervals(self) -> Iterator[tuple[int, Interval]]:
        """Yield all intervals by queue and start: the runs are sorted, and are merged."""
        runs = [self._records(place, length) for place, length in self._file.chunks(_INTERVALS, 0)]
        return map(unpack_interval, heapq.merge(*runs))

    def _records(self, place: int, length: int) -> Iterator[bytes]:
        for start in range(place, place + length, _READ_AT_ONCE):
            read = self._file.read_at(start, min(_READ_AT_ONCE, place + length - start))
            for at in range(0, len(read), INTERVAL_SIZE):
                yield read[at : at + INTERVAL_SIZE]

    async def _run_units(self, tx: Tx, extent: Extent) -> None:
        state = self.state
        for done, unit in enumerate(self._units):
            if unit.name not in state.done:
                state.counts |= await unit.run(tx, extent, state, self.findings)
                state.done.append(unit.name)
                self._save_now_and_then()
            self._tell("tables", done + 1, len(self._units))

    def _tell(self, step: str, done: int, total: int) -> None:
        before = 0.0
        for name, share in _SHARES.items():
            if name == step:
                self._watch(step, before + share * min(1.0, done / max(1, total)))
                return
            before += share

    def _save_now_and_then(self, first: Callable[[], None] | None = None) -> None:
        if self._file.keeps and monotonic() - self._saved_at > _SAVE_SECONDS:
            if first is not None:
                first()
            self._save()

    def _save(self) -> None:
        if self._file.keeps:
            self.state.findings = [msgspec.to_builtins(finding) for finding in self.findings.kept]
            self.state.omitted = dict(self.findings.omitted)
            self._file.save(msgspec.json.encode(self.state))
            self.state.findings = []
            self._saved_at = monotonic()


def _finding(row: dict[str, Any], rules: Mapping[str, Invariant]) -> Finding:
    rule = rules[row["invariant"]]
    fields = {name: row[name] for name in ("job_id", "queue", "schedule_id")}
    return rule.broken(row["message"], severity=Severity(row["severity"]), rows=tuple(row["rows"]), **fields)


def _missed(row: dict[str, Any]) -> Finding:
    message = "a batch of its events is not in its index: readers of the queue miss it"
    return EngineInvariant.INDEXED.broken(message, queue=row["queue"], rows=(row,))
