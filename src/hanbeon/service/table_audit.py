"""Parts of an audit that the database finds itself, over ranges of jobs: tallies, keys, orphans, logs, indexes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

import msgspec

from hanbeon.domain.audit.findings import EngineInvariant, Finding, Findings
from hanbeon.domain.statistics import all_states
from hanbeon.domain.tally import Stock
from hanbeon.service.auditor import Checkpoint
from hanbeon.store.operations import audit
from hanbeon.store.operations import tallies as tally_rows
from hanbeon.store.operations.audit import Extent, Window
from hanbeon.store.tx import Tx

Counts = Mapping[str, int]
_NONE: Counts = {}


async def tallies(tx: Tx, extent: Extent, state: Checkpoint, findings: Findings, queue: str | None) -> Counts:
    """Compare the tallies with a count of all jobs."""
    found: defaultdict[str, Stock] = defaultdict(Stock)
    for after, last in extent.ranges():
        for name, stock in (await tally_rows.recount(tx, after, last)).items():
            found[name].add(stock)
    stored = await tally_rows.stocks(tx)
    names = sorted(stored.keys() | found.keys()) if queue is None else [queue]
    for name in names:
        findings.add(_tally(name, stored.get(name, Stock()), found[name]))
    return _NONE


def _tally(queue: str, tally: Stock, count: Stock) -> Iterator[Finding]:
    rows = tuple(
        {"from": source, **msgspec.to_builtins(all_states(each)), "ran_us": each.ran}
        for source, each in (("tallies", tally), ("jobs", count))
    )
    if all_states(tally) != all_states(count):
        yield EngineInvariant.TALLY_OF_JOBS.broken("its tallies are not those of its jobs", queue=queue, rows=rows)
    elif tally.ran != count.ran:
        message = "the run time of its tallies is not that of its jobs"
        yield EngineInvariant.TALLY_OF_TIME.broken(message, queue=queue, rows=rows)


async def keys(tx: Tx, extent: Extent, state: Checkpoint, findings: Findings) -> Counts:
    """Read the keys that seem to be held twice again, from their jobs."""
    rules = {"unique_key": EngineInvariant.UNIQUE_KEY, "idempotency_key": EngineInvariant.IDEMPOTENCY_KEY}
    rows = await audit.keys(tx, state.doubled) if state.doubled else []
    for (kind, key), group in groupby(rows, key=lambda row: (row["kind"], row["key"])):
        found = tuple(group)
        if len(found) > 1:
            message = f"{kind} {key!r} is held by {len(found)} jobs"
            findings.add([rules[kind].broken(message, job_id=found[0]["job_id"], rows=found)])
    return _NONE


async def orphans(tx: Tx, extent: Extent, state: Checkpoint, findings: Findings) -> Counts:
    """Find rows of jobs that do not exist."""
    for after, last in extent.ranges():
        findings.add(_orphans(await audit.orphans(tx, after, last)))
    async for rows in audit.lost_ids(tx):
        findings.add(_orphans(sorted(rows, key=lambda row: row["job"])))
    return _NONE


def _orphans(rows: list[dict[str, Any]]) -> Iterator[Finding]:
    for seq, group in groupby(rows, key=lambda row: row["job"]):
        found = tuple(group)
        what = f"{len(found)} rows of its id, attempts, dependencies, logs and traces are left"
        yield EngineInvariant.NO_ORPHAN.broken(f"job #{seq} is gone, but {what}", rows=found)


async def logs(tx: Tx, extent: Extent, state: Checkpoint, findings: Findings, window: Window) -> Counts:
    """Find lines of logs that no attempt can have written."""
    queues = await audit.queues(tx) if window.queue is not None else {}
    number = queues[window.queue].id if window.queue is not None else 0
    for after, last in extent.ranges():
        findings.add(_broken_logs(await audit.broken_logs(tx, after, last, number)))
    return _NONE


def _broken_logs(rows: list[dict[str, Any]]) -> Iterator[Finding]:
    for (job_id, claimed), group in groupby(rows, key=lambda row: (row["job_id"], bool(row["claimed"]))):
        found = tuple(group)
        if claimed:
            message = f"{len(found)} rows of its log repeat lines, or have none"
            yield EngineInvariant.LOG_LINES_GROW.broken(message, job_id=job_id, rows=found)
        else:
            message = f"{len(found)} rows of its log belong to no attempt of it"
            yield EngineInvariant.LOG_OF_ATTEMPT.broken(message, job_id=job_id, rows=found)


async def dispatches(tx: Tx, extent: Extent, state: Checkpoint, findings: Findings) -> Counts:
    """Compare the requests of stream tasks with the attempts that they are for."""
    for after, last in extent.ranges():
        findings.add(_broken_dispatch(row) for row in await audit.broken_dispatches(tx, after, last))
    return _NONE


def _broken_dispatch(row: dict[str, Any]) -> Finding:
    what = f"the request of attempt {row['fence']} to its stream workers"
    if row["kind"] == "missing":
        message = f"{what} is gone, though the attempt is running"
        return EngineInvariant.REQUEST_KEPT.broken(message, job_id=row["job_id"], rows=(row,))
    return EngineInvariant.REQUEST_CLOSED.broken(f"{what} outlives it", job_id=row["job_id"], rows=(row,))


async def index(tx: Tx, extent: Extent, state: Checkpoint, findings: Findings) -> Counts:
    """Find entries of event indexes that lead to no batch with events of their queue."""
    async for rows in audit.misleading(tx):
        message = "an entry of its index names no folded batch with its events"
        findings.add(EngineInvariant.INDEX_LEADS.broken(message, queue=row["queue"], rows=(row,)) for row in rows)
    return _NONE
