"""Logs of attempts: written with their fences, read page by page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hanbeon.domain.job import is_id
from hanbeon.domain.log import LogChunk, LogPage, LogPosition, read_page
from hanbeon.domain.log_buffer import LogOffer
from hanbeon.errors import JobNotFound
from hanbeon.store.operations.lease import Lease
from hanbeon.store.operations.queries import jobs_by_id
from hanbeon.store.tx import Tx, to_json

_BYTES_A_STATEMENT = 1_048_576
_CHUNKS_A_PAGE = 16
_LAST_ATTEMPT = 2**63 - 1


class LogWrite(NamedTuple):
    lease: Lease
    offer: LogOffer


async def write_logs(tx: Tx, writes: Sequence[LogWrite]) -> set[Lease]:
    """Write the output of attempts; return the leases that are still held. Output under other leases is rejected.

    The jobs stay locked until the commit, so that none can end, be claimed again or be pruned concurrently.
    """
    held = await tx.fetch("lock_running", to_json(sorted({write.lease.seq for write in writes})))
    live = {(row["seq"], row["fence"]): row["instance"] for row in held}
    kept = [write for write in writes if _is_live(write.lease, live)]
    for lease, offer in kept:
        if offer.gone is not None:
            await tx.fetch("cut_log", lease.seq, lease.fence, *offer.gone)
    for rows in _in_statements(kept):
        await tx.fetch("write_log", to_json(rows))
    return {write.lease for write in kept}


def _is_live(lease: Lease, live: Mapping[tuple[int, int], int]) -> bool:
    holder = live.get((lease.seq, lease.fence))
    return holder is not None and lease.instance in (None, holder)


def _in_statements(writes: Sequence[LogWrite]) -> Iterator[list[dict[str, Any]]]:
    rows: list[dict[str, Any]] = []
    size = 0
    for lease, offer in writes:
        for chunk in offer.chunks:
            rows.append({"job": lease.seq, "attempt": lease.fence, **chunk._asdict()})
            size += len(chunk.body)
            if size >= _BYTES_A_STATEMENT:
                yield rows
                rows, size = [], 0
    if rows:
        yield rows


async def read_log(tx: Tx, job_id: str, attempt: int | None, position: LogPosition, limit: int) -> LogPage:
    """Return up to `limit` lines of a job's log after a position, of one attempt or of all in order."""
    if attempt is not None and position.attempt != attempt:
        position = LogPosition(attempt)
    last = _LAST_ATTEMPT if attempt is None else attempt
    values = (job_id, position.attempt, last, position.line, _CHUNKS_A_PAGE + 1)
    rows = await tx.fetch("log_after", *values) if is_id(job_id) else []
    chunks = [LogChunk(row["attempt"], row["first_line"], row["lines"], row["body"]) for row in rows[:_CHUNKS_A_PAGE]]
    entries, position, more = read_page(chunks, position, limit)
    if not entries and not await jobs_by_id(tx, [job_id]):
        raise JobNotFound(job_id)
    return LogPage(entries=tuple(entries), after=str(position), more=more or len(rows) > _CHUNKS_A_PAGE)
